"""Simulators in the guest: independent lanes, their state and random numbers, and refusals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from promptpo_sandbox import Sandbox, SimulatorFailedError
from promptpo_sandbox.simulators import LanePlay, Simulated, SimulatorGuest, why_unsupported
from tests.promptpo.simulator.sources import GRID, PENDULUM, QUEUE, SWING_UP
from tests.sandbox.pendulum import CANDIDATES, VALUES, pendulum, variant


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    """A sandbox for the module."""
    with Sandbox() as sandbox:
        yield sandbox


def examine(box: Sandbox, source: str) -> dict[str, Any]:
    """Return facts about a variant of the pendulum."""
    rng = np.random.default_rng(0)
    starts = rng.uniform(-1, 1, (64, 3)).astype(np.float32)
    actions = rng.uniform(-2, 2, (12, 64, 1)).astype(np.float32)
    with SimulatorGuest(box, pendulum(source)) as guest:
        return examine_with(guest, starts, actions)


def examine_with(guest: SimulatorGuest, starts: Any, actions: Any) -> dict[str, Any]:
    """Return facts from 64 initial states, each in four lanes."""
    return guest.examine(np.concatenate([starts] * 4), np.concatenate([actions] * 4, axis=1))


def test_correct_simulator_passes(box: Sandbox) -> None:
    """Its lanes can be permuted, dropped and restarted, and one alone moves as among 256."""
    facts = examine(box, PENDULUM)
    assert not any(
        facts[name] for name in ("random", "mixed", "alone", "dropped", "restarted", "shared", "broken")
    )


@pytest.mark.parametrize(
    ("old", "new", "fact"),
    [
        ("np.clip(self.w + 0.05 * push, -8, 8)", "self.w + 0.05 * push + 0.1 * np.roll(self.w, 1)", "mixed"),
        ("np.clip(self.w + 0.05 * push, -8, 8)", "self.w + 0.05 * push - self.w.mean()", "alone"),
        ("u = actions[:, 0].astype(float)", "u = actions[:, 0].astype(float); self.t = getattr(self, 't', 0) + 1", "shared"),
        ("self.th = self.th + 0.05 * self.w", "self.th = self.th + self.rng.normal(0, 1, len(u))", "random"),
    ],
)  # fmt: skip
def test_faults_of_lanes_are_detected(box: Sandbox, old: str, new: str, fact: str) -> None:
    """Lanes that influence each other, shared numbers, and random steps."""
    if "getattr" in new:
        old, new = "self.th, self.w = np.arctan2", "self.t = 0\n        self.th, self.w = np.arctan2"
        source = variant(old, new).replace("        angle =", "        self.t = self.t + 1\n        angle =")
        source = source.replace("def reset(self, n):", "def reset(self, n):\n        self.t = 0")
    else:
        source = variant(old, new)
    assert examine(box, source)[fact]


PLACES = {
    "in a list": ("[[{0}]]", "self.held[0][0]"),
    "in a tuple": ("({0}, 1)", "self.held[0]"),
    "in a dict of dicts": ("{{'a': {{2: {0}}}}}", "self.held['a'][2]"),
    "in an object": ("Held({0})", "self.held.it"),
    "in objects in lists": ("[Held([{0}])]", "self.held[0].it[0]"),
    "as one number at first": ("{0} if self.begun else 0.0", "self.held"),
}


@pytest.mark.parametrize("place", PLACES)
def test_state_follows_its_lanes_wherever_it_is_kept(box: Sandbox, place: str) -> None:
    """Each lane continues alone when others are dropped or restarted; a table with one row per initial lane stays whole."""
    kept, read = PLACES[place]
    head = "class Held:\n    def __init__(self, it):\n        self.it = it\n\n\nTABLE = np.arange(256.0)\n\n\nclass Simulator"
    source = PENDULUM.replace("class Simulator", head).replace("self.p, self.rng = params, rng", (
        "self.p, self.rng, self.table = params, rng, TABLE.copy()"
    ))  # fmt: skip
    for method, begun in (("def reset(self, n):", False), ("def set(self, obs):", False)):
        source = source.replace(
            method,
            f"{method}\n        self.begun = {begun}\n        size = {'n' if 'n)' in method else 'len(obs)'}\n        self.held = {kept.format('np.zeros(size)')}",
        )
    source = source.replace(
        "u = actions[:, 0].astype(float)",
        f"u = actions[:, 0].astype(float)\n        self.begun = True\n        tally = {read} + u\n"
        f"        self.held = {kept.format('tally')}\n        u = u + 0.01 * tally + 1e-6 * self.table[255]",
    )
    facts = examine(box, source)
    assert not any(facts[name] for name in ("random", "mixed", "alone", "dropped", "restarted", "broken"))
    with SimulatorGuest(box, pendulum(source)) as guest:
        both, lone = (
            guest.play(LanePlay(SWING_UP, CANDIDATES[:n], 5, 40, together=True)).returns for n in (2, 1)
        )
    assert np.allclose(both[0], lone[0])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("class Simulator", "class Simulation", "defines no class Simulator"),
        ("def set(self", "def put(self", "no method set"),
        ("return self.obs(), -cost, np.zeros(len(u), bool)", "return self.obs(), -cost", "return (obs, reward, terminated)"),
        ("return self.obs(), -cost, np.zeros(len(u), bool)", "return self.obs()[:, :2], -cost, False", "shape (4, 3)"),
        ("return self.obs(), -cost, np.zeros(len(u), bool)", "return self.obs(), 'much', False", "as the reward"),
        ("u = actions[:, 0].astype(float)", "u = actions[:, 7].astype(float)", "IndexError"),
        ("import numpy as np", "import numpy as np\nimport os", "os"),
    ],
)  # fmt: skip
def test_broken_contract_gets_one_sentence(box: Sandbox, old: str, new: str, message: str) -> None:
    """The sentence is for the author of the simulator."""
    with (
        pytest.raises(SimulatorFailedError) as failed,
        SimulatorGuest(box, pendulum(variant(old, new))) as guest,
    ):
        guest.predict([VALUES], np.zeros((4, 3), np.float32), np.zeros((1, 4, 1), np.float32), [1])
    assert message in str(failed.value)


def test_predictions_cover_every_window_and_vector(box: Sandbox) -> None:
    """As a plain loop would give them."""
    starts = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, -1.0]], np.float32)
    actions = np.ones((3, 2, 1), np.float32)
    with SimulatorGuest(box, pendulum()) as guest:
        obs, rewards, ended = guest.predict([VALUES, VALUES | {"g": 0.0}], starts, actions, [1, 3])
    assert obs.shape == (2, 2, 2, 3)
    assert rewards.shape == ended.shape == (2, 2, 2)
    assert obs[0, 0, 1, 2] == pytest.approx(-1.0 + 0.05 * (15.0 + 3.0), abs=1e-5)
    assert obs[1, 1, 0, 2] == pytest.approx(0.5 + 3 * 0.05 * 3.0, abs=1e-5)


def test_lane_with_nan_ends_alone(box: Sandbox) -> None:
    source = variant("return self.obs(), -cost", "return self.obs(), np.where(self.w > 1, np.nan, -cost)")
    with SimulatorGuest(box, pendulum(source)) as guest:
        played = guest.play(LanePlay(SWING_UP, CANDIDATES[:1], 32, 60, together=True))
    assert 0 < played.terminated.sum() <= 32
    assert np.isfinite(played.returns).all()


def test_every_candidate_meets_every_vector_of_an_ensemble(box: Sandbox) -> None:
    light, heavy = VALUES | {"m": 0.5}, VALUES | {"m": 2.0}
    with SimulatorGuest(box, pendulum(vectors=(light, heavy))) as guest:
        both = guest.play(LanePlay(SWING_UP, CANDIDATES[:1] * 2, 4, 50, together=True))
    assert np.allclose(both.returns[0], both.returns[1])
    assert len(np.unique(both.returns[0].round(6))) == 4


def test_finished_lanes_restart_automatically(box: Sandbox) -> None:
    """RL algorithms require this; the other lanes continue."""
    with SimulatorGuest(box, Simulated(GRID, (), spaces.Discrete(8), spaces.Discrete(2))) as guest:
        obs = guest.start(16, 5, seed=1)
        assert set(obs.tolist()) <= {0, 1, 2, 3}
        ages = np.zeros(16, int)
        for _ in range(12):
            before, after, reward, terminated, truncated = guest.advance(np.ones(16, int))
            ages += 1
            over = terminated | truncated
            assert (truncated == (~terminated & (ages == 5))).all()
            assert (reward[terminated] == 10.0).all()
            assert (before[terminated] == 7).all()
            assert (after[~over] == before[~over]).all()
            assert (after[over] < 4).all()
            ages[over] = 0


def test_seed_determines_a_random_simulator(box: Sandbox) -> None:
    queue = Simulated(QUEUE, ({"rate": 2.0},), spaces.Box(0, np.inf, (1,)), spaces.Discrete(5))
    source = "class Policy:\n    def act(self, obs):\n        return 2 + 0 * obs[0].astype(int)\n"
    with SimulatorGuest(box, queue) as guest:
        first, second, other = (
            guest.play(LanePlay(source, [None], 8, 30, together=True, seed=seed)).returns
            for seed in (1, 1, 2)
        )
    assert (first == second).all()
    assert (first != other).any()


def test_unsupported_spaces_are_refused() -> None:
    assert why_unsupported(spaces.Dict(a=spaces.Discrete(2)))
    assert not why_unsupported(spaces.MultiBinary(3))
