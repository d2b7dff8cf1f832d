"""Names in the syntax tree of a function: which it binds, which it calls for nothing."""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Iterator

DRAWING = re.compile(r"_*(?:render|close)(?:_|$)")
"""Methods that draw, where nothing asks for what they return."""


def bound_names(node: ast.stmt) -> set[str]:
    """Names that a function binds itself."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return set()
    shared = {name for child in ast.walk(node) if isinstance(child, ast.Global) for name in child.names}
    stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return (stored | {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}) - shared


def without_annotations(node: ast.AST) -> Iterator[ast.AST]:
    """All of a tree but for annotations, which nothing runs."""
    waiting = deque([node])
    while waiting:
        child = waiting.popleft()
        yield child
        for name, value in ast.iter_fields(child):
            if name in {"annotation", "returns"}:
                continue
            waiting.extend(
                n for n in (value if isinstance(value, list) else [value]) if isinstance(n, ast.AST)
            )


def find_unused_calls(node: ast.stmt) -> set[int]:
    """Of a function: what is called to draw, or for an ``info`` that nothing else reads."""
    drawn = {
        id(child.value.func)
        for child in ast.walk(node)
        if isinstance(child, ast.Expr)
        and isinstance(child.value, ast.Call)
        and DRAWING.match(getattr(child.value.func, "attr", getattr(child.value.func, "id", "")))
    }
    ends = [n.value for n in ast.walk(node) if isinstance(n, ast.Return) and isinstance(n.value, ast.Tuple)]
    infos = [end.elts[-1] for end in ends if len(end.elts) in {2, 4, 5}]
    if getattr(node, "name", "") not in {"step", "reset"}:
        return drawn
    names = {info.id for info in infos if isinstance(info, ast.Name)}
    given = [info for info in infos if isinstance(info, ast.Call)]
    for child in ast.walk(node):
        match child:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if name in names:
                uses = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name]
                told = [n for n in infos if isinstance(n, ast.Name) and n.id == name]
                if len(uses) == len(told) + 1:
                    given.append(call)
    return drawn | {id(call.func) for call in given}
