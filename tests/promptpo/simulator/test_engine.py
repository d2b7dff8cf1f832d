"""The simulator engine on real steps: checks, fits, errors, searches and formulas."""

from __future__ import annotations

import asyncio
import re
import resource
from collections.abc import Iterator
from dataclasses import replace

import gymnasium
import numpy as np
import pytest

from promptpo.features.program_search.library import write_program
from promptpo.features.program_search.writer import Genome
from promptpo.features.simulator.programs import side_by_side
from promptpo.program import Program
from promptpo.rollouts.jobs import SandboxWork, Settings
from promptpo.simulator.behaviour import describe_behaviour
from promptpo.simulator.check import Check
from promptpo.simulator.contract import Simulation, supports
from promptpo.simulator.data import cut_windows, held_random_policy, record_episodes
from promptpo.simulator.finish import Finish
from promptpo.simulator.fit import Fit
from promptpo.simulator.formulas.writer import write_formulas
from promptpo.simulator.network import TrainNetwork
from promptpo.simulator.play import Play, difference_in_errors, why_alone
from promptpo.simulator.search import Search
from promptpo_sandbox import Recorded, Sandbox, Trial
from tests.promptpo.simulator import bodies
from tests.promptpo.simulator.sources import PENDULUM, QUEUE, SWING_UP

VALUES = {"g": 10.0, "m": 1.0, "unused": 3.0}


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    """A sandbox shared by the tests of this module."""
    with Sandbox() as sandbox:
        yield sandbox


def record_real(box: Sandbox, env_id: str, steps: int) -> tuple[Recorded, ...]:
    """Return real episodes of held random actions."""
    env = gymnasium.make(env_id)
    episodes: list[Recorded] = []
    while sum(map(len, episodes)) < steps:
        policy = held_random_policy(env.action_space)
        rollout = box.rollout(policy, [env], [Trial(len(episodes))], record=True)
        assert rollout.failure is None
        episodes += record_episodes(rollout, env.observation_space, env.action_space)
    return tuple(episodes)


@pytest.fixture(scope="module")
def real_steps(box: Sandbox) -> tuple[Recorded, ...]:
    """Real steps of the pendulum."""
    return record_real(box, "Pendulum-v1", 400)


def pendulum(source: str = PENDULUM) -> Simulation:
    """The pendulum's simulator with its initial, wrong parameters."""
    env = gymnasium.make("Pendulum-v1")
    return Simulation.of(source, env.observation_space, env.action_space, 200)


def fitted() -> Simulation:
    """The simulator with the true parameters."""
    return replace(pendulum(), vectors=(VALUES,))


def test_fit_recovers_identifiable_parameters(box: Sandbox, real_steps: tuple[Recorded, ...]) -> None:
    """Unidentifiable ones keep their prior, and held-out errors decrease."""
    found = Fit(pendulum(), real_steps).run(box)
    numbers = {number.name: number for number in found.numbers}
    assert numbers["g"].value == pytest.approx(10.0, abs=0.02)
    assert numbers["m"].value == pytest.approx(1.0, abs=0.005)
    assert numbers["g"].touched
    assert not numbers["unused"].touched
    assert numbers["unused"].value == 3.0
    assert found.vectors == ({name: number.value for name, number in numbers.items()},)
    assert found.after.explained_share(25) > 0.999
    fixed = re.sub(r"(\d\.\d), [\d.]+, [\d.]+\)", r"\1, \1, \1)", PENDULUM)
    compared = Fit(pendulum(fixed), real_steps).run(box)  # as written and as fitted, which is the same
    assert compared.simulated_steps == 2 * 25 * min(
        row.count for row in compared.after.rows if row.situation == "all" and row.ahead == 1
    )
    assert "obs[2] speed |" in found.after.as_text(["obs[0] cosine", "obs[1] sine", "obs[2] speed"])


