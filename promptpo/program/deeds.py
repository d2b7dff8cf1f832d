"""What an experiment did, as the few lines of its code that say it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import copy

from promptpo.program.tree import parse

MOST = 480
"""Characters of code that are shown; of longer code nothing is, since parts of it mislead."""

ACTS, LEAST = "act", 2
"""The method that is shown, and statements of it that say something."""


def deeds(source: str, class_name: str = "Probe") -> str:
    """The part of an experiment that acts: its class without what only reports, and the constants that it names.

    Args:
        source: The module.
        class_name: Its class.

    Returns:
        Code that compiles, or `act` alone where the rest makes it too long; empty where that is long too.
    """
    tree = parse(source)
    body = tree.body if tree else []
    owner = next((node for node in body if isinstance(node, ast.ClassDef) and node.name == class_name), None)
    methods = {node.name: node for node in owner.body if isinstance(node, ast.FunctionDef)} if owner else {}
    if owner is None or ACTS not in methods:
        return ""
    needed = {"__init__", *_reached(methods)}
    kept = [node for name, node in methods.items() if name in needed]
    whole = copy(owner)
    whole.body = list(kept)
    alone = methods[ACTS]
    for shown, nodes in ((whole, kept), (alone, [alone])):
        if len(alone.body) < LEAST:  # which leaves it to something else
            continue
        names = {name.id for node in nodes for name in ast.walk(node) if isinstance(name, ast.Name)}
        code = "\n".join([*_constants(body, names), ast.unparse(shown).strip()])
        if len(code) <= MOST and "```" not in code:
            return code
    return ""


def _reached(methods: dict[str, ast.FunctionDef]) -> set[str]:
    """Names of the methods that `act` calls, itself among them."""
    found, new = {ACTS}, {ACTS}
    while new:
        named = {
            node.attr for name in new for node in ast.walk(methods[name]) if isinstance(node, ast.Attribute)
        }
        new = (named & methods.keys()) - found
        found |= new
    return found


def _constants(body: list[ast.stmt], names: set[str]) -> Iterator[str]:
    """Assignments of the module to these names."""
    for node in body:
        if isinstance(node, ast.Assign):
            bound = {
                name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)
            }
            if bound & names:
                yield ast.unparse(node)
