"""Hyperparameters given as text are parsed, never run."""

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo.errors import UsageError
from promptpo_baselines.literals import ACTIVATIONS, activation, read_literal

LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
NAMES = st.from_regex(r"[a-z][a-z0-9]{0,8}_", fullmatch=True)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4)
)


def as_call(value: Any) -> Any:
    """Return a value as the Zoo writes it, with mappings as ``dict(...)``."""
    if isinstance(value, dict):
        return "dict(" + ", ".join(f"{name}={as_call(item)}" for name, item in value.items()) + ")"
    if isinstance(value, list):
        return "[" + ", ".join(as_call(item) for item in value) + "]"
    return repr(value)


@given(VALUES)
def test_any_nested_literal_is_parsed_back(value: Any) -> None:
    """Written with dict() or with braces."""
    assert read_literal(as_call(value)) == value
    assert read_literal(repr(value)) == value


@given(st.text(max_size=60))
def test_any_text_gives_a_value_or_a_usage_error(text: str) -> None:
    with contextlib.suppress(UsageError):
        read_literal(text)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "dict(a=open('x'))",
        "nn.Linear",
        "{[1]: 2}",
        "dict(**{'a': 1})",
        "[x for x in (1,)]",
        "dict([1])",
    ],
)
def test_code_is_refused(text: str) -> None:
    """Calls, names and comprehensions are not literals."""
    with pytest.raises(UsageError):
        read_literal(text)


def test_row_of_the_zoo_is_parsed() -> None:
    """Its activation stays a name."""
    text = "dict(log_std_init=-2, ortho_init=False, activation_fn=nn.ReLU, net_arch=dict(pi=[256, 256], vf=[256]))"
    assert read_literal(text) == {
        "log_std_init": -2,
        "ortho_init": False,
        "activation_fn": "nn.ReLU",
        "net_arch": {"pi": [256, 256], "vf": [256]},
    }


def test_allowed_activations_exist_in_torch() -> None:
    """Others are refused."""
    assert [activation(f"nn.{name}").__name__ for name in ACTIVATIONS] == list(ACTIVATIONS)
    with pytest.raises(UsageError, match=r"nn\.Flatten"):
        activation("nn.Flatten")
