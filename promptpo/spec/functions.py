"""The functions of an environment that compute its reward or tell the end, and what they read and change."""

from __future__ import annotations

import ast
import builtins
import contextlib
import enum
import inspect
import math
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import gymnasium
import numpy as np

from promptpo.spec.known import evaluated
from promptpo.spec.names import CHANGING, is_fixed, locals_of, stored_in

DEEPEST = 4
"""Functions that call one another on the way to the one that computes the result."""

LONG = 10
"""Characters from which on a number is rounded to six digits."""

SHORT = 40
"""Characters of a constant that is written out."""

OPERATING = (
    ast.Constant,
    ast.BinOp,
    ast.Compare,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Subscript,
    ast.Tuple,
    ast.List,
)
"""What is constant where all its parts are."""

DRAWS = re.compile(r"np_random|\brandom\b|\brng\b|^super\(")
"""Calls that may not be made twice."""


@dataclass(frozen=True, slots=True)
class Level:
    """A function of the environment that gives what is looked for.

    Attributes:
        node: Its syntax tree, with constants as numbers, without branches that cannot run and without its object's argument.
        code: Its code object.
        names: Its module's names.
        me: What it calls its own object; empty where it is no method.
        owner: That object.
        path: How the environment reaches it, from "env" on.
        index: Which element of the returned tuple is meant; None: all that is returned.
    """

    node: ast.FunctionDef
    code: CodeType
    names: Mapping[str, Any]
    me: str
    owner: Any
    path: str
    index: int | None = None

    @property
    def arguments(self) -> list[str]:
        """Their names, without its object's."""
        return [n.arg for n in ast.walk(self.node.args) if isinstance(n, ast.arg)]

    def result(self, value: ast.expr | None) -> ast.expr | None:
        """The part of a returned expression that is meant; None where it cannot be told apart."""
        if self.index is None or value is None:
            return value
        if isinstance(value, ast.Tuple) and self.index < len(value.elts):
            return value.elts[self.index]
        return None


