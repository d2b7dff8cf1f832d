"""Every environment receives actions in the form that its space samples, whoever acts and in whatever form."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from promptpo.envs.actions import converter_to
from promptpo.envs.contract import ContractEnv
from promptpo.envs.notes import _printed_keys
from promptpo.errors import EnvironmentFaultError
from promptpo_baselines.actions import count_from_zero, from_zero, zero_action
from promptpo_sandbox import Sandbox, Trial
from promptpo_sandbox.spaces import layout_of

STARTS = st.integers(-5, 5)
DTYPES = [np.int8, np.uint8, np.int32, np.int64, np.float32, np.float64]


@st.composite
def boxes(draw: Any) -> spaces.Box:
    """Boxes of every dtype with up to two dimensions."""
    shape = draw(st.lists(st.integers(1, 3), max_size=2).map(tuple))
    dtype = draw(st.sampled_from(DTYPES))
    low = 0 if np.dtype(dtype).kind == "u" else draw(st.integers(-5, 0))
    return spaces.Box(low, draw(st.integers(1, 100)), shape, dtype)


CHOICES = st.builds(lambda n, start: spaces.Discrete(n, start=start), st.integers(1, 6), STARTS) | st.lists(
    st.tuples(st.integers(1, 4), STARTS), min_size=1, max_size=3
).map(lambda pairs: spaces.MultiDiscrete([n for n, _ in pairs], start=[start for _, start in pairs]))
PLAIN = CHOICES | boxes() | st.integers(1, 4).map(spaces.MultiBinary)
SPACES = st.recursive(
    PLAIN,
    lambda inner: (
        st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=2).map(spaces.Dict)
        | st.lists(inner, min_size=1, max_size=2).map(spaces.Tuple)
    ),
    max_leaves=4,
)

FORMS = {
    "as it is": lambda part: part,
    "Python": lambda part: part.tolist(),
    "float": lambda part: np.asarray(part, np.float64),
    "int": lambda part: (
        np.asarray(part, np.float64).astype(np.int64) if np.all(part == np.rint(part)) else part
    ),
    "strided": lambda part: np.repeat(np.atleast_1d(part), 2, axis=-1)[..., ::2].reshape(np.shape(part)),
}
"""Forms in which a policy may return an action."""


def in_form(form: str, action: Any) -> Any:
    """Return the action with its leaves in a form."""
    if isinstance(action, dict):
        return {key: in_form(form, part) for key, part in action.items()}
    if isinstance(action, tuple):
        return tuple(in_form(form, part) for part in action)
    return FORMS[form](action)


def assert_same(first: Any, second: Any) -> None:
    """Check equality of type, dtype, shape and value."""
    assert type(first) is type(second)
    if isinstance(first, dict):
        for key in first:
            assert_same(first[key], second[key])
    elif isinstance(first, tuple):
        for one, other in zip(first, second, strict=True):
            assert_same(one, other)
    else:
        assert first.dtype == second.dtype
        np.testing.assert_array_equal(first, second)


@given(SPACES, st.sampled_from(sorted(FORMS)), st.integers(0, 100))
def test_action_is_converted_to_the_sampled_form(space: Any, form: str, seed: int) -> None:
    """It gets the sample's type, dtype and shape, whatever form it had."""
    space.seed(seed)
    action = space.sample()
    converted = converter_to(space)(in_form(form, action))
    assert space.contains(converted)
    assert_same(converted, action)


@given(CHOICES, st.integers(0, 100))
def test_choices_counted_from_zero_are_actions_of_the_space(space: Any, seed: int) -> None:
    """Networks of stable-baselines3 count from zero."""
    counted = count_from_zero(space)
    assert not np.any(counted.start)
    counted.seed(seed)
    choice = counted.sample()
    assert space.contains(converter_to(space)(from_zero(space, choice)))
    assert (counted is space) == (not np.any(space.start))


@given(SPACES.filter(lambda space: not isinstance(space, spaces.Dict | spaces.Tuple)))
def test_zero_action_is_in_the_space(space: Any) -> None:
    assert space.contains(zero_action(space))


class Keeps(gymnasium.Env[Any, Any]):
    """Records the actions that it receives, then overwrites arrays among them."""

    observation_space = spaces.Box(-1, 1, (1,), np.float32)

    def __init__(self, space: Any, reward: Any = 0.0) -> None:
        self.action_space, self.reward = space, reward
        self.actions: list[Any] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action), action
        self.actions.append(np.copy(action) if isinstance(action, np.ndarray) else action)
        if isinstance(action, np.ndarray) and action.flags.writeable:
            action[...] = 0
        return np.zeros(1, np.float32), self.reward, False, len(self.actions) >= 3, {}


POLICY = """
import numpy as np


class Policy:
    def act(self, obs):
        return ACTION
"""


@pytest.fixture(scope="module")
def box() -> Any:
    """A sandbox."""
    with Sandbox() as sandbox:
        yield sandbox


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_policies_act_in_any_space(box: Sandbox, data: Any) -> None:
    """Through the sandbox: the environment gets the sampled form, and records hold the policy's values although the environment overwrites its own."""
    space = data.draw(PLAIN)
    space.seed(data.draw(st.integers(0, 100)))
    action = space.sample()
    env = Keeps(space)
    source = POLICY.replace("ACTION", repr(action.tolist()))
    rollout = box.rollout(source, [ContractEnv(env, "Keeps")], [Trial(0)], record=True)
    assert rollout.failure is None, layout_of(space)
    for played in env.actions:
        assert_same(played, action)
    trajectory = rollout.episodes[0].trajectory
    assert trajectory is not None
    for recorded in trajectory.actions:
        np.testing.assert_array_equal(recorded, action)


@pytest.mark.parametrize(
    "reward", [np.array([2.0]), [2.0], np.array(2), np.float16(2), (2,), np.array([[2.0]])]
)
def test_one_number_is_a_reward_in_any_form(reward: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """An array of size 1 is accepted, with one note for all steps."""
    _printed_keys.clear()
    env = ContractEnv(Keeps(spaces.Discrete(2), reward), "Keeps")
    env.reset()
    for _ in range(3):
        assert env.step(1)[1] == 2.0
    assert capsys.readouterr().err.count("as the reward") == bool(np.ndim(reward))


@pytest.mark.parametrize("reward", [np.array([1.0, 2.0]), [], None, "1", {"a": 1}])
def test_reward_that_is_no_number_is_refused(reward: Any) -> None:
    env = ContractEnv(Keeps(spaces.Discrete(2), reward), "Keeps")
    env.reset()
    with pytest.raises(EnvironmentFaultError, match="as the reward"):
        env.step(1)
