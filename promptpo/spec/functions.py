"""The functions of an environment that compute its reward or tell the end, and what they read and change."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from types import CodeType, FunctionType, MethodType
from typing import Any

import gymnasium

from promptpo.envs.family import differing

DEEPEST = 4
"""Functions that call one another on the way to the one that computes the result."""

MOST_TREES = 4096
"""Trees whose names are remembered: a slice asks for those of one many times."""

CHANGING = {"step", "reset", "append", "extend", "pop", "remove", "clear", "update", "add", "seed", "popleft"}
"""Methods that change their object, whatever its class; of local names they are part of a slice."""

Function = ast.FunctionDef


@dataclass(frozen=True, slots=True)
class Level:
    """A function of the environment that gives, or sets, what is looked for.

    Attributes:
        node: Its syntax tree.
        code: Its code object.
        names: Its module's names.
        me: What it calls its own object; empty where it is no method.
        owner: That object.
        path: How the environment reaches it, from "env" on.
        home: The class that defines it.
        index: Which element of the returned tuple is meant; None: all that is returned.
        attribute: The attribute of the object that it sets instead.
    """

    node: Function
    code: CodeType
    names: Mapping[str, Any]
    me: str
    owner: Any
    path: str
    home: type[Any] | None
    index: int | None = None
    attribute: str = ""

    def key(self, name: str) -> str:
        """What a local name of it is noted under."""
        return f"{self.path}.{self.node.name}:{name}"

    def result(self, value: ast.expr | None) -> ast.expr | None:
        """The part of a returned expression that is meant; None where it cannot be told apart."""
        if self.attribute:
            return ast.Attribute(ast.Name(self.me, ast.Load()), self.attribute, ast.Load())
        if self.index is None or value is None:
            return value
        if isinstance(value, ast.Tuple) and self.index < len(value.elts):
            return value.elts[self.index]
        return None


def arguments_of(level: Level) -> set[str]:
    """The names of a function's arguments, its object included."""
    return {n.arg for n in ast.walk(level.node.args) if isinstance(n, ast.arg)}


def results_of(level: Level) -> list[ast.expr]:
    """What a function returns of what is meant, at each of its ends."""
    returned = [level.result(n.value) for n in ast.walk(level.node) if isinstance(n, ast.Return)]
    return [one for one in returned if one is not None]


def function_of(
    call: Any, path: str, index: int | None = None, attribute: str = "", home: type[Any] | None = None
) -> Level | None:
    """A function or bound method with its source; None where it has none."""
    owner = call.__self__ if isinstance(call, MethodType) else None
    plain = inspect.unwrap(call.__func__ if isinstance(call, MethodType) else call)
    if not isinstance(plain, FunctionType):
        return None
    held = [cell.cell_contents for cell in plain.__closure__ or ()]
    inner = [one for one in held if isinstance(one, FunctionType) and hasattr(owner, one.__name__)]
    plain = inner[0] if len(inner) == 1 else plain  # what a decorator without a note of it calls
    try:
        node = ast.parse(textwrap.dedent(inspect.getsource(plain))).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    if not isinstance(node, ast.FunctionDef):
        return None
    me = node.args.args[0].arg if owner is not None and node.args.args else ""
    classes = type(owner).__mro__ if owner is not None else ()
    home = home or next((one for one in classes if plain.__name__ in vars(one)), None)
    return Level(node, plain.__code__, plain.__globals__, me, owner, path, home, index, attribute)


def levels_of(env: gymnasium.Env[Any, Any], index: int) -> list[Level]:
    """``step`` and the functions below it that compute the element of its result, outermost first."""
    found: list[Level] = []
    level = function_of(env.step, "env", index)
    while level is not None and len(found) < DEEPEST:
        found.append(level)
        level = next(_below(level), None)
    return found


def _below(level: Level) -> Iterator[Level]:
    """Functions that a level takes its result from."""
    for returned in (n for n in ast.walk(level.node) if isinstance(n, ast.Return)):
        value, index = level.result(returned.value), None
        if value is None:
            value, index = returned.value, level.index
        if isinstance(value, ast.Attribute) and ast.unparse(value.value) == level.me:
            yield from _setting(level, value.attr)
        for call, at in [(value, index), *_assigned_from(level.node, value)]:
            if isinstance(call, ast.Call) and (found := called(level, call, at)) is not None:
                yield found


def _assigned_from(node: Function, value: ast.expr | None) -> Iterator[tuple[ast.expr, int | None]]:
    for statement in (n for n in ast.walk(node) if isinstance(n, ast.Assign)):
        for target in statement.targets:
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            for at, part in enumerate(parts):
                if isinstance(value, ast.Name) and isinstance(part, ast.Name) and part.id == value.id:
                    yield statement.value, at if isinstance(target, ast.Tuple) else None


