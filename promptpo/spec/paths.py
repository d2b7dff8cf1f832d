"""Following an expression such as ``obs["goal"][0:3]`` into a space; it is never run as Python."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium import spaces

if TYPE_CHECKING:
    from collections.abc import Callable

    from promptpo.envs.spaces import AnySpace

OF_PATHS = (ast.Subscript, ast.Slice, ast.Tuple, ast.Constant, ast.Name, ast.UnaryOp, ast.USub, ast.Load)


class PathError(ValueError):
    """An expression that does not fit the space; the text is one sentence."""


class PathEnd(NamedTuple):
    """Where a path ends: lower and upper bounds of the numbers there, None for text, and what reads it from a value."""

    low: Any
    high: Any
    read: Callable[[Any], Any]


def walk(expression: ast.expr, root: str, space: AnySpace) -> PathEnd | None:
    """Follow subscripts of `root` into a space.

    Returns:
        None where the expression computes something else, such as ``obs // 4``.

    Raises:
        PathError: There is no such key, index or slice.
    """
    plain = all(isinstance(n, OF_PATHS) and getattr(n, "id", root) == root for n in ast.walk(expression))
    if not plain or not isinstance(expression, ast.Subscript | ast.Name):
        return None

    def told(value: Any) -> Any:
        return read(expression, value)

    low, high = map(told, limits(space))
    text = isinstance(low, dict | tuple)
    return PathEnd(None if text else low, None if text else high, told)


def read(expression: ast.expr, value: Any) -> Any:
    """What an expression of subscripts gives for the value of the name in it.

    Raises:
        PathError: It holds anything else, or there is no such key, index or slice.
    """
    if isinstance(expression, ast.Name):
        return value
    told = ast.unparse(expression)
    if not isinstance(expression, ast.Subscript):
        raise PathError(f"{told} is no part of a value.")
    whole = read(expression.value, value)
    parts = isinstance(whole, dict | tuple) or np.ndim(whole) > 0
    try:
        key = _key(expression.slice)
        if not parts or (isinstance(key, slice) and max(key.start or 0, key.stop or 0) > len(whole)):
            raise IndexError
        return whole[key]
    except (LookupError, TypeError, ValueError):
        keys = f"it has the keys {', '.join(map(repr, whole))}" if isinstance(whole, dict) else ""
        has = keys or (f"there are {len(whole)} parts" if parts else "there is one value, which has no parts")
        raise PathError(f"{told} does not exist: {has}.") from None


def _key(node: ast.expr) -> Any:
    if isinstance(node, ast.Slice):
        return slice(*(part and ast.literal_eval(part) for part in (node.lower, node.upper, node.step)))
    return tuple(map(_key, node.elts)) if isinstance(node, ast.Tuple) else ast.literal_eval(node)


def limits(space: AnySpace) -> tuple[Any, Any]:
    """Lower and upper bounds of everything in a space, in its own structure; None for text."""
    if isinstance(space, spaces.Dict):
        each = {key: limits(one) for key, one in space.spaces.items()}
        return {key: one[0] for key, one in each.items()}, {key: one[1] for key, one in each.items()}
    if isinstance(space, spaces.Tuple):
        low, high = zip(*map(limits, space.spaces), strict=True)
        return low, high
    if isinstance(space, spaces.Box):
        return space.low, space.high
    if isinstance(space, spaces.Discrete):
        return np.array(space.start), np.array(space.start + space.n - 1)
    if isinstance(space, spaces.MultiDiscrete):
        return np.asarray(space.start), np.asarray(space.start) + np.asarray(space.nvec) - 1
    if isinstance(space, spaces.MultiBinary):
        return np.zeros(space.shape), np.ones(space.shape)
    return None, None