@pytest.mark.parametrize("named", [0, 2, 60])
def test_unnamed_constant_components_share_a_line(named: int) -> None:
    """Each component appears exactly once, and named ones have their own line."""
    labels = [f"obs[{i}] part{i}" if i < named else f"obs[{i}]" for i in range(60)]
    steps = np.zeros((41, 60))
    steps[:, 30] = np.arange(41)
    episode = Recorded(steps, np.zeros((40, 1)), np.zeros(40), terminated=False)
    text = describe_behaviour([episode], gymnasium.spaces.Box(-1, 1, (1,)), labels)
    lines = [line.partition(":")[0] for line in text.splitlines()[1:]]
    places = [[int(place) for place in re.findall(r"obs\[(\d+)", line)] for line in lines[:-1]]
    assert [place for span in places for place in range(span[0], span[-1] + 1)] == list(range(60))
    assert lines[:named] == labels[:named]
    assert len(lines) == named + (4 if named < 60 else 1)


def test_wrong_formula_shows_in_the_errors(box: Sandbox, real_steps: tuple[Recorded, ...]) -> None:
    """Some situation is worse than the average."""
    wrong = pendulum(PENDULUM.replace("+ 3.0 * u / self.p", "+ 0.0 * u / self.p"))
    found = Fit(wrong, real_steps).run(box)
    speed = [row for row in found.after.rows if row.coordinate == "obs[2]" and row.ahead == 1]
    assert min(row.explained for row in speed) < 0.99
    assert {row.situation for row in speed} > {"all", "sudden change"}


def test_windows_do_not_cross_episode_ends(box: Sandbox) -> None:
    episodes = record_real(box, "CartPole-v1", 100)
    windows = cut_windows(episodes)
    last = np.cumsum([len(episode) for episode in episodes]) - 1
    assert windows.valid[0].all()
    assert not windows.valid[1, last].any()
    assert windows.ended[0, last].all()
    assert len(windows) == sum(map(len, episodes))


def test_check_distinguishes_problems_and_remarks(box: Sandbox, real_steps: tuple[Recorded, ...]) -> None:
    """Mixed lanes are a problem; odd initial states are a remark."""
    assert not Check(pendulum(), real_steps).run(box).problems
    mixed = pendulum(PENDULUM.replace("self.th = self.th +", "self.th = self.th + self.w.mean() +"))
    report = Check(mixed, real_steps).run(box)
    assert any("lane" in problem for problem in report.problems)
    odd = PENDULUM.replace("self.rng.uniform(-1, 1, n)", "self.rng.uniform(5, 7, n)")
    report = Check(pendulum(odd), real_steps).run(box)
    assert "initial states" in " ".join(report.remarks)


def test_simulated_return_is_independent_of_the_seed(box: Sandbox) -> None:
    """Tuning and finishing use the same evaluation episodes."""
    finished = Finish(fitted(), SWING_UP, seed=1).run(box)
    assert Finish(fitted(), finished.source, seed=5, prune=False).run(box).value == finished.value
    fixed = re.sub(r"\": \(([^,]+), [^,]+, [^)]+\)", r'": (\1, \1, \1)', finished.source)
    assert Search(fitted(), fixed, seed=3).run(box).value == finished.value


@pytest.mark.slow
def test_parameters_tuned_in_the_simulator_transfer(box: Sandbox) -> None:
    """The search is reproducible; pruning and rounding keep the return."""
    search = Search(fitted(), SWING_UP, steps=15_000, starts=2, seed=1)
    found = search.run(box)
    assert found.why_alone == ""
    assert found.value > np.mean(Play(fitted(), SWING_UP).run(box).returns) + 60
    again = search.run(box)
    assert (again.source, again.value) == (found.source, found.value)
    rounded = Finish(fitted(), found.source).run(box)
    assert "idle" in rounded.dropped
    assert rounded.value > found.value - 0.1 * abs(found.value)
    assert all(float(f"{v:.5g}") == v for v in (Program.from_source(rounded.source).values or {}).values())
    simulated = Play(fitted(), rounded.source, lanes=64, record=2, seed=5).run(box)
    trials = [Trial(10_000 + i, Program.from_source(rounded.source).values) for i in range(20)]
    rollout = box.rollout(rounded.source, [gymnasium.make("Pendulum-v1")], trials, clip_actions=True)
    assert abs(difference_in_errors([e.return_ for e in rollout.episodes], simulated.returns)) < 3.5
    assert "action[0]" in describe_behaviour(
        simulated.trajectories, gymnasium.make("Pendulum-v1").action_space
    )
    assert found.state is not None
    longer = Search(fitted(), SWING_UP, steps=10_000, starts=1, resume=(found.state,)).run(box)
    assert longer.value > found.value - 60


