"""The policies that results are held against, in the real sandbox."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from promptpo.errors import BudgetSpentError, EnvironmentFaultError, RewardFaultError
from promptpo.features.references.feature import References
from promptpo.llm.scripted import ScriptedLLM
from promptpo.program.reference_policies import programs
from promptpo_sandbox import Limits, Sandbox, Trial
from tests.promptpo.optimizing import Model, optimize, read_run
from tests.promptpo.policies import WEAK

BOUNDS = st.sampled_from([-np.inf, -7.5, -1.0, 0.0, 0.25, 3.0, np.inf])


@st.composite
def boxes(draw: Any) -> Any:
    """Boxes of several types, with bounds on neither, one or both sides, not always around zero."""
    shape = draw(st.sampled_from([(), (1,), (3,), (2, 2)]))
    if draw(st.booleans()):
        dtype, low = draw(st.sampled_from([(np.uint8, 0), (np.int64, -4), (np.int16, 2)]))
        return spaces.Box(low, low + draw(st.integers(0, 9)), shape, dtype)
    size = int(np.prod(shape))
    pairs = draw(st.lists(st.tuples(BOUNDS, BOUNDS), min_size=size, max_size=size))
    low = np.array([min(pair) for pair in pairs]).reshape(shape)
    high = np.array([max(pair) for pair in pairs]).reshape(shape)
    low, high = np.where(low == np.inf, 1.0, low), np.where(high == -np.inf, -1.0, high)
    return spaces.Box(low.astype(np.float32), np.maximum(low, high).astype(np.float32), dtype=np.float32)


LEAVES = st.one_of(
    boxes(),
    st.builds(lambda n, start: spaces.Discrete(n, start=start), st.integers(1, 6), st.integers(-9, 9)),
    st.lists(st.integers(1, 5), min_size=1, max_size=3).map(spaces.MultiDiscrete),
    st.sampled_from([2, (2, 3)]).map(spaces.MultiBinary),
    st.builds(
        lambda most, least: spaces.Text(most, min_length=min(most, least), charset="ab'\\"),
        st.integers(1, 4), st.integers(0, 4),
    ),
)  # fmt: skip
ACTIONS = st.one_of(
    LEAVES,
    st.dictionaries(st.sampled_from(["a", "it's", "z"]), LEAVES, min_size=1).map(spaces.Dict),
    st.lists(LEAVES, min_size=1, max_size=3).map(spaces.Tuple),
)


class Recording(gymnasium.Env):
    """Keeps every action and says whether it is in the space; nothing else happens."""

    observation_space = spaces.Box(-1, 1, (1,))

    def __init__(self, action_space: Any) -> None:
        self.action_space, self.actions = action_space, []

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """Begin."""
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        """Take an action."""
        assert action in self.action_space
        self.actions.append(action)
        return np.zeros(1, np.float32), 0.0, False, False, {}


@pytest.fixture(scope="module")
def box() -> Iterator[Any]:
    """A sandbox that several tests may use one after the other."""
    with Sandbox(Limits(), allow_weaker=True) as sandbox:
        yield sandbox


@pytest.mark.slow
@settings(max_examples=30)
@given(space=ACTIONS)
def test_both_run_in_the_sandbox_for_every_space(box: Any, space: Any) -> None:
    """Whatever the action space, both programs pass the gate and give valid actions in every step."""
    for source in programs(space).values():
        env = Recording(space)
        rollout = box.rollout(source, [env], [Trial(3, None, 4)])
        assert rollout.failure is None, (rollout.failure, source)
        assert len(env.actions) == 4


def test_zero_is_zero_or_nearest_to_it(box: Any) -> None:
    """Zero is clipped into bounds that leave it out, and a Discrete that begins above zero gives its start."""
    space = spaces.Tuple(
        [spaces.Box(np.float32([-1, 2, -9]), np.float32([1, 5, -3])), spaces.Discrete(3, start=4)]
    )
    env = Recording(space)
    assert box.rollout(programs(space)["zero"], [env], [Trial(0, None, 2)]).failure is None
    for numbers, choice in env.actions:
        assert numbers.tolist() == [0, 2, -3]
        assert choice == 4


def test_random_actions_fill_the_space_and_differ_between_episodes(box: Any) -> None:
    """Every action of a small space comes, two episodes are not the same, and an episode repeats."""
    space = spaces.Discrete(4, start=1)
    played = []
    for seed in (5, 6, 5):
        env = Recording(space)
        assert box.rollout(programs(space)["random"], [env], [Trial(seed, None, 60)]).failure is None
        played.append(env.actions)
    assert set(played[0]) == {1, 2, 3, 4}
    assert played[0] == played[2] != played[1]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A short run whose step budget leaves room for some reference episodes."""
    return optimize(
        Model(default=WEAK),
        tmp_path_factory.mktemp("runs") / "run",
        rounds=1,
        candidates=1,
        max_steps=200_000,
    )


