"""Attribute names that a module defines itself: methods, fields, assigned attributes, names given as text."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def defined_names(tree: ast.AST) -> frozenset[str]:
    """Every name by which the module could have created an attribute."""
    return frozenset(_names(tree))


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield node.attr
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.arg | ast.keyword) and node.arg:
            yield node.arg
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 1000:  # noqa: PLR2004
            # PARAMS keys, setattr, namedtuple("Point", "x y")
            yield from (word for word in node.value.replace(",", " ").split() if word.isidentifier())
