"""Analyse names in a function's syntax tree: local names, calls with unused results, comparisons that end episodes."""

from __future__ import annotations

import ast
import functools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from promptpo.spec.code_files import Definition

DRAWING = re.compile(r"_*(?:render|close)(?:_|$)")
"""Rendering methods, if their return value is unused."""

IF_DRAWN = re.compile(r"(?:\w+\.)*_?render_mode\b(?! is None| !=| not in)")
"""Conditions that hold only with a render mode, which a run never sets."""

LOGGING = re.compile(r"(?:.*\.)?_*(?:log|logger|logging|warnings?|print)(?:[._]|$)")
"""Logging calls, if their return value is unused."""


@functools.lru_cache(maxsize=10_000)
def nodes_of(node: ast.AST) -> tuple[ast.AST, ...]:
    """Return all nodes of a tree, root first; cached because each definition is walked several times."""
    return tuple(ast.walk(node))


def bound_names(node: ast.stmt) -> set[str]:
    """Return the local names of a function."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return set()
    shared = {name for child in nodes_of(node) if isinstance(child, ast.Global) for name in child.names}
    stored = {n.id for n in nodes_of(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return (stored | {n.arg for n in nodes_of(node) if isinstance(n, ast.arg)}) - shared


RETURNED = {"reset": {2}, "step": {4, 5}}
"""Possible lengths of the tuples that these methods return; ``info`` is the last element."""


def name_of(node: ast.AST) -> str:
    """Return the identifier of a name or attribute node; empty for other nodes."""
    return str(getattr(node, "id", getattr(node, "attr", "")))


def _find_returned_values(node: ast.stmt) -> list[list[ast.expr]]:
    """Return the elements of each tuple that a step or reset returns literally."""
    sizes = RETURNED.get(getattr(node, "name", ""), set())
    ends = (n.value for n in nodes_of(node) if isinstance(n, ast.Return))
    return [end.elts for end in ends if isinstance(end, ast.Tuple) and len(end.elts) in sizes]


def find_beside_reward(node: ast.stmt) -> set[int]:
    """Return ids of nodes that rewards, endings and the observation do not depend on; empty if a step has no literal return."""
    ends, every = _find_returned_values(node), nodes_of(node)
    stored = [
        (n, {name_of(m) for m in nodes_of(n) if isinstance(getattr(m, "ctx", None), ast.Store)})
        for n in every
        if isinstance(n, ast.stmt)
    ]
    leading, wanted = set[int](), {""}
    ahead: list[ast.AST] = [part for end in ends for part in end[1:-1]]
    ahead += [
        n.test for n in every if isinstance(n, ast.If) and any(isinstance(m, ast.Return) for m in nodes_of(n))
    ]
    while ahead:
        inner = nodes_of(ahead.pop())
        leading |= {*map(id, inner)}
        new = {*map(name_of, inner)} - wanted
        wanted |= new
        for statement, names in stored:
            if new & names:
                ahead += [n for n in ast.iter_child_nodes(statement) if not isinstance(n, ast.stmt)]
    for end in ends:
        local = {n.id for n in nodes_of(end[0]) if isinstance(n, ast.Name)}
        given = [n.value for n, names in stored if isinstance(n, ast.Assign) and local & names]
        leading |= {id(n) for part in (end[0], *given) for n in nodes_of(part)}
    return {*map(id, every)} - leading if ends or getattr(node, "name", "") == "reset" else set()


def find_unused(node: ast.stmt, *, of_environment: bool) -> set[int]:
    """Return the ids of nodes that only render: rendering calls and branches, and calls that only fill ``info``."""
    every = nodes_of(node)
    drawn = (n.body for n in every if isinstance(n, ast.If) and IF_DRAWN.match(ast.unparse(n.test)))
    skipped = {id(n) for body in drawn for statement in body for n in nodes_of(statement)}
    calls = [n.value for n in every if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)]
    unused = [call for call in calls if DRAWING.match(ast.unparse(call.func).rpartition(".")[2])]
    if of_environment:
        infos = [end[-1] for end in _find_returned_values(node)]
        used = Counter(n.id for n in every if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
        used.subtract(getattr(info, "id", "") for info in infos)
        given = [n for n in every if isinstance(n, ast.Assign)]
        infos += [n.value for n in given if used.get(getattr(n.targets[0], "id", ""), 1) == 0]
        unused += [info for info in infos if isinstance(info, ast.Call)]
    return skipped | {id(call.func) for call in unused}


def is_flag_set(test: ast.expr, flags: Callable[[str], bool | None]) -> bool | None:
    """Evaluate a condition under known boolean settings; None if they do not decide it."""
    match test:
        case ast.Name() | ast.Attribute():
            return flags(name_of(test))
        case ast.UnaryOp(ast.Not(), inner):
            held = is_flag_set(inner, flags)
            return None if held is None else not held
        case ast.BoolOp(ast.And(), parts) if any(is_flag_set(part, flags) is False for part in parts):
            return False
    return None


def find_idle(node: ast.stmt, flags: Callable[[str], bool | None]) -> set[int]:
    """Return the ids of nodes that never run under this environment's settings, or that only log."""
    idle = list[ast.AST]()
    for n in nodes_of(node):
        match n:
            case ast.If(test, body, orelse) | ast.IfExp(test, body, orelse):
                held = is_flag_set(test, flags)
                unused: Any = () if held is None else orelse if held else body
                idle += [unused] if isinstance(unused, ast.expr) else unused
            case ast.Expr(ast.Call(func)) if LOGGING.match(ast.unparse(func)):
                idle.append(n)
    return {id(inner) for n in idle for inner in nodes_of(n)}


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
            case ast.IfExp(test, ast.Constant(True), ast.Constant(False)):
                ahead.append((test, function))
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
        case ast.Return(ast.Call(args=[_, _, terminated, truncated, _])) if owner == name:  # a named tuple
            return [terminated, truncated]
        case ast.Return(ast.expr() as value) if owner == name:
            return [value]
        case ast.Assign(value=value) | ast.AugAssign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            stored = {name_of(n) for n in nodes_of(node) if isinstance(getattr(n, "ctx", None), ast.Store)}
            return [value] if name in stored else []
    return []