def test_marks_are_measured_on_the_same_seeds(measured: Any) -> None:
    """At the start on training and validation seeds in turn within 2 % of the budget, at the end on the test's seeds."""
    events = read_run(measured.directory)
    found = {event.key: event.data for event in events["reference"]}
    constants = {"always-1"}
    assert set(found) == {"random", "zero", "random.test", "zero.test"} | constants
    tested = [e["seed"] for e in events["test"][0].data["evaluation"]["episodes"]]
    trained = {e["seed"] for e in events["evaluation"][0].data["evaluation"]["episodes"]}
    validated = {e["seed"] for event in events["validation"] for e in event.data["evaluation"]["episodes"]}
    for name in ("random", "zero"):
        assert [e["seed"] for e in found[f"{name}.test"]["evaluation"]["episodes"]] == tested
        seeds = {e["seed"] for e in found[name]["evaluation"]["episodes"]}
        assert trained < seeds
        assert min(validated) in seeds - trained
        # 2 % of the budget are 4,000 steps: four episodes of 500 for each of the two, but theirs are short
        assert len(seeds) == 8
        assert found[name]["spent"]["reference"] > 0


def test_marks_on_test_seeds_are_outside_the_budget(tmp_path: Path) -> None:
    """With hardly any budget nothing is measured at the start, and the run still ends with its marks."""
    run = optimize(Model(default=WEAK), tmp_path / "run", rounds=1, candidates=1, max_steps=3000)
    kinds = read_run(run.directory)
    assert {event.key for event in kinds["reference"]} == {"random.test", "zero.test", "zero.compared.test"}
    spent = run.data["steps"]
    assert spent["reference"] > 0
    assert spent["train"] + spent["validation"] + spent["tune"] + spent["spec"] <= 3000
    assert run.data["searched_steps"] == spent["total"] - spent["test"] - spent["reference"]


def test_a_resumed_run_does_not_measure_again(measured: Any) -> None:
    """What is in the journal is not rolled out a second time."""
    from promptpo import resume

    before = len(read_run(measured.directory)["reference"])
    resume(measured.directory, llm=ScriptedLLM(Model(default=WEAK)), rounds=2)
    assert len(read_run(measured.directory)["reference"]) == before


def failing(fault: Exception) -> Any:
    """The context of a run in which every rollout has the same fault."""

    async def roll_out(*_: Any, **__: Any) -> Any:
        raise fault

    return SimpleNamespace(work=SimpleNamespace(roll_out=roll_out), horizon=10)


@pytest.mark.parametrize(
    ("fault", "key", "told"),
    [
        (EnvironmentFaultError("the step broke."), "", True),
        (EnvironmentFaultError("the step broke."), "zero.test", True),
        (RewardFaultError("the step broke."), "zero.test", True),
        (BudgetSpentError("nothing is left"), "", False),
    ],
)
def test_a_reference_that_fails_is_told(
    fault: Exception, key: str, told: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Its result is missing, and the environment's or the reward's fault is said; a spent budget is no fault."""
    references = References(failing(fault))
    assert asyncio.run(references._play("zero", "", [1], key=key)) is None
    assert ["zero" in said and "the step broke." in said for said in caplog.messages] == [True] * told


def test_a_reward_that_fails_at_the_start_ends_the_run() -> None:
    """Nothing is asked of a model where the reward fails for a reference."""
    with pytest.raises(RewardFaultError):
        asyncio.run(References(failing(RewardFaultError("broken")))._play("zero", "", [1]))
