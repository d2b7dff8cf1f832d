"""Fewer words for the same code: names that only copy others, and small functions that are called once, disappear."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LONGEST = 90
"""Characters of an expression that takes the place of a call."""


def simplified(functions: Sequence[ast.FunctionDef]) -> list[ast.FunctionDef]:
    """The same functions, the first of which is the entry, with less ado; what they compute stays the same."""
    found = copy.deepcopy(list(functions))
    while True:
        before = [ast.dump(function) for function in found]
        for function in found:
            _drop_copies(function)
            _return_at_once(function)
        found = _without_small(found)
        found = _spliced(found)
        if [ast.dump(function) for function in found] == before:
            return [ast.fix_missing_locations(function) for function in found]


def _stores(function: ast.FunctionDef) -> Counter[str]:
    stored = [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return Counter([*stored, *(arg.arg for arg in ast.walk(function.args) if isinstance(arg, ast.arg))])


class _Renamed(ast.NodeTransformer):
    """Names replaced by expressions where they are read."""

    def __init__(self, names: Mapping[str, ast.expr]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if isinstance(node.ctx, ast.Load) and node.id in self._names:
            return copy.deepcopy(self._names[node.id])
        return node


def _drop_copies(function: ast.FunctionDef) -> None:
    """``costs = ctrl_cost`` goes, and what reads the one reads the other."""
    stores = _stores(function)
    names: dict[str, ast.expr] = {}
    body: list[ast.stmt] = []
    for statement in function.body:
        pair = _copied(statement)
        if pair and stores[pair[0].id] == 1 and stores[pair[1].id] == 1:
            names[pair[0].id] = names.get(pair[1].id, pair[1])
        else:
            body.append(statement)
    if names and body:
        function.body = body
        _Renamed(names).visit(function)


def _copied(statement: ast.stmt) -> tuple[ast.Name, ast.Name] | None:
    """The names of ``costs = ctrl_cost``; None for any other statement."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return None
    target, value = statement.targets[0], statement.value
    return (target, value) if isinstance(target, ast.Name) and isinstance(value, ast.Name) else None


def _return_at_once(function: ast.FunctionDef) -> None:
    """``x = value; return x`` is ``return value``."""
    *_, last = function.body
    before = function.body[-2] if len(function.body) > 1 else None
    if (
        isinstance(last, ast.Return)
        and isinstance(last.value, ast.Name)
        and isinstance(before, ast.Assign)
        and ast.unparse(before.targets[0]) == last.value.id
        and len(before.targets) == 1
    ):
        function.body[-2:] = [ast.Return(before.value)]


def _calls(functions: Sequence[ast.FunctionDef], name: str) -> list[ast.Call]:
    return [
        node
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    ]


def _mentions(functions: Sequence[ast.FunctionDef], name: str) -> int:
    return sum(isinstance(n, ast.Name) and n.id == name for f in functions for n in ast.walk(f))


def _arguments(function: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr] | None:
    """Parameter to argument; None where they do not match one to one."""
    arguments = function.args
    if arguments.vararg or arguments.kwarg or any(isinstance(item, ast.Starred) for item in call.args):
        return None
    names = [arg.arg for arg in (*arguments.args, *arguments.kwonlyargs)]
    given = dict(zip(names, call.args, strict=False)) | {k.arg: k.value for k in call.keywords if k.arg}
    complete = set(given) == set(names) and len(call.args) + len(call.keywords) == len(names)
    return given if complete else None


class _Inlined(ast.NodeTransformer):
    """Calls of one function replaced by what it returns."""

    def __init__(self, function: ast.FunctionDef, value: ast.expr) -> None:
        self._function, self._value = function, value

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Name) or node.func.id != self._function.name:
            return node
        given = _arguments(self._function, node)
        return node if given is None else _Renamed(given).visit(copy.deepcopy(self._value))


def _without_small(functions: Sequence[ast.FunctionDef]) -> list[ast.FunctionDef]:
    """Functions that return one short expression stand where they are called, if that is one place."""
    entry, *others = functions
    for function in others:
        only = function.body[0]
        rest = [f for f in functions if f is not function]
        calls = _calls(rest, function.name)
        if (
            len(function.body) > 1
            or not isinstance(only, ast.Return)
            or only.value is None
            or len(calls) != 1
        ):
            continue
        given = _arguments(function, calls[0])
        free = {n.id for n in ast.walk(only.value) if isinstance(n, ast.Name)} - set(given or {})
        taken = set().union(*(_stores(f) for f in rest))
        simple = given is not None and all(
            isinstance(v, ast.Name | ast.Constant | ast.Attribute) for v in given.values()
        )
        if (
            not simple
            or free & taken
            or len(ast.unparse(only.value)) > LONGEST
            or _mentions(rest, function.name) > 1
        ):
            continue
        for one in rest:
            _Inlined(function, only.value).visit(one)
        return rest
    return [entry, *others]


def _spliced(functions: Sequence[ast.FunctionDef]) -> list[ast.FunctionDef]:
    """An entry that ends by returning what another function makes of the same names goes on with that one's body."""
    entry, *others = functions
    last = entry.body[-1]
    call = last.value if isinstance(last, ast.Return) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return list(functions)
    called = next((f for f in others if f.name == call.func.id), None)
    if called is None or _mentions(functions, called.name) > 1:
        return list(functions)
    given = _arguments(called, call)
    same = given is not None and all(isinstance(v, ast.Name) and v.id == k for k, v in given.items())
    own = {name for name in _stores(called) if name not in (given or {})}
    if not same or own & set(_stores(entry)):
        return list(functions)
    entry.body[-1:] = called.body
    return [entry, *(f for f in others if f is not called)]
