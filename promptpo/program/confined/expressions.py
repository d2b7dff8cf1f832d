"""Expressions that a journal has for a space or an observation."""

from __future__ import annotations

import ast

_PARTS = (
    *(ast.Expression, ast.Call, ast.Attribute, ast.Name, ast.Constant, ast.List, ast.Tuple, ast.Dict),
    *(ast.UnaryOp, ast.USub, ast.Subscript, ast.keyword, ast.Load),
)
_CALLED = frozenset(
    "spaces Box Discrete MultiDiscrete MultiBinary Dict Tuple Text array asarray broadcast_to astype reshape ravel inf nan "  # noqa: SIM905
    "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
)


def is_plain_expression(text: str) -> bool:
    """Whether a text makes a space, an array or a number, and does nothing else."""
    try:
        nodes = list(ast.walk(ast.parse(text, mode="eval"))) if len(text) < MAX_CHARACTERS else []
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
        return False
    return bool(nodes) and all(
        isinstance(node, _PARTS)
        and (not isinstance(node, ast.Attribute) or node.attr in _CALLED)
        and (not isinstance(node, ast.Name) or node.id in {"int", "np", "spaces", "start"})
        for node in nodes
    )


MAX_CHARACTERS = 1 << 24
"""Characters of an expression."""
