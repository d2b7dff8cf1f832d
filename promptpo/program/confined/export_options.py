"""The command-line options and constants of an exported file, read off its text."""

from __future__ import annotations

import ast
from typing import Any

from promptpo.program.confined.tree import literal


def option_defaults(tree: ast.Module | None) -> dict[str, Any]:
    """Name to default of every option that a module adds to an ``argparse`` parser by literals."""
    defaults: dict[str, Any] = {}
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument":
            try:
                name = literal(node.args[0] if node.args else None)
                defaults[str(name)] = literal(
                    next((word.value for word in node.keywords if word.arg == "default"), None)
                )
            except ValueError:
                continue
    return defaults


def constant(tree: ast.Module | None, name: str) -> Any:
    """The literal that a module binds to a name at its top level; None where there is none."""
    for node in tree.body if tree else ():
        if isinstance(node, ast.Assign) and [getattr(t, "id", "") for t in node.targets] == [name]:
            try:
                return literal(node.value)
            except ValueError:
                return None
    return None
