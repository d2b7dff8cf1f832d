"""Reference policies, which know nothing about a task: random, zero and constant actions for an action space."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from promptpo.envs.spaces import AnySpace
from promptpo_sandbox.spaces import plain_key

REFERENCE_POLICIES = ("random", "zero")
"""Names of the reference policies."""

ALWAYS = "always-"
"""Prefix of the names of policies that always take the same action."""

MAX_CONSTANTS = 18
"""Maximum number of discrete actions for which each gets a constant policy."""


def programs(action_space: AnySpace) -> Mapping[str, str]:
    """Return the sources of both reference policies, by name."""
    return dict(
        zip(REFERENCE_POLICIES, (random_policy(action_space), zero_policy(action_space)), strict=True)
    )


def random_policy(action_space: AnySpace) -> str:
    """Return a policy that draws actions uniformly; without a bound, normally around the value nearest to zero."""
    return _module("Acts at random.", "self.rng = np.random.default_rng()", draw_expression(action_space))


def zero_policy(action_space: AnySpace) -> str:
    """Return a policy that always acts with zeros, or the nearest element of the space."""
    return _module("Always acts with zeros.", "pass", _zero(action_space))


def constant_policies(space: AnySpace) -> Mapping[str, str]:
    """Return policies that always take the same action, by name: zeros, and each other action of a small discrete space.

    For bounded boxes, the others are all numbers at the lower bounds, in the middle, and at the upper bounds.
    """
    zero, others = _zero(space), dict[str, str]()
    if isinstance(space, spaces.Discrete) and space.n <= MAX_CONSTANTS:
        others = {str(n): repr(n) for n in range(int(space.start), int(space.start + space.n))}
    elif isinstance(space, spaces.Box) and space.is_bounded():
        low, high = space.low.astype(float), space.high.astype(float)
        values = {"low": low, "middle": (low + high) / 2, "high": high}
        others = {name: _fill_box(space, value) for name, value in values.items()}
    constants = {
        f"{ALWAYS}{name}": _module(f"Always acts with {name}.", "pass", action)
        for name, action in others.items()
        if action != zero
    }
    return {REFERENCE_POLICIES[1]: zero_policy(space), **constants}


def _module(docstring: str, begin: str, action: str) -> str:
    return (
        f'"""{docstring}"""\n\nimport numpy as np\n\n\nclass Policy:\n'
        f"    def __init__(self):\n        {begin}\n\n"
        f"    def act(self, obs):\n        return {action}\n"
    )


def draw_expression(space: AnySpace) -> str:
    """Return an expression for a random element of a space, drawn from ``self.rng``."""
    if isinstance(space, spaces.Discrete):
        return f"int(self.rng.integers({int(space.start)}, {int(space.start + space.n)}))"
    if isinstance(space, spaces.MultiDiscrete):
        start, n = array_expression(space.start), array_expression(space.nvec)
        return f"({start} + self.rng.integers(0, {n}, size={space.shape!r})).astype(np.{space.dtype})"
    if isinstance(space, spaces.MultiBinary):
        return f"self.rng.integers(0, 2, size={space.shape!r}).astype(np.{space.dtype})"
    if isinstance(space, spaces.Box):
        return _drawn_from_box(space)
    if isinstance(space, spaces.Text):
        letters = "".join(space.character_list)
        length = f"int(self.rng.integers({space.min_length}, {space.max_length + 1}))"
        return f'"".join({letters!r}[int(self.rng.integers(0, {len(letters)}))] for _ in range({length}))'
    return _nest_expression(space, draw_expression)


def _drawn_from_box(space: spaces.Box) -> str:
    shape = f"size={space.shape!r}"
    if np.issubdtype(space.dtype, np.integer) or space.dtype == np.bool_:
        least, most = (array_expression(bound.astype(np.int64)) for bound in (space.low, space.high))
        return f"self.rng.integers({least}, {most}, {shape}, endpoint=True).astype(np.{_dtype(space)})"
    bounds = ", ".join(array_expression(bound) for bound in (space.low, space.high))
    bounded = space.bounded_below & space.bounded_above
    ends = (array_expression(np.where(bounded, bound, 0.0)) for bound in (space.low, space.high))
    text = f"self.rng.uniform({', '.join(ends)}, {shape})"
    if not bounded.all():
        nearest = array_expression(np.clip(np.zeros(space.shape), space.low, space.high))
        text = f"np.where({array_expression(bounded)}, {text}, {nearest} + self.rng.normal({shape}))"
    return f"np.clip({text}, {bounds}).astype(np.{_dtype(space)})"


def _zero(space: AnySpace) -> str:
    """Return an expression for the element of a space nearest to zeros."""
    if isinstance(space, spaces.Discrete):
        return repr(int(min(max(0, space.start), space.start + space.n - 1)))
    if isinstance(space, spaces.MultiDiscrete):
        nearest = np.clip(np.zeros_like(space.start), space.start, space.start + space.nvec - 1)
        return f"np.full({space.shape!r}, {array_expression(nearest)}, np.{space.dtype})"
    if isinstance(space, spaces.MultiBinary):
        return f"np.zeros({space.shape!r}, np.{space.dtype})"
    if isinstance(space, spaces.Box):
        return _fill_box(space, np.clip(np.zeros(space.shape), space.low, space.high))
    if isinstance(space, spaces.Text):
        return repr(space.character_list[0] * space.min_length)
    return _nest_expression(space, _zero)


def _fill_box(space: spaces.Box, values: Any) -> str:
    """Return an expression for an element of a box."""
    return f"np.full({space.shape!r}, {array_expression(values)}, np.{_dtype(space)})"


def _nest_expression(space: AnySpace, inner: Callable[[AnySpace], str]) -> str:
    if isinstance(space, spaces.Dict):
        return (
            "{" + ", ".join(f"{plain_key(key)!r}: {inner(item)}" for key, item in space.spaces.items()) + "}"
        )
    if isinstance(space, spaces.Tuple):
        return "(" + "".join(f"{inner(item)}, " for item in space.spaces) + ")"
    raise TypeError(f"no policy can be written for a {type(space).__name__}")


def _dtype(space: AnySpace) -> str:
    return "bool_" if space.dtype == np.bool_ else str(space.dtype)


def array_expression(values: Any) -> str:
    """Return numbers as an expression, a single number if all are equal."""
    flat = np.asarray(values).ravel()
    if flat.size and (flat == flat[0]).all():
        return _as_numpy(repr(flat[0].item()))
    return f"np.array({_as_numpy(repr(np.asarray(values).tolist()))})"


def _as_numpy(text: str) -> str:
    return text.replace("inf", "np.inf").replace("nan", "np.nan")
