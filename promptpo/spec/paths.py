"""Following an expression such as ``obs["goal"][0:3]`` into a space, without executing it."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium import spaces

from promptpo.envs.spaces import at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from promptpo.envs.spaces import AnySpace


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
    keys = _keys(expression, root)
    if keys is None:
        return None
    wrong = f"{ast.unparse(expression)} does not exist"
    low, high = limits(space)
    for key in keys:
        if isinstance(low, dict) and key not in low:
            raise PathError(f"{wrong}: the {root} has the keys {', '.join(map(repr, low))}.")
        parts = isinstance(low, dict | tuple) or np.ndim(low) > 0
        try:
            if not parts or (isinstance(key, slice) and max(key.start or 0, key.stop or 0) > len(low)):
                raise IndexError
            low, high = low[key], high[key]
        except (IndexError, TypeError):
            several = (
                f"there are {len(low)} parts"
                if isinstance(low, tuple)
                else f"the array has shape {np.shape(low)}"
            )
            raise PathError(
                f"{wrong}: {several if parts else 'there is one value, which has no parts'}."
            ) from None
    plain = not isinstance(low, dict | tuple)
    return PathEnd(low if plain else None, high if plain else None, lambda value: at(value, keys))


def reader(path: str, root: str) -> Callable[[Any], Any] | None:
    """A function that reads a path such as ``obs["goal"][0:3]`` from a value; None where it computes something else."""
    keys = _keys(ast.parse(path, mode="eval").body, root)
    return None if keys is None else lambda value: at(value, keys)


def _keys(node: ast.expr, root: str) -> list[Any] | None:
    keys: list[Any] = []
    while isinstance(node, ast.Subscript):
        try:
            keys.insert(0, _key(node.slice))
        except ValueError:
            return None
        node = node.value
    return keys if isinstance(node, ast.Name) and node.id == root else None


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


OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip


def arithmetic(expression: ast.expr, names: Mapping[str, float]) -> float:
    """The value of an expression of numbers, names and operators, such as ``obs // 4 % 5``.

    Raises:
        PathError: It holds anything else, or divides by zero.
    """
    if isinstance(expression, ast.Constant) and isinstance(expression.value, int | float):
        return expression.value
    if isinstance(expression, ast.Name) and expression.id in names:
        return names[expression.id]
    if isinstance(expression, ast.BinOp) and type(expression.op) in OPERATORS:
        left, right = arithmetic(expression.left, names), arithmetic(expression.right, names)
        try:
            return float(OPERATORS[type(expression.op)](left, right))
        except ArithmeticError as error:
            raise PathError(f"{ast.unparse(expression)} cannot be computed: {error}.") from None
    raise PathError(f"{ast.unparse(expression)} is not simple arithmetic.")
