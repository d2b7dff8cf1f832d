"""Policies that act in a simulator: in lanes or as copies, failing, slow, or with actions of other types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from promptpo_sandbox import Limits, Sandbox, SimulatorFailedError, simulators
from promptpo_sandbox.simulators import LanePlay, Simulated, SimulatorGuest
from tests.promptpo.simulator.sources import SWING_UP
from tests.sandbox.pendulum import CANDIDATES, pendulum, variant


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    """A sandbox for the module."""
    with Sandbox() as sandbox:
        yield sandbox


def test_policy_in_lanes_returns_the_same_as_separate_copies(box: Sandbox) -> None:
    """Parameters differ by lane, and all candidates start from the same states."""
    with SimulatorGuest(box, pendulum()) as guest:
        assert guest.why_alone(SWING_UP, CANDIDATES * 3) == ""
        together, alone = (
            guest.play(LanePlay(SWING_UP, CANDIDATES, 5, 80, together=way, record=2)) for way in (True, False)
        )
        again = guest.play(LanePlay(SWING_UP, CANDIDATES[:1] * 3, 5, 80, together=True))
    assert together.returns.shape == (3, 5)
    assert np.allclose(together.returns, alone.returns)
    assert np.allclose(again.returns[0], again.returns[2])
    assert np.allclose(again.returns[0], together.returns[0])
    assert together.episodes[0].observations.shape == (81, 3)
    assert together.episodes[0].rewards.sum() == pytest.approx(together.returns[0, 0])


def test_lanes_and_copies_get_observations_in_double_precision(box: Sandbox) -> None:
    """A policy that amplifies the last digit would otherwise act differently."""
    source = (
        "import numpy as np\n\nPARAMS = {'k': (0.3, 0.0, 1.0)}\n\n\nclass Policy:\n    def __init__(self, params):\n"
        "        self.k = params['k']\n\n    def act(self, obs):\n        return [np.sin(1e4 * self.k * obs[0])]\n"
    )
    with SimulatorGuest(box, pendulum()) as guest:
        assert guest.why_alone(source, [{"k": k} for k in (0.1, 0.3, 0.7)]) == ""


@pytest.mark.parametrize(
    "body",
    [
        "if obs[0] > 0:\n            return [1.0]\n        return [-1.0]",
        "return [float(obs[0])]",
        "self.n = getattr(self, 'n', 0)\n        return [obs[0] * 0 + np.random.default_rng(1).normal()]",
        "return [obs[0] - obs[0].mean()]",
    ],
)
def test_policy_that_cannot_act_in_lanes_is_detected(box: Sandbox, body: str) -> None:
    """It branches, converts, draws or mixes, and then runs copy by copy."""
    source = f"import numpy as np\n\n\nclass Policy:\n    def act(self, obs):\n        {body}\n"
    if "getattr" in body:
        source = source.replace("self.n = getattr(self, 'n', 0)\n        ", "").replace(
            "default_rng(1)", "default_rng()"
        )
    with SimulatorGuest(box, pendulum()) as guest:
        why = guest.why_alone(source, [None] * 4)
        assert why
        if "mean" in body:  # a single lane equals its own mean
            assert "and [0.]" in why
        played = guest.play(LanePlay(source, [None], 4, 10, together=False))
    assert np.isfinite(played.returns).all() or played.failure is not None


def test_failing_policy_is_no_failure_of_the_simulator(box: Sandbox) -> None:
    """Its lanes end there, and the failure shows the policy's lines only."""
    source = "class Policy:\n    def act(self, obs):\n        return [1.0 / (obs[2] * 0)]\n"
    wrong = "class Policy:\n    def act(self, obs):\n        return [{}['no such name'] + obs[0]]\n"
    with SimulatorGuest(box, pendulum()) as guest:
        for together in (True, False):
            played = guest.play(LanePlay(source, [None], 4, 10, together=together))
            assert not np.isfinite(played.returns).any()
            assert played.failure is not None
        missing = guest.play(LanePlay(wrong, [None], 4, 10, together=True)).failure
        rejected = guest.play(LanePlay("import os", [None], 4, 10, together=True))
    assert missing is not None
    assert "in act: return [{}['no such name']" in missing.detail
    assert rejected.failure is not None
    assert rejected.failure.kind == "rejected"


