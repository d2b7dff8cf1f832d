"""Names in the syntax tree of a function: which it binds, which it calls for nothing."""

from __future__ import annotations

import ast
import re
from collections import Counter

DRAWING = re.compile(r"_*(?:render|close)(?:_|$)")
"""Methods that draw, where nothing asks for what they return."""

IF_DRAWN = re.compile(r"(?:\w+\.)*_?render_mode\b(?! is None| !=| not in)")
"""Conditions that hold only where somebody watches, which nobody does in a run."""


def bound_names(node: ast.stmt) -> set[str]:
    """Names that a function binds itself."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return set()
    shared = {name for child in ast.walk(node) if isinstance(child, ast.Global) for name in child.names}
    stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return (stored | {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}) - shared


def find_unused(node: ast.stmt) -> set[int]:
    """Of a function: what is called to draw or for an ``info`` that nothing else reads, and what stands where it draws."""
    every = [*ast.walk(node)]
    drawn = (n.body for n in every if isinstance(n, ast.If) and IF_DRAWN.match(ast.unparse(n.test)))
    skipped = {id(n) for body in drawn for statement in body for n in ast.walk(statement)}
    calls = [n.value for n in every if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)]
    unused = [call for call in calls if DRAWING.match(ast.unparse(call.func).rpartition(".")[2])]
    if getattr(node, "name", "") in {"step", "reset"}:
        ends = [n.value for n in every if isinstance(n, ast.Return) and isinstance(n.value, ast.Tuple)]
        infos = [end.elts[-1] for end in ends if len(end.elts) in {2, 4, 5}]
        used = Counter(n.id for n in every if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
        used.subtract(info.id for info in infos if isinstance(info, ast.Name))
        infos += [
            n.value
            for n in every
            if isinstance(n, ast.Assign)
            and isinstance(n.targets[0], ast.Name)
            and used.get(n.targets[0].id) == 0
        ]
        unused += [info for info in infos if isinstance(info, ast.Call)]
    return skipped | {id(call.func) for call in unused}