def function_of(call: Any, path: str, index: int | None = None) -> Level | None:
    """A function or bound method with its source; None where it has none."""
    owner = call.__self__ if isinstance(call, MethodType) else None
    plain = inspect.unwrap(call.__func__ if isinstance(call, MethodType) else call)
    if not isinstance(plain, FunctionType):
        return None
    held = [cell.cell_contents for cell in plain.__closure__ or ()]
    inner = [one for one in held if isinstance(one, FunctionType) and hasattr(owner, one.__name__)]
    plain = inner[0] if len(inner) == 1 else plain  # what a decorator without a note of it calls
    try:
        node = ast.parse(textwrap.dedent(_source(plain))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    if not isinstance(node, ast.FunctionDef):
        return None
    me = node.args.args.pop(0).arg if owner is not None and node.args.args else ""
    for one in (n for n in ast.walk(node.args) if isinstance(n, ast.arg)):
        one.annotation = None
    level = Level(node, plain.__code__, plain.__globals__, me, owner, path, index)
    _Constants(level).visit(node)
    return level


_source = cache(inspect.getsource)


def levels_of(env: gymnasium.Env[Any, Any], index: int) -> list[Level]:
    """``step`` and the functions below it that it leaves an element of its result to, innermost first."""
    found: list[Level] = []
    level = function_of(env.step, "env", index)
    while level is not None and len(found) < DEEPEST:
        found.insert(0, level)
        level = next(_below(level), None)
    return found


def results_of(level: Level) -> list[ast.expr]:
    """What a function returns of what is meant, at each of its ends."""
    returned = [level.result(n.value) for n in ast.walk(level.node) if isinstance(n, ast.Return)]
    return [one for one in returned if one is not None]


def _below(level: Level) -> Iterator[Level]:
    """Functions that a level takes its result from as it is."""
    for returned in (n for n in ast.walk(level.node) if isinstance(n, ast.Return)):
        value, index = level.result(returned.value), None
        if value is None:
            value, index = returned.value, level.index
        given = list(_assigned(level.node, value.id)) if isinstance(value, ast.Name) else [(value, index)]
        for call, at in given if len(given) == 1 else ():
            found = called(level, call, at) if isinstance(call, ast.Call) else None
            if found is not None:
                yield found


def _assigned(node: ast.AST, name: str) -> Iterator[tuple[ast.expr | None, int | None]]:
    """What a name is assigned, and which element of it."""
    for one in ast.walk(node):
        if isinstance(one, ast.Assign) and name in stored_in(one):
            names = list(map(ast.unparse, getattr(one.targets[0], "elts", ())))
            yield one.value, names.index(name) if name in names else None
        elif isinstance(one, ast.AugAssign | ast.AnnAssign | ast.For) and name in stored_in(one.target):
            yield None, None


def called(level: Level, call: ast.Call, index: int | None = None) -> Level | None:
    """The function that a call within a level calls; None where it is not known or not Python."""
    found = value_of(level, call.func)
    if not isinstance(found, MethodType | FunctionType):
        return None
    base = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else level.me
    owned = isinstance(found, MethodType)
    return function_of(found, re.sub(rf"^{level.me}\b", level.path, base) if owned else level.path, index)


def is_clear(found: Level, helpers: dict[str, Level], depth: int = 0) -> bool:
    """Whether a function changes and draws nothing, so that it may run once more.

    Args:
        found: The function.
        helpers: It is put into these by its name, with the functions that it calls.
        depth: Functions above it.
    """
    changes = any("." in name or found.me == name for name in stored_in(found.node))
    known = helpers.setdefault(found.node.name, found)
    if depth > DEEPEST or changes or known.code is not found.code:
        return False
    return (depth > 0 and known is not found) or calls_are_clear(found, found.node, helpers, depth + 1)


def calls_are_clear(level: Level, tree: ast.AST, helpers: dict[str, Level], depth: int = 0) -> bool:
    """Whether the calls within a tree, and properties that it reads, may run once more; the functions go into `helpers`."""
    inner = list(ast.walk(tree))
    for node in (n for n in inner if isinstance(n, ast.Attribute) and ast.unparse(n.value) == level.me):
        own = inspect.getattr_static(type(level.owner), node.attr, None)
        getter: Any = own.fget if isinstance(own, property) else None
        found = function_of(getter.__get__(level.owner), level.path) if getter is not None else None
        if found is not None and node.attr not in helpers and is_clear(found, trying := dict(helpers), depth):
            helpers.update(trying)
    return all(_call_is_clear(level, n, helpers, depth) for n in inner if isinstance(n, ast.Call))


def _call_is_clear(level: Level, call: ast.Call, helpers: dict[str, Level], depth: int) -> bool:
    text = ast.unparse(call.func)
    if DRAWS.search(text):
        return False
    target = value_of(level, call.func)
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if not isinstance(getattr(target, "__func__", target), FunctionType):
        own = target is None and re.split(r"[.\[(]", text)[0] in locals_of(level.node)
        return method not in CHANGING or own
    if target.__module__.split(".")[0] in {"numpy", "math"}:
        return True
    found = called(level, call)
    return found is not None and is_clear(found, helpers, depth)


def value_of(level: Level, expression: ast.expr) -> Any:
    """What a chain of attributes of a level's object or module stands for now; None where it is no such thing."""
    if isinstance(expression, ast.Name):
        if expression.id == level.me:
            return level.owner
        local = expression.id in locals_of(level.node)
        return None if local else level.names.get(expression.id, getattr(builtins, expression.id, None))
    if not isinstance(expression, ast.Attribute):
        return None
    try:
        return getattr(value_of(level, expression.value), expression.attr, None)
    except Exception:  # noqa: BLE001 - a property of a foreign class: anything can come out of it
        return None


class _Constants(ast.NodeTransformer):
    """Constants by their values, and of a condition that they decide the branch that runs."""

    def __init__(self, level: Level) -> None:
        self._level = level

    def visit(self, node: ast.AST) -> Any:
        """The node, or what it comes to."""
        level, value = self._level, None
        if self._is_fixed(node) and not isinstance(node, ast.Constant):
            with contextlib.suppress(Exception):  # of a foreign class: anything can come out of it
                value = evaluated(ast.unparse(node), level.names, {level.me: level.owner})
        if (literal := _literal(value)) is not None:
            return literal
        if not isinstance(node, ast.JoinedStr):  # not every text can stand in one
            self.generic_visit(node)
        if isinstance(node, ast.If | ast.IfExp) and isinstance(node.test, ast.Constant):
            return (node.body if node.test.value else node.orelse) or None
        if isinstance(node, ast.BoolOp):
            neutral = isinstance(node.op, ast.And)
            values = {
                one: getattr(one, "value", None) for one in node.values if isinstance(one, ast.Constant)
            }
            if any(bool(value) != neutral for value in values.values()):
                return ast.Constant(not neutral)
            rest = [one for one in node.values if one not in values] or [ast.Constant(neutral)]
            return rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
        return node

    def _is_fixed(self, node: ast.AST) -> bool:
        level = self._level
        if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            return False
        if isinstance(node, OPERATING):
            return all(self._is_fixed(one) for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr))
        if isinstance(node, ast.Name):
            return node.id == level.me or (node.id in level.names and node.id not in locals_of(level.node))
        if not isinstance(node, ast.Attribute) or not self._is_fixed(node.value):
            return False
        owner = value_of(level, node.value)
        static = inspect.getattr_static(owner, node.attr, None)
        kept = node.attr in getattr(owner, "__dict__", {}) or isinstance(
            static, int | float | str | dict | list | tuple
        )
        plain = owner is not np and owner is not math
        return plain and (isinstance(owner, ModuleType) or (kept and is_fixed(owner, node.attr)))


def _literal(value: Any) -> ast.expr | None:
    """A constant as it is written; None for what is none, or long."""
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(plain, bool | int | float | str | tuple | list) or len(str(plain)) >= SHORT:
        return None
    text = repr(int(plain) if isinstance(plain, enum.IntEnum) else plain)
    text = f"{plain:.6g}" if isinstance(plain, float) and len(text) > LONG else text
    text = text if isinstance(plain, str) else re.sub(r"\b(inf|nan)\b", r"np.\1", text)
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