RARE = """
import numpy as np


class Simulator:
    def __init__(self, params, rng):
        self.rng = rng

    def reset(self, n):
        self.x = np.where(self.rng.uniform(size=n) < 0.15, 1.0, 0.0)
        return self.x[:, None].copy()

    def set(self, obs):
        self.x = obs[:, 0].astype(float)

    def step(self, actions):
        return self.x[:, None].copy(), 1.0 - np.abs(actions[:, 0] - self.x), np.zeros(len(self.x), bool)
"""
"""One initial state in seven needs a different action."""

MATCHED = '''"""Answers what it sees."""
PARAMS = {"gain": (1.0, -2.0, 2.0), "idle": (0.3, -2.0, 2.0)}


class Policy:
    def __init__(self, params):
        self.p = params

    def act(self, obs):
        return [self.p["gain"] * obs[0] + 0.0 * self.p["idle"]]
'''


@pytest.mark.parametrize("seed", range(12))
def test_parameter_for_rare_initial_states_is_kept(box: Sandbox, seed: int) -> None:
    """Pruning decides on more and other episodes than it tries parameters on."""
    space = gymnasium.spaces.Box(-2.0, 2.0, (1,))
    rare = Simulation.of(RARE, space, space, 20)
    finished = Finish(rare, MATCHED, seed).run(box)
    assert finished.dropped == ("idle",)


def test_program_without_parameters_or_with_a_failure(box: Sandbox) -> None:
    """Neither is an error of the simulator."""
    plain = "class Policy:\n    def act(self, obs):\n        return [0 * obs[0]]\n"
    assert np.isfinite(Search(fitted(), plain).run(box).value)
    failing = SWING_UP.replace("return [up", "return undefined + [up")
    found = Search(fitted(), failing, steps=5000).run(box)
    assert found.value == -np.inf
    assert found.failure is not None
    assert "undefined" in found.failure.message


def test_equal_behaviour_has_equal_value(box: Sandbox) -> None:
    """The episodes that chose the parameters do not matter."""
    idle = (
        SWING_UP[: SWING_UP.index("PARAMS")]
        + """PARAMS = {"idle": (0.5, -1.0, 1.0)}


class Policy:
    def __init__(self, params):
        self.p = params

    def act(self, obs):
        return [0.0 * self.p["idle"] + 0.0 * obs[0]]
"""
    )
    found = [
        Search(fitted(), idle, seed=seed, steps=steps).run(box) for seed, steps in ((0, 5000), (7, 9000))
    ]
    assert found[0].value == found[1].value
    assert found[0].stderr == found[1].stderr > 0


def test_search_stays_wide_until_a_reward_is_found(box: Sandbox) -> None:
    rare = PENDULUM.replace("-cost,", "np.where(np.abs(u - 0.8) < 0.01, 1.0, 0.0),")
    policy = """PARAMS = {"u": (0.0, -2.0, 2.0)}


class Policy:
    def __init__(self, params):
        self.p = params

    def act(self, obs):
        return [self.p["u"] + 0 * obs[0]]
"""
    assert Search(pendulum(rare), policy, steps=400_000, starts=1).run(box).value > 0


def test_stochastic_simulator_is_fitted_by_its_mean(box: Sandbox) -> None:
    """It recovers the arrival rate of a queue."""
    spaces = gymnasium.spaces.Box(0, np.inf, (1,)), gymnasium.spaces.Discrete(5)
    rng = np.random.default_rng(0)
    waiting, rows, actions = 0.0, [0.0], []
    for _ in range(400):
        actions.append(int(rng.integers(0, 5)))
        waiting = max(waiting - actions[-1], 0) + rng.poisson(1.5)
        rows.append(waiting)
    rewards = -np.array(rows[1:]) - 0.5 * np.array(actions)
    episode = Recorded(np.array(rows, np.float32)[:, None], np.array(actions), rewards, terminated=False)
    simulation = Simulation.of(QUEUE, *spaces, 100)
    (rate,) = Fit(simulation, (episode,), random=True).run(box).numbers
    assert rate.value == pytest.approx(1.5, abs=0.3)
    assert Check(simulation, (episode,)).run(box).random


