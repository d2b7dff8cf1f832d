"""The function of an environment that makes a step, what it calls, and what that reads and changes."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import CodeType, FunctionType, MethodType
from typing import Any

import gymnasium

from promptpo.spec.known import evaluated
from promptpo.spec.names import CHANGING, is_fixed, locals_of, read_in, stored_in

DEEPEST = 4
"""Functions that hand a step on to one another."""

DRAWS = re.compile(r"np_random|\brandom\b|\brng\b|^super\(")
"""Calls that may not be made twice."""


@dataclass(frozen=True, slots=True)
class Level:
    """A function of the environment.

    Attributes:
        node: Its syntax tree, without branches that cannot run and without its object's argument.
        code: Its code object.
        names: Its module's names.
        me: What it calls its own object; empty where it is no method.
        owner: That object.
        path: How the environment reaches it, from "env" on.
    """

    node: ast.FunctionDef
    code: CodeType
    names: Mapping[str, Any]
    me: str
    owner: Any
    path: str

    @property
    def arguments(self) -> list[str]:
        """Their names, without its object's."""
        return [n.arg for n in ast.walk(self.node.args) if isinstance(n, ast.arg)]


def function_of(call: Any, path: str) -> Level | None:
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
    level = Level(node, plain.__code__, plain.__globals__, me, owner, path)
    _Branches(level).visit(node)
    return level


_source = cache(inspect.getsource)


def step_of(env: gymnasium.Env[Any, Any]) -> Level | None:
    """``step``, or the function that it hands all on to; None where it has no source."""
    level = function_of(env.step, "env")
    for _ in range(DEEPEST):
        ends = [] if level is None else returns_of(level.node)
        below = called(level, ends[0]) if level is not None and len(ends) == 1 else None
        level = level if below is None else below
    return level


def returns_of(tree: ast.AST) -> list[ast.expr | None]:
    """What a function returns at each of its ends."""
    return [n.value for n in ast.walk(tree) if isinstance(n, ast.Return)]


def called(level: Level, call: ast.AST | None) -> Level | None:
    """The function that a call within a level calls; None where it is not known or not Python."""
    found = value_of(level, call.func) if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or not isinstance(found, MethodType | FunctionType):
        return None
    base = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else level.me
    owned = isinstance(found, MethodType)
    return function_of(found, re.sub(rf"^{level.me}\b", level.path, base) if owned else level.path)


def helpers_of(level: Level, tree: ast.AST, known: Mapping[str, Level]) -> dict[str, Level] | None:
    """Functions that a tree calls and properties that it reads, by name, with those below them.

    Args:
        level: Where the tree stands.
        tree: Some of its code.
        known: Functions that are looked at already; they are among the result.

    Returns:
        None where a call may not run once more: it draws, or changes something.
    """
    found = dict(known)
    for node in ast.walk(tree):
        call = node if isinstance(node, ast.Call) else None
        if call is not None and _is_library(level, call):
            continue
        one = called(level, node) if call is not None else _getter(level, node)
        name = one.node.name if one is not None else ""
        if one is None or name in found:
            clear = one is not None and found[name].code is one.code
        else:
            changes = any("." in stored or stored == one.me for stored in stored_in(one.node))
            below = None if changes else helpers_of(one, one.node, found | {name: one})
            clear, found = below is not None, below or found
        if call is not None and not (clear and not DRAWS.search(ast.unparse(call.func))):
            return None
    return found


def _is_library(level: Level, call: ast.Call) -> bool:
    """Whether a call is of nothing that is written in Python, but for numpy, and does not change its object by its name."""
    target, text = value_of(level, call.func), ast.unparse(call.func)
    plain = getattr(target, "__func__", target)
    if isinstance(plain, FunctionType):
        return str(plain.__module__).split(".")[0] in {"numpy", "math"} and not DRAWS.search(text)
    own = target is None and re.split(r"[.\[(]", text)[0] in locals_of(level.node)
    return not DRAWS.search(text) and (own or text.rpartition(".")[2] not in CHANGING)


def _getter(level: Level, node: ast.AST) -> Level | None:
    """The function behind a property of a level's object."""
    if not isinstance(node, ast.Attribute) or ast.unparse(node.value) != level.me:
        return None
    own: Any = inspect.getattr_static(type(level.owner), node.attr, None)
    if not isinstance(own, property) or own.fget is None:
        return None
    return function_of(own.fget.__get__(level.owner), level.path)


def value_of(level: Level, expression: ast.expr) -> Any:
    """What a chain of attributes of a level's object or module stands for now; None where it is no such thing."""
    root = expression
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or (root.id != level.me and root.id in locals_of(level.node)):
        return None
    try:
        return evaluated(ast.unparse(expression), level.names, {level.me: level.owner})
    except Exception:  # noqa: BLE001 - a property of a foreign class: anything can come out of it
        return None


class _Branches(ast.NodeTransformer):
    """Of a condition that constants decide the branch that runs."""

    def __init__(self, level: Level) -> None:
        self._level = level

    def visit_If(self, node: ast.If) -> Any:
        """What runs, where it is known."""
        self.generic_visit(node)
        holds = self._decided(node.test)
        runs = node if holds is None else node.body if holds else node.orelse
        return runs or ast.copy_location(ast.Pass(), node)

    def _decided(self, test: ast.expr) -> bool | None:
        me, owner = self._level.me, self._level.owner
        kept = {f"{me}.{name}": value for name, value in getattr(owner, "__dict__", {}).items()}
        fixed = all(
            isinstance(kept.get(one), bool | int | float | str | dict) and is_fixed(owner, one.split(".")[1])
            for one in read_in(test, me)
        )
        if not fixed or any(isinstance(n, ast.Call) for n in ast.walk(test)):
            return None
        try:
            return bool(evaluated(ast.unparse(test), {me: owner}))
        except Exception:  # noqa: BLE001 - of a foreign class: anything can come out of it
            return None
