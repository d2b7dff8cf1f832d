"""Renaming of a module's top-level names, wherever they are meant."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from promptpo.program.confined.tree import Module, bound_by, bound_here, parse


def rename_to_unused(module: Module, name: str) -> str:
    """Return the module with a top-level name changed to an unused one."""
    taken, new = set(re.findall(r"\w+", module.source)), f"{name}_"
    while new in taken:
        new += "_"
    return rename(module, name, new)


def rename(module: Module, old: str, new: str) -> str:
    """Return the module with a top-level name changed to one that does not occur in it; local variables of that name change too.

    Layout and comments stay, except if the name is at a position that Python does not report (inside some f-strings): then the
    module is regenerated from its syntax tree.
    """
    tree = parse(module.source) or module.tree  # a copy, since renaming changes it
    nodes = list(_meant(tree, old))
    text = module.replace_spans(
        [edit for node in nodes if (edit := _edit(module, node, old, new)) is not None]
    )
    for node in nodes:
        _apply(node, old, new)
    again = parse(text)
    try:
        same = again is not None and ast.dump(again) == ast.dump(tree)
        return text if same else ast.unparse(tree) + "\n"
    except ValueError:  # an integer too long for Python to print
        return text if again is not None else module.source


def _meant(node: ast.AST, name: str, *, attribute: bool | None = None) -> Iterator[ast.AST]:
    """Yield the nodes that refer to a name, except for arguments and class attributes of that name.

    Args:
        node: Where to search.
        name: The name.
        attribute: In the body of a class, whether the name is already an attribute of the class; otherwise None.
    """
    outside, inside = _parts(node, name)
    carried = name in bound_by(node) or (isinstance(node, ast.Global | ast.Nonlocal) and name in node.names)
    read = isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    if (carried and attribute is None) or (read and not attribute):
        yield node
    for part in outside:
        yield from _meant(part, name, attribute=attribute)
    if isinstance(node, ast.ClassDef):
        own = False
        for statement in inside:
            yield from _meant(statement, name, attribute=own)
            own = own or name in set(bound_here([statement]))
    else:
        for part in inside:
            yield from _meant(part, name)


def _parts(node: ast.AST, name: str) -> tuple[list[ast.AST], list[ast.AST]]:
    """Return a node's children in the scope around it, and those in its own scope unless the name is an argument there."""
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.ClassDef):
        return [child for child in children if child not in node.body], list(node.body)
    if not isinstance(node, ast.FunctionDef | ast.Lambda):
        return children, []
    own = {child.arg for child in ast.walk(node.args) if isinstance(child, ast.arg)}
    body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    return [child for child in children if child not in body], [] if name in own else body


def _edit(text: Module, node: ast.AST, old: str, new: str) -> tuple[int, int, str] | None:
    """Return the text edit that renames a node; None if its position is unknown."""
    if isinstance(node, ast.alias):
        end = text.end(node)
        return (end - len(old.encode()), end, new) if node.asname else (end, end, f" as {new}")
    if not isinstance(node, ast.expr | ast.stmt | ast.ExceptHandler):
        return None
    word = re.compile(rb"\b" + re.escape(old.encode()) + rb"\b")
    found = word.search(text.data, text.start(node) + (0 if isinstance(node, ast.Name) else len("def")))
    return (found.start(), found.end(), new) if found else None


def _apply(node: ast.AST, old: str, new: str) -> None:
    """Rename a node of the tree in place."""
    if isinstance(node, ast.alias):
        node.asname = new
        return
    for field, value in ast.iter_fields(node):
        if field in {"id", "name"} and value == old:
            setattr(node, field, new)
    if isinstance(node, ast.Global | ast.Nonlocal):
        node.names = [new if name == old else name for name in node.names]