def _setting(level: Level, attribute: str) -> Iterator[Level]:
    """Methods, called by a level on its own object, that set an attribute."""
    for call in (n for n in ast.walk(level.node) if isinstance(n, ast.Call)):
        found = called(level, call, None)
        if found is None or found.owner is not level.owner or found.code is level.code:
            continue
        if f"{found.me}.{attribute}" in stored_in(found.node):
            yield Level(
                found.node,
                found.code,
                found.names,
                found.me,
                found.owner,
                found.path,
                found.home,
                None,
                attribute,
            )


def called(level: Level, call: ast.Call, index: int | None) -> Level | None:
    """The function that a call within a level calls; None where it is not known or not Python."""
    function = call.func
    if isinstance(function, ast.Attribute) and ast.unparse(function.value).startswith("super("):
        order = list(type(level.owner).__mro__)
        rest = order[order.index(level.home) + 1 :] if level.home in order else []
        home = next((one for one in rest if function.attr in vars(one)), None)
        if home is None:
            return None
        return function_of(MethodType(vars(home)[function.attr], level.owner), level.path, index, home=home)
    found = value_of(level, function)
    if not isinstance(found, MethodType | FunctionType):
        return None
    path = level.path
    if isinstance(function, ast.Attribute) and isinstance(found, MethodType):
        path = re.sub(rf"^{level.me}\b", level.path, ast.unparse(function.value))
    return function_of(found, path, index)


def property_of(level: Level, node: ast.Attribute) -> Level | None:
    """The function behind an attribute of the own object that is computed."""
    if not level.me or ast.unparse(node.value) != level.me:
        return None
    own = inspect.getattr_static(type(level.owner), node.attr, None)
    getter = own.fget if isinstance(own, property) else None
    return function_of(getter.__get__(level.owner), level.path) if getter is not None else None


def value_of(level: Level, expression: ast.expr) -> Any:
    """What a chain of attributes of a level's object or module stands for now; None where it is no such thing."""
    if isinstance(expression, ast.Name):
        if expression.id == level.me and level.me:
            return level.owner
        local = expression.id in locals_of(level.node)
        return None if local else level.names.get(expression.id, getattr(builtins, expression.id, None))
    if not isinstance(expression, ast.Attribute):
        return None
    base = value_of(level, expression.value)
    try:
        return None if base is None else getattr(base, expression.attr, None)
    except Exception:  # noqa: BLE001 - a property of a foreign class: anything can come out of it
        return None


@lru_cache(maxsize=MOST_TREES)
def locals_of(node: Function) -> frozenset[str]:
    """The names that a function assigns, its arguments included."""
    names = frozenset(
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    )
    return names | {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}


@lru_cache(maxsize=MOST_TREES)
def stored_in(node: ast.AST) -> frozenset[str]:
    """Names and attributes that a tree assigns, deletes, or changes in place by an index or a method."""
    found = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name | ast.Attribute) and not isinstance(inner.ctx, ast.Load):
            found.add(ast.unparse(inner))
        elif isinstance(inner, ast.Subscript) and not isinstance(inner.ctx, ast.Load):
            found.add(ast.unparse(root_of(inner)))
        elif (
            isinstance(inner, ast.Call)
            and isinstance(inner.func, ast.Attribute)
            and inner.func.attr in CHANGING
        ):
            found.add(ast.unparse(inner.func.value))
    return frozenset(found)


def root_of(node: ast.expr) -> ast.expr:
    """What is indexed."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


@lru_cache(maxsize=MOST_TREES)
def read_in(node: ast.AST, me: str) -> frozenset[str]:
    """Names and attributes of the own object that a tree reads."""
    found = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.AugAssign):
            found.add(ast.unparse(root_of(inner.target)))
        elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner.id != me:
            found.add(inner.id)
        elif (
            isinstance(inner, ast.Attribute)
            and ast.unparse(inner.value) == me
            and isinstance(inner.ctx, ast.Load)
        ):
            found.add(ast.unparse(inner))
    return frozenset(found)


def is_fixed(owner: Any, name: str) -> bool:
    """Whether an attribute of an object is a constant: set by nothing but its construction, the same in all variants."""
    varies = isinstance(owner, gymnasium.Env) and name in differing(owner)
    kind: Any = type(owner)
    return name not in changed_attributes(kind) and not varies


@cache
def changed_attributes(cls: Any) -> frozenset[str]:
    """Attributes that the methods of a class assign or change after construction."""
    found: set[str] = set()
    for base in cls.__mro__[:-1]:
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(base)))
        except (OSError, TypeError, SyntaxError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name not in {"__init__", "configure"}:
                found |= {name.split(".")[1] for name in stored_in(node) if name.count(".") >= 1}
    return frozenset(found)