@pytest.mark.parametrize("env_id", ["Acrobot-v1", "CartPole-v1", "Pendulum-v1", "MountainCar-v0"])
def test_batched_library_programs_act_alike(box: Sandbox, env_id: str) -> None:
    env = gymnasium.make(env_id)
    spaces = env.observation_space, env.action_space
    episodes = record_real(box, env_id, 40)
    simulation = Simulation.of(write_formulas(episodes, *spaces), *spaces, 100)
    alone = write_program(Genome("linear"), *spaces)
    many = side_by_side(alone)
    with simulation.open(box) as guest:
        assert why_alone(guest, many) == ""
    values = {name: high / 2 for name, (_, _, high) in Program.from_source(alone).params.items()}
    rollouts = [box.rollout(source, [env], [Trial(3, values, 50)]) for source in (alone, many)]
    assert rollouts[0].failure is None
    assert [e.return_ for e in rollouts[0].episodes] == [e.return_ for e in rollouts[1].episodes]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("env_id", "steps"), [("CartPole-v1", 600), ("Pendulum-v1", 1000), ("MountainCar-v0", 1600)]
)
def test_formulas_predict_simple_mechanics(box: Sandbox, env_id: str, steps: int) -> None:
    """A few episodes of random actions suffice."""
    env = gymnasium.make(env_id)
    episodes = record_real(box, env_id, steps)
    source = write_formulas(episodes, env.observation_space, env.action_space)
    simulation = Simulation.of(source, env.observation_space, env.action_space, 200)
    assert not Check(simulation, episodes).run(box).problems
    table = Fit(simulation, record_real(box, env_id, steps)).run(box).after
    assert table.explained_share(1) > 0.95
    assert table.explained_share(25) > 0.9


@pytest.mark.slow
def test_planar_body_is_fast_enough(box: Sandbox) -> None:
    """The requirement is 20,000 steps per second of CPU time, 10,000 with training; the bounds here are half of that."""
    hopper = gymnasium.make("Hopper-v5")
    simulation = Simulation.of(bodies.hopper(), hopper.observation_space, hopper.action_space, 1000)

    def seconds() -> float:
        return sum(
            sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )

    idle = "class Policy:\n    def act(self, obs):\n        return [0.1 * obs[0], 0 * obs[0], 0 * obs[0]]\n"
    began = seconds()
    with Sandbox() as fresh:
        played = Play(simulation, idle, lanes=1024, horizon=60).run(fresh)
    assert played.simulated_steps / (seconds() - began) > 10_000
    began = seconds()
    with Sandbox() as fresh:
        trained = TrainNetwork(simulation, 0, steps=40_000).run(fresh)
    assert trained.simulated_steps / (seconds() - began) > 5_000


def test_unsupported_spaces_have_a_reason() -> None:
    assert supports(gymnasium.spaces.Text(3), gymnasium.spaces.Discrete(2))
    assert supports(gymnasium.spaces.Discrete(2), gymnasium.spaces.Discrete(2)) == ""


def test_fit_runs_in_a_worker(real_steps: tuple[Recorded, ...]) -> None:
    """Its result converts to JSON."""
    from promptpo.core.journal import to_json
    from promptpo.envs.task import Task
    from promptpo.rollouts.local import LocalExecutor
    from promptpo.simulator.fit import FitResult
    from promptpo_sandbox import Limits

    executor = LocalExecutor(Settings(Task("Pendulum-v1"), Limits()), 1)
    work: SandboxWork = Fit(pendulum(), real_steps)
    try:
        found = asyncio.run(executor.run(work))
    finally:
        executor.close()
    assert isinstance(found, FitResult)
    assert to_json(found)["vectors"][0]["unused"] == 3.0


@pytest.mark.parametrize("episodes", [3, 4, 7])
def test_few_real_episodes_seldom_reject_a_correct_simulator(episodes: int) -> None:
    """Returns may be close by chance; a true difference is still detected."""
    rng = np.random.default_rng(episodes)
    apart = [
        [
            abs(difference_in_errors(rng.normal(-7 - shift, 10, episodes), rng.normal(-7, 10, 32)))
            for _ in range(1000)
        ]
        for shift in (0, 40)
    ]
    assert np.mean(np.greater(apart[0], 2)) < 0.06
    assert np.mean(np.greater(apart[1], 2)) > 0.95
