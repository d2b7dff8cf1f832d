"""Reference policies in the real sandbox."""

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
    """Boxes of several types, bounded on neither, one or both sides, not always around zero."""
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
def sandbox() -> Iterator[Any]:
    """A sandbox shared by the tests of this module."""
    with Sandbox(Limits(), allow_weaker=True) as sandbox:
        yield sandbox


@pytest.mark.slow
@settings(max_examples=30)
@given(space=ACTIONS)
def test_reference_policies_support_every_action_space(sandbox: Any, space: Any) -> None:
    """They pass the gate and return valid actions."""
    for source in programs(space).values():
        env = Recording(space)
        rollout = sandbox.rollout(source, [env], [Trial(3, None, 4)])
        assert rollout.failure is None, (rollout.failure, source)
        assert len(env.actions) == 4


def test_zero_policy_returns_the_action_nearest_to_zero(sandbox: Any) -> None:
    """Zero is clipped into the bounds; a Discrete space gives its start."""
    space = spaces.Tuple(
        [spaces.Box(np.float32([-1, 2, -9]), np.float32([1, 5, -3])), spaces.Discrete(3, start=4)]
    )
    env = Recording(space)
    assert sandbox.rollout(programs(space)["zero"], [env], [Trial(0, None, 2)]).failure is None
    for numbers, choice in env.actions:
        assert numbers.tolist() == [0, 2, -3]
        assert choice == 4


def test_random_policy_covers_the_space_reproducibly(sandbox: Any) -> None:
    """Episodes differ by seed."""
    space = spaces.Discrete(4, start=1)
    played = []
    for seed in (5, 6, 5):
        env = Recording(space)
        assert sandbox.rollout(programs(space)["random"], [env], [Trial(seed, None, 60)]).failure is None
        played.append(env.actions)
    assert set(played[0]) == {1, 2, 3, 4}
    assert played[0] == played[2] != played[1]


@pytest.fixture(scope="module")
def measured_run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A short run whose step budget pays for some reference episodes."""
    return optimize(
        Model(default=WEAK),
        tmp_path_factory.mktemp("runs") / "run",
        rounds=1,
        candidates=1,
        max_steps=200_000,
    )


def test_references_use_the_runs_seeds(measured_run: Any) -> None:
    """They use training and validation seeds within 2 % of the budget at the start, and test seeds at the end."""
    events = read_run(measured_run.directory)
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


def test_references_on_test_seeds_are_outside_the_budget(tmp_path: Path) -> None:
    """A tiny budget allows none at the start."""
    run = optimize(Model(default=WEAK), tmp_path / "run", rounds=1, candidates=1, max_steps=3000)
    kinds = read_run(run.directory)
    assert {event.key for event in kinds["reference"]} == {"random.test", "zero.test", "zero.compared.test"}
    spent = run.data["steps"]
    assert spent["reference"] > 0
    assert spent["train"] + spent["validation"] + spent["tune"] + spent["spec"] <= 3000
    assert run.data["searched_steps"] == spent["total"] - spent["test"] - spent["reference"]


def test_resumed_run_does_not_measure_references_again(measured_run: Any) -> None:
    from promptpo import resume

    before = len(read_run(measured_run.directory)["reference"])
    resume(measured_run.directory, llm=ScriptedLLM(Model(default=WEAK)), rounds=2)
    assert len(read_run(measured_run.directory)["reference"]) == before


def failing_context(fault: Exception) -> Any:
    """A search context in which every rollout raises this fault."""

    async def roll_out(*_: Any, **__: Any) -> Any:
        raise fault

    return SimpleNamespace(work=SimpleNamespace(roll_out=roll_out), horizon=10)


@pytest.mark.parametrize(
    ("fault", "key", "is_logged"),
    [
        (EnvironmentFaultError("the step broke."), "", True),
        (EnvironmentFaultError("the step broke."), "zero.test", True),
        (RewardFaultError("the step broke."), "zero.test", True),
        (BudgetSpentError("nothing is left"), "", False),
    ],
)
def test_failing_reference_is_logged(
    fault: Exception, key: str, is_logged: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """An exhausted budget is not a fault."""
    references = References(failing_context(fault))
    assert asyncio.run(references._play("zero", "", [1], key=key)) is None
    assert ["zero" in line and "the step broke." in line for line in caplog.messages] == [True] * is_logged


def test_reward_fault_of_a_reference_ends_the_run() -> None:
    """No request to a model is made."""
    with pytest.raises(RewardFaultError):
        asyncio.run(References(failing_context(RewardFaultError("broken")))._play("zero", "", [1]))
