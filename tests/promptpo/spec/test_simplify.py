"""Code with less ado computes the same."""

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo.spec.simplify import simplified

CASES = {
    "copies and small functions": """
def reward(x, u):
    forward = x * 2
    costs = control(u)
    total = costs
    return late(forward, total)

def control(u):
    value = 0.1 * u * u
    return value

def late(forward, total):
    reward = forward - total
    return reward
""",
    "a name that is stored twice": """
def reward(x, u):
    a = x
    b = a
    a = u
    return a - 2 * b
""",
    "a function that is called twice": """
def reward(x, u):
    return half(x) + half(u)

def half(v):
    return v / 2
""",
    "an argument that is computed": """
def reward(x, u):
    return square(x + u)

def square(v):
    return v * v
""",
    "names that would clash": """
def reward(x, u):
    v = x + 1
    return other(v, u)

def other(u, v):
    w = u - 2 * v
    return w
""",
}


def run(functions: Any, x: int, u: int) -> Any:
    """What the first function returns."""
    space: dict[str, Any] = {}
    exec("\n\n".join(map(ast.unparse, functions)), space)  # noqa: S102 - our own code, above
    return space["reward"](x, u)


@pytest.mark.parametrize("code", CASES.values(), ids=CASES)
@given(x=st.integers(-9, 9), u=st.integers(-9, 9))
def test_the_value_stays_the_same(code: str, x: int, u: int) -> None:
    """Whatever disappears."""
    functions = [node for node in ast.parse(code).body if isinstance(node, ast.FunctionDef)]
    assert run(simplified(functions), x, u) == run(functions, x, u)


def test_what_only_passes_values_on_disappears() -> None:
    """One function is left of three, without a copy."""
    functions: Any = ast.parse(CASES["copies and small functions"]).body
    assert [ast.unparse(f) for f in simplified(functions)] == [
        "def reward(x, u):\n    forward = x * 2\n    costs = 0.1 * u * u\n    return forward - costs"
    ]
