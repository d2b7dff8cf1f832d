"""Following an expression such as ``obs["goal"][0:3]`` into a space, without executing it."""

from __future__ import annotations

import ast
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.envs.spaces import at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from promptpo.envs.spaces import AnySpace


class PathError(ValueError):
    """An expression that does not fit the space; the text is one sentence."""


@dataclass(frozen=True, slots=True)
class PathEnd:
    """Where a path ends.

    Attributes:
        low: Lower bounds of the numbers there; None for text.
        high: Upper bounds.
        read: Reads the same place from a value.
    """

    low: Any
    high: Any
    read: Callable[[Any], Any]

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return 0 if self.low is None else int(np.size(self.low))


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
    text = ast.unparse(expression)
    current: Any = space
    for key in keys:
        current = _step(current, key, text, root)
    low, high = limits(current)
    return PathEnd(low, high, lambda value: at(value, keys))


def reader(path: str, root: str) -> Callable[[Any], Any] | None:
    """A function that reads a path such as ``obs["goal"][0:3]`` from a value; None where it computes something else."""
    keys = _keys(ast.parse(path, mode="eval").body, root)
    return None if keys is None else lambda value: at(value, keys)


def _keys(node: ast.expr, root: str) -> list[Any] | None:
    keys: list[Any] = []
    while isinstance(node, ast.Subscript):
        keys.insert(0, _key(node.slice))
        node = node.value
    plain = isinstance(node, ast.Name) and node.id == root and all(key is not _OTHER for key in keys)
    return keys if plain else None


_OTHER = object()


def _key(node: ast.expr) -> Any:
    try:
        if isinstance(node, ast.Slice):
            parts = (node.lower, node.upper, node.step)
            return slice(*(None if part is None else ast.literal_eval(part) for part in parts))
        if isinstance(node, ast.Tuple):
            return tuple(_key(item) for item in node.elts)
        return ast.literal_eval(node)
    except ValueError:
        return _OTHER


def _step(current: Any, key: Any, text: str, root: str) -> Any:
    if isinstance(current, spaces.Dict):
        if key not in current.spaces:
            raise PathError(
                f"{text} does not exist: the {root} has the keys {', '.join(map(repr, current.spaces))}."
            )
        return current.spaces[key]
    if isinstance(current, spaces.Tuple):
        if not isinstance(key, int) or not -len(current.spaces) <= key < len(current.spaces):
            raise PathError(f"{text} does not exist: the tuple has {len(current.spaces)} parts.")
        return current.spaces[key]
    if isinstance(current, spaces.Discrete | spaces.Text):
        kind = "an int" if isinstance(current, spaces.Discrete) else "text"
        raise PathError(f"{text} does not exist: there is {kind}, which has no parts.")
    low, high = current if isinstance(current, tuple) else limits(current)
    return _part_of(low, key, text), _part_of(high, key, text)


def _part_of(array: Any, key: Any, text: str) -> Any:
    if isinstance(key, str):
        raise PathError(f"{text} does not exist: there is an array, which has no keys.")
    if isinstance(key, slice) and array.ndim and max(key.start or 0, key.stop or 0) > array.shape[0]:
        raise PathError(f"{text} does not exist: the array has shape {array.shape}.")
    try:
        return array[key]
    except (IndexError, TypeError):
        raise PathError(f"{text} does not exist: the array has shape {np.shape(array)}.") from None


def limits(space: Any) -> tuple[Any, Any]:
    """Lower and upper bounds of everything in a space; None for text and containers."""
    if isinstance(space, tuple):
        return space
    if isinstance(space, spaces.Box):
        return space.low, space.high
    if isinstance(space, spaces.Discrete):
        return np.array(space.start), np.array(space.start + space.n - 1)
    if isinstance(space, spaces.MultiDiscrete):
        return np.asarray(space.start), np.asarray(space.start) + np.asarray(space.nvec) - 1
    if isinstance(space, spaces.MultiBinary):
        return np.zeros(space.shape), np.ones(space.shape)
    return None, None


_OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def arithmetic(expression: ast.expr, names: Mapping[str, float]) -> float:
    """The value of an expression of numbers, names and the operators + - * / // %.

    Raises:
        PathError: It holds anything else, or divides by zero.
    """
    if isinstance(expression, ast.Constant) and isinstance(expression.value, int | float):
        return expression.value
    if isinstance(expression, ast.Name) and expression.id in names:
        return names[expression.id]
    if isinstance(expression, ast.BinOp) and type(expression.op) in _OPERATORS:
        left, right = arithmetic(expression.left, names), arithmetic(expression.right, names)
        try:
            return _OPERATORS[type(expression.op)](left, right)
        except ZeroDivisionError:
            raise PathError(f"{ast.unparse(expression)} divides by zero.") from None
    raise PathError(f"{ast.unparse(expression)} is not simple arithmetic.")
