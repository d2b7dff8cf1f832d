"""Analyse a function's syntax tree: what its result depends on, calls that render, comparisons that end episodes."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from promptpo.spec.calls import DRAWING

if TYPE_CHECKING:
    from promptpo.spec.code_files import Definition


@functools.lru_cache(maxsize=10_000)
def nodes_of(node: ast.AST) -> tuple[ast.AST, ...]:
    """Return all nodes of a tree, root first; cached because each definition is walked several times."""
    return tuple(ast.walk(node))


def name_of(node: ast.AST) -> str:
    """Return the identifier of a name or attribute node; empty for other nodes."""
    return str(getattr(node, "id", getattr(node, "attr", "")))


def find_drawing(node: ast.stmt) -> set[ast.AST]:
    """Return the functions that a definition calls only to render."""
    calls = (n.value for n in nodes_of(node) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call))
    return {call.func for call in calls if DRAWING.match(ast.unparse(call.func).rpartition(".")[2])}


def tree_names(node: ast.AST) -> set[str]:
    """Return the identifiers of all names and attributes in a tree; the empty string stands for other nodes."""
    return {*map(name_of, nodes_of(node))}


def find_ending_comparisons(functions: Sequence[Definition]) -> Iterator[tuple[ast.Compare, Definition]]:
    """Yield comparisons that are sufficient to end an episode, with the function that holds each."""
    ahead, known = list[tuple[ast.AST, Any]]([(ast.Name("step"), None)]), set[str]()
    while ahead:
        node, function = ahead.pop()
        match node:
            case ast.Compare():
                yield node, function
            case ast.BoolOp(ast.And(), [also, ast.Compare() as end]) if tree_names(also) <= tree_names(end):
                ahead.append((end, function))
            case ast.BoolOp(ast.Or(), parts) | ast.Call(ast.Name("bool"), parts):
                ahead += [(part, function) for part in parts]
            case ast.Name() | ast.Attribute() | ast.Call():
                name = name_of(node.func if isinstance(node, ast.Call) else node)
                found = [(part, f) for f in functions if name not in known for part in _find_values(f, name)]
                ahead += found
                known.add(name)


def _find_values(function: Definition, name: str) -> Iterator[ast.expr]:
    """Yield the values a function assigns to a name, or returns if the name is its own, and conditions that set it True."""
    for node in nodes_of(function.node):
        yield from _find_assigned_values(node, name, function.name)
        if isinstance(node, ast.If):
            values = [
                value for inner in node.body for value in _find_assigned_values(inner, name, function.name)
            ]
            if any(isinstance(value, ast.Constant) and value.value is True for value in values):
                yield node.test


def _find_assigned_values(node: ast.AST, name: str, owner: str) -> Sequence[ast.expr]:
    """Return the values a node assigns to a name, or returns if `owner` is the name; of a step's, those that end an episode."""
    match node:
        case ast.Return(ast.Tuple(parts)) if owner == name:
            return parts[2:] if len(parts) > len(("observation", "reward", "done")) else parts
        case ast.Return(ast.expr() as value) if owner == name:
            return [value]
        case ast.Assign(value=value) | ast.AugAssign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            stored = {name_of(n) for n in nodes_of(node) if isinstance(getattr(n, "ctx", None), ast.Store)}
            return [value] if name in stored else []
    return []
