"""Observations and actions as vectors are the same in this process and in an exported file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from promptpo.errors import UnsupportedSpaceError
from promptpo_baselines.environments import vector as as_vector
from promptpo_baselines.refine.shapes import Actions, flat_size, flat_text

HELPERS = """
def finite(numbers):
    if not np.isfinite(numbers).all():
        raise ValueError
    return numbers
def one_hot(choice, n):
    if int(choice) != choice or not 0 <= choice < n:
        raise ValueError
    return (np.arange(n) == choice).astype(float)
"""

LEAVES = st.one_of(
    st.builds(lambda n: spaces.Box(-1.0, 1.0, (n,)), st.integers(1, 4)),
    st.builds(lambda n, m: spaces.Box(0, 9, (n, m), np.int64), st.integers(1, 3), st.integers(1, 3)),
    st.builds(lambda n, start: spaces.Discrete(n, start=start), st.integers(1, 5), st.integers(-2, 2)),
    st.builds(spaces.MultiDiscrete, st.lists(st.integers(1, 4), min_size=1, max_size=3)),
    st.builds(spaces.MultiBinary, st.integers(1, 4)),
)
SPACES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(spaces.Dict, st.dictionaries(st.text(max_size=3), inner, min_size=1, max_size=3)),
        st.builds(spaces.Tuple, st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=4,
)


def evaluate(expression: str, **names: Any) -> Any:
    """Evaluate an expression of an exported file."""
    scope = {"np": np, **names}
    exec(HELPERS, scope)  # noqa: S102 - our own text
    return eval(expression, scope)  # noqa: S307 - our own text


@given(SPACES, st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_observation_is_the_same_vector_in_a_file(space: Any, seed: int) -> None:
    """This holds for all spaces."""
    space.seed(seed)
    obs = space.sample()
    vector = as_vector(space, obs)
    assert vector.shape == (flat_size(space, "It"),)
    np.testing.assert_array_equal(evaluate(flat_text(space, "obs"), obs=obs), vector)


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (spaces.Box(0, 255, (64, 64, 3), np.uint8), "at most 2000"),
        (spaces.Text(5), "no numbers"),
        (spaces.Graph(spaces.Box(0, 1, (2,)), None), "does not read"),
    ],
)
def test_unsuitable_observations_are_refused(space: Any, message: str) -> None:
    """The sentence names the environment or the space."""
    with pytest.raises(UnsupportedSpaceError, match=message):
        flat_size(space, "Odd-v0")


@pytest.mark.parametrize("space", [spaces.Dict(a=spaces.Discrete(2)), spaces.Box(0, 3, (2,), np.int64)])
def test_unsuitable_actions_are_refused(space: Any) -> None:
    """Containers and integer boxes."""
    with pytest.raises(UnsupportedSpaceError, match="no network for actions"):
        Actions.of(space)


def test_continuous_action_is_the_programs_plus_the_networks() -> None:
    """Scaled to -1 to 1 and back, and clipped to the bounds."""
    space = spaces.Box(np.array([-2.0, 0.0]), np.array([2.0, 10.0]), dtype=np.float64)
    actions = Actions.of(space)
    prior = evaluate(actions.reading("action"), action=[1.0, 7.5])
    np.testing.assert_allclose(prior, [0.5, 0.5])
    for added, expected in ((0.0, [1.0, 7.5]), (0.25, [1.5, 8.75]), (5.0, [2.0, 10.0])):
        output = np.full(2, added)
        written = evaluate(actions.writing("output", "prior", 1.0), output=output, prior=prior)
        np.testing.assert_allclose(written, expected)
        np.testing.assert_allclose(actions.combine(prior[None], output[None], 1.0)[0], expected)


def test_unbounded_action_is_neither_scaled_nor_clipped() -> None:
    actions = Actions.of(spaces.Box(-np.inf, np.inf, (1,), np.float32))
    prior = evaluate(actions.reading("action"), action=[30.0])
    assert prior == [30.0]
    assert evaluate(actions.writing("o", "p", 0.5), o=np.array([4.0]), p=prior) == [32.0]


@pytest.mark.parametrize(
    ("space", "good", "numbers", "output", "written"),
    [
        (spaces.Discrete(3), 1, [0, 1, 0], [0, 1, 5], 2),
        (spaces.MultiDiscrete([2, 3]), [1, 0], [0, 1, 1, 0, 0], [3, 1, 0, 0, 4], [0, 2]),
        (spaces.MultiBinary(2), [1, 0], [1, -1], [-2, 3], [0, 1]),
    ],
)
def test_choice_is_a_bias_and_the_largest_output_wins(
    space: Any, good: Any, numbers: Any, output: Any, written: Any
) -> None:
    """There is one number for each choice."""
    actions = Actions.of(space)
    assert evaluate(actions.reading("a"), a=good).tolist() == numbers
    assert actions.size == len(numbers)
    chosen = evaluate(actions.writing("output", "prior", 1.0), output=np.array(output), prior=None)
    assert np.array_equal(chosen, written)


@pytest.mark.parametrize(
    ("space", "bad"),
    [
        (spaces.Discrete(3), 3),
        (spaces.Discrete(3), 0.5),
        (spaces.MultiDiscrete([2, 2]), [0]),
        (spaces.Box(-1.0, 1.0, (2,)), [0.0]),
        (spaces.Box(-1.0, 1.0, (2,)), [0.0, np.nan]),
        (spaces.MultiBinary(2), [0, np.inf]),
    ],
)
def test_invalid_action_raises(space: Any, bad: Any) -> None:
    """The program then counts as failed, and the network acts alone."""
    with pytest.raises(ValueError):  # noqa: PT011 - numpy's own texts
        evaluate(Actions.of(space).reading("a"), a=bad)
