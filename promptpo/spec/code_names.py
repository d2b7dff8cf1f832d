"""Names in the syntax tree of a function: which it binds, which it calls for nothing."""

from __future__ import annotations

import ast
import re
from collections import Counter
from typing import Any

DRAWING = re.compile(r"_*(?:render|close)(?:_|$)")
"""Methods that draw, where nothing asks for what they return."""

IF_DRAWN = re.compile(r"(?:\w+\.)*_?render_mode\b(?! is None| !=| not in)")
"""Conditions that hold only where somebody watches, which nobody does in a run."""


def stored_names(node: ast.AST) -> set[str]:
    """Names and attributes that a tree sets."""
    stored = (n for n in ast.walk(node) if isinstance(getattr(n, "ctx", None), ast.Store))
    return {getattr(n, "id", getattr(n, "attr", "")) for n in stored} - {""}


def bound_names(node: ast.stmt) -> set[str]:
    """Names that a function binds itself."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return set()
    shared = {name for child in ast.walk(node) if isinstance(child, ast.Global) for name in child.names}
    stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return (stored | {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}) - shared


RETURNED = {"reset": {2}, "step": {4, 5}}
"""Values that an environment's methods return, the last of which is ``info``."""


def _split_returns(node: ast.stmt) -> tuple[list[ast.expr], list[ast.expr]]:
    """Of a step or a reset: what it returns between observation and ``info``, and ``info``; all of what is no tuple leads to both."""
    rewards, infos = list[ast.expr](), list[ast.expr]()
    sizes = RETURNED.get(getattr(node, "name", ""), ())
    for end in ast.walk(node):
        if isinstance(end, ast.Return) and isinstance(end.value, ast.Tuple) and len(end.value.elts) in sizes:
            rewards += end.value.elts[1:-1]
            infos.append(end.value.elts[-1])
        elif isinstance(end, ast.Return) and end.value and 5 in sizes:
            rewards.append(end.value)
    return rewards, infos


def find_beside_reward(node: ast.stmt) -> set[int]:
    """Of a step or a reset: what does not lead to rewards and endings."""
    statements = [n for n in ast.walk(node) if isinstance(n, ast.stmt)]
    ahead: list[ast.AST] = [*_split_returns(node)[0]]
    leading, wanted = set[int](), set[str]()
    while ahead:
        inner = [*ast.walk(ahead.pop())]
        leading |= {id(n) for n in inner}
        new = {getattr(n, "id", getattr(n, "attr", "")) for n in inner} - wanted
        wanted |= new
        for statement in statements:
            if new & stored_names(statement):
                ahead += [n for n in ast.iter_child_nodes(statement) if not isinstance(n, ast.stmt)]
    return {id(n) for n in ast.walk(node)} - leading


def find_unused(node: ast.stmt, *, of_environment: bool) -> set[int]:
    """Of a function: what is called to draw or for an ``info`` that nothing else reads, and what stands where it draws."""
    every = [*ast.walk(node)]
    drawn = (n.body for n in every if isinstance(n, ast.If) and IF_DRAWN.match(ast.unparse(n.test)))
    skipped = {id(n) for body in drawn for statement in body for n in ast.walk(statement)}
    calls = [n.value for n in every if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)]
    unused = [call for call in calls if DRAWING.match(ast.unparse(call.func).rpartition(".")[2])]
    if of_environment:
        infos = _split_returns(node)[1]
        used = Counter(n.id for n in every if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
        used.subtract(getattr(info, "id", "") for info in infos)
        given = [n for n in every if isinstance(n, ast.Assign)]
        infos += [n.value for n in given if used.get(getattr(n.targets[0], "id", ""), 1) == 0]
        unused += [info for info in infos if isinstance(info, ast.Call)]
    return skipped | {id(call.func) for call in unused}
