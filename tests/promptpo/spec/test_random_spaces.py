"""Property tests over random spaces: the spec is valid Python, names every leaf and suffices to act."""

import ast
import re
import string
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from promptpo.envs.spaces import leaves
from promptpo.envs.task import Task
from promptpo.spec.check import contradictions_in
from promptpo.spec.describe import describe_env
from promptpo.spec.reading import read
from tests.promptpo.spec.envs import Nested

sizes = st.integers(1, 4)
keys = st.text(string.ascii_lowercase + "_ .", min_size=1, max_size=6)


@st.composite
def boxes(draw: Any) -> Any:
    """Boxes of up to three dimensions: bounded or not, of floats or integers."""
    shape = tuple(draw(st.lists(sizes, max_size=3)))
    low = draw(st.sampled_from([-np.inf, -2.5, 0.0, 3.0]))
    high = draw(st.sampled_from([np.inf, 3.5, 100.0]))
    if draw(st.booleans()):
        return spaces.Box(-5, 9, shape, dtype=np.int64)
    return spaces.Box(low, high, shape, dtype=draw(st.sampled_from([np.float32, np.float64])))


def simple_spaces(texts: Any) -> Any:
    """Spaces without components."""
    return st.one_of(
        boxes(),
        st.builds(lambda n, start: spaces.Discrete(n, start=start), st.integers(1, 60), st.integers(-3, 3)),
        st.builds(spaces.MultiBinary, sizes),
        st.builds(spaces.MultiDiscrete, st.lists(st.integers(1, 5), min_size=1, max_size=4)),
        *([st.just(spaces.Text(8, min_length=1))] if texts else []),
    )


def nested(*, texts: Any) -> Any:
    """Dictionaries and tuples of spaces, up to three deep."""
    return st.recursive(
        simple_spaces(texts),
        lambda inner: st.one_of(
            st.builds(spaces.Dict, st.dictionaries(keys, inner, max_size=3)),
            st.builds(spaces.Tuple, st.lists(inner, max_size=3)),
        ),
        max_leaves=5,
    )


def build_action(text: Any) -> Any:
    """Build an action from the spec alone: its example, moved to the described bounds."""
    part = read(text).parts["Action"]
    example = re.search(r"for\s+example\s+(.*?)\.(?:\n|$)", part.docstring, re.DOTALL)[1].replace("\n", " ")
    action = eval(example, {"np": np})  # noqa: S307 - our own text, in a test
    for field in part.fields:
        if (
            field.ranges
            and not field.is_observed
            and np.isfinite(field.ranges[0][1])
            and field.ranges[0][1] < 100
        ):
            path = field.expression
            if "[" in (code := ast.unparse(path)) and isinstance(action, np.ndarray) and action.ndim == 1:
                exec(f"{code} = {field.ranges[0][1]}", {"action": action})  # noqa: S102 - our own text, in a test
    if part.constants:
        action = part.constants[0].value
    return action


@pytest.mark.slow
@given(nested(texts=True), nested(texts=False))
@example(spaces.Dict({"a": spaces.Discrete(3), "t": spaces.Text(8)}), spaces.Tuple([]))
@example(
    spaces.Tuple([spaces.Discrete(1)]),
    spaces.Dict({"__": spaces.Tuple([spaces.Dict({"_": spaces.MultiBinary(1)})])}),
)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_action_built_from_the_spec_is_valid(observation_space: Any, action_space: Any) -> None:
    """The spec compiles, passes its check and names every leaf."""
    env = Nested(observation_space, action_space)
    spec, observed = describe_env(env, Task("Nested-v0"))
    compile(spec.text, "spec", "exec")
    reading = read(spec.text)
    assert contradictions_in(reading, spec, observed) == []
    for root, space, fields in (
        ("obs", observation_space, reading.parts["State"].fields),
        ("action", action_space, reading.parts["Action"].fields),
    ):
        described = [field.expression for field in fields]
        text = " ".join(ast.unparse(expression) for expression in described)
        for path, leaf in leaves(space):
            if root == "action" and isinstance(space, spaces.Discrete):
                continue
            written = root + "".join(f"[{key!r}]" for key in path)
            assert written in text, written
            assert leaf is not None
    assert action_space.contains(build_action(spec.text)), build_action(spec.text)