HANGS = "class Policy:\n    def act(self, obs):\n        while True:\n            pass\n"


STUCK = "while True:\n            pass\n        u = actions[:, 0]"


@pytest.mark.parametrize(
    ("stuck", "ask"),
    [
        (False, lambda guest: guest.play(LanePlay(HANGS, [None], 4, 10, together=True))),
        (False, lambda guest: guest.why_alone(HANGS, [None] * 4)),
        (True, lambda guest: guest.examine(np.zeros((4, 3)), np.zeros((4, 4, 1)))),
    ],
)
def test_hanging_policy_is_not_reported_as_the_simulator(
    stuck: bool, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both share a process, so the host cannot tell which hangs; without a policy, it can."""
    monkeypatch.setattr(simulators, "CALL_SECONDS", 0.5)
    simulated = pendulum(variant("u = actions[:, 0]", STUCK)) if stuck else pendulum()
    with (
        Sandbox(Limits(call_seconds=0.5)) as box,
        SimulatorGuest(box, simulated) as guest,
        pytest.raises(SimulatorFailedError) as failed,
    ):
        ask(guest)
    assert failed.value.failure.kind == "timeout"
    assert ("policy" in str(failed.value)) == (not stuck)


SLOW = """PARAMS = {{"work": (0.0, 0.0, 3000.0)}}


class Policy:
    def __init__(self, params):
        self.work = params["work"]
        self.t = 0

    def act(self, obs):
        self.t += 1
        n = {work}
        total = 0.0
        for i in range(n):
            total += i
        return [0.5 + 0.0 * obs[0] + 0.0 * self.work]
"""
"""Two slow programs: one works as long as a parameter says, copy by copy, the other always, in lanes."""


@pytest.mark.parametrize(("work", "together"), [("int(self.work)", False), ("3000", True)])
@settings(max_examples=4, deadline=None)
@given(effort=st.lists(st.sampled_from([0, 300, 3000]), min_size=1, max_size=3), horizon=st.integers(5, 40))
def test_slow_episodes_are_resumed_or_fail(
    box: Sandbox, work: str, together: bool, effort: list[int], horizon: int
) -> None:
    """Interrupted episodes return the same when resumed, and fail if their time runs out."""
    source, vectors = SLOW.format(work=work), [{"work": float(each)} for each in effort]
    play = LanePlay(source, vectors, 3, horizon, together)
    with SimulatorGuest(box, pendulum()) as guest:
        whole = guest.play(play)
        assert (whole.lengths == horizon).all()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(simulators, "MAX_PLAY_SECONDS", 50.0)
            patch.setattr(simulators, "PLAY_SECONDS", 1.0)
            assert (guest.play(play).returns == whole.returns).all()
            patch.setattr(simulators, "MAX_PLAY_SECONDS", 2e-3)
            patch.setattr(simulators, "PLAY_SECONDS", 1e-3)
            cut = guest.play(play)
    finished = np.isfinite(cut.returns)
    assert (cut.returns[finished] == whole.returns[finished]).all()
    assert (cut.lengths[~finished] < horizon).all()
    assert finished.all() or (cut.failure is not None and cut.failure.kind == "timeout")


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("slow", ["__init__", "act"])
def test_policy_time_excludes_the_simulator(box: Sandbox, together: bool, slow: str) -> None:
    """It includes constructors and steps, each of which takes longer than the simulator."""
    idle, busy = "None", f"sum(range({3_000_000 if slow == '__init__' else 600_000}))"
    policy = "class Policy:\n    def __init__(self):\n        {}\n\n    def act(self, obs):\n        {}\n        return [0 * obs[0]]\n"
    source = variant("u = actions[:, 0]", "sum(range(300_000))\n        u = actions[:, 0]")
    with SimulatorGuest(box, pendulum(source)) as guest:
        quick, slower = (
            guest.play(LanePlay(text, [None], 2, 5, together)).acting_seconds
            for text in (
                policy.format(idle, idle),
                policy.format(*(busy if name == slow else idle for name in ("__init__", "act"))),
            )
        )
    assert quick < slower / 4


def test_slow_episodes_are_resumed_with_their_trajectories(
    box: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A guest that never finishes them is given up."""
    play = LanePlay(SLOW.format(work="3000"), [{"work": 0.0}], 4, 50, together=True, record=2)
    requests: list[str] = []
    ask = SimulatorGuest._ask

    def record_request(guest: SimulatorGuest, what: str, *more: Any) -> Any:
        requests.append(what)
        return ask(guest, what, *more)

    with SimulatorGuest(box, pendulum()) as guest:
        whole = guest.play(play)
        monkeypatch.setattr(SimulatorGuest, "_ask", record_request)
        monkeypatch.setattr(simulators, "PLAY_SECONDS", 1e-4)
        monkeypatch.setattr(simulators, "MAX_PLAY_SECONDS", 1.0)
        parts = guest.play(play)
        assert requests.count("play") == 1
        assert requests.count("resume") > 1
        assert (parts.returns == whole.returns).all()
        assert (parts.episodes[1].observations == whole.episodes[1].observations).all()
        monkeypatch.setattr(SimulatorGuest, "_ask", lambda *_: None)
        with pytest.raises(SimulatorFailedError, match="never ended"):
            guest.play(play)


@pytest.mark.parametrize("together", [True, False])
def test_policy_is_not_called_after_its_episode_has_ended(box: Sandbox, together: bool) -> None:
    """A simulator may return anything for lanes that have ended."""
    source = variant(
        "return self.obs(), -cost, np.zeros(len(u), bool)",
        "over = self.w > 1\n        return self.obs() + 1e9 * over[:, None], -cost, over",
    )
    policy = (
        "import numpy as np\n\nKNOWN = np.arange(100.0)\n\n\nclass Policy:\n    def act(self, obs):\n"
        "        return [KNOWN[(10 + obs[2]).astype(int)] * 0.01]\n"
    )
    with SimulatorGuest(box, pendulum(source)) as guest:
        assert guest.why_alone(policy, [None] * 9) == ""
        for record in (0, 16):  # lanes that have ended are dropped, or kept
            played = guest.play(LanePlay(policy, [None], 16, 60, together, record=record))
            assert played.terminated.sum() > 0
            assert len(np.unique(played.lengths)) > 1
            assert played.failure is None
            assert np.isfinite(played.returns).all()


COUNTED = """import numpy as np


class Simulator:
    def __init__(self, params, rng):
        pass

    def reset(self, n):
        return np.zeros((n, 1))

    def set(self, obs):
        pass

    def step(self, actions):
        worth = np.arange(10.0)[actions]
        return np.zeros((len(actions), 1)), worth.reshape(len(actions), -1).sum(axis=1), np.zeros(len(actions), bool)
"""
"""A simulator that takes actions for indices."""


@pytest.mark.parametrize(
    ("space", "action", "reward"),
    [
        (spaces.Discrete(3, start=2), "np.where(obs[0] == 0, 3.0, 2.0)", 3.0),
        (spaces.Box(0, 9, (2,), np.int64), "[1.7 + obs[0], 20.0 + obs[0]]", 10.0),
        (spaces.MultiDiscrete([3, 4]), "[2.0 + obs[0], 3.0 + obs[0]]", 5.0),
        (spaces.MultiBinary(2), "[1.0 + obs[0], obs[0]]", 1.0),
    ],
)
def test_actions_of_an_integer_space_are_integers(
    box: Sandbox, space: Any, action: str, reward: float
) -> None:
    policy = f"import numpy as np\n\n\nclass Policy:\n    def act(self, obs):\n        return {action}\n"
    simulated = Simulated(COUNTED, (), spaces.Box(-1, 1, (1,)), space)
    with SimulatorGuest(box, simulated) as guest:
        played = guest.play(LanePlay(policy, [None], 4, 5, together=True))
        assert played.failure is None
        assert (played.returns == 5 * reward).all()
        guest.start(4, 5)
        floats = np.full((4, *(space.shape or ())), 1.7)
        assert guest.advance(floats)[2].dtype == float
