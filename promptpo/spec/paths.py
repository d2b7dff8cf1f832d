"""Resolve expressions such as ``obs["goal"][0:3]`` in a space or value, without running them as Python."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.envs.spaces import ends

if TYPE_CHECKING:
    from promptpo.envs.spaces import AnySpace

PATH_NODES = (ast.Subscript, ast.Slice, ast.Tuple, ast.Constant, ast.Name, ast.UnaryOp, ast.USub, ast.Load)


class PathError(ValueError):
    """An expression does not fit the space; the message is one sentence."""


def is_path(expression: ast.expr) -> bool:
    """Return whether an expression only subscripts one name; ``obs // 4``, which computes, is no path."""
    names = sum(isinstance(node, ast.Name) for node in ast.walk(expression))
    plain = all(isinstance(node, PATH_NODES) for node in ast.walk(expression))
    return plain and names == 1 and isinstance(expression, ast.Subscript | ast.Name)


def follow(expression: ast.expr, value: Any) -> Any:
    """Evaluate a path expression, with `value` for the name in it.

    Raises:
        PathError: The expression is no path, or a key, index or slice does not exist.
    """
    if isinstance(expression, ast.Name):
        return value
    if not isinstance(expression, ast.Subscript):
        raise PathError(f"{ast.unparse(expression)} is no part of a value.")
    whole = follow(expression.value, value)
    parts = isinstance(whole, dict | tuple) or np.ndim(whole) > 0
    try:
        key = _key(expression.slice)
        if not parts or (isinstance(key, slice) and max(key.start or 0, key.stop or 0) > len(whole)):
            raise IndexError
        return whole[key]
    except (LookupError, TypeError, ValueError):
        keys = f"the keys {', '.join(map(repr, whole))}" if isinstance(whole, dict) else ""
        has = keys or f"{len(whole) if parts else 'no'} parts"
        raise PathError(f"{ast.unparse(expression)} does not exist: it has {has}.") from None


def _key(node: ast.expr) -> Any:
    if isinstance(node, ast.Slice):
        return slice(*(part and ast.literal_eval(part) for part in (node.lower, node.upper, node.step)))
    if isinstance(node, ast.Constant):
        return node.value
    return tuple(map(_key, node.elts)) if isinstance(node, ast.Tuple) else ast.literal_eval(node)


def limits(space: AnySpace) -> tuple[Any, Any]:
    """Return the lower and upper bounds of a space, each with the structure of its values; None for text."""
    if isinstance(space, spaces.Dict):
        each = {key: limits(part) for key, part in space.spaces.items()}
        return {key: bounds[0] for key, bounds in each.items()}, {
            key: bounds[1] for key, bounds in each.items()
        }
    if isinstance(space, spaces.Tuple):
        pairs = [*map(limits, space.spaces)]
        return tuple(low for low, _ in pairs), tuple(high for _, high in pairs)
    return ends(space)
