"""The source of an environment's methods, as syntax trees, and the constants that occur in it."""

from __future__ import annotations

import ast
import inspect
import math
import re
import sys
import textwrap
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from promptpo.envs.family import differing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_LITERAL = 12
"""Longest sequence that is written out as a constant."""

SETTINGS = "config"
"""An attribute of highway-env that holds settings, and is assigned by a method rather than a constructor."""

CHANGING = frozenset({"append", "extend", "insert", "add", "update", "clear", "remove", "discard", "pop"})
"""Methods that change a collection in place, which is an assignment to it."""

SIMULATORS = (
    "gymnasium.envs.mujoco.mujoco_env",
    "gymnasium_robotics.envs.robot_env",
    "metaworld.sawyer_xyz_env",
    "highway_env.envs.common.abstract",
)
"""Modules whose classes are about simulating, and document no task."""


@dataclass(frozen=True, slots=True)
class Method:
    """A function as it stands in the source.

    Attributes:
        node: Its syntax tree, a copy.
        names: The module's names, which it may use.
        owner: The object whose method it is; None for a plain function.
    """

    node: ast.FunctionDef
    names: Mapping[str, Any]
    owner: Any = None

    @property
    def body(self) -> list[ast.stmt]:
        """Its statements but for the documentation."""
        first, *rest = self.node.body
        return (
            rest if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) else [first, *rest]
        )

    @property
    def summary(self) -> str:
        """The first line of its documentation."""
        return first_line(ast.get_docstring(self.node))


def first_line(text: str | None) -> str:
    """The first line of a text, without its full stop."""
    return text.strip().splitlines()[0].rstrip(".") if text and text.strip() else ""


def method_of(function: Any, owner: Any = None) -> Method | None:
    """The source of a function, method or property; None where it cannot be read."""
    if isinstance(function, property):
        function = function.fget
    owner = getattr(function, "__self__", owner)
    plain = inspect.unwrap(getattr(function, "__func__", function))
    if not inspect.isfunction(plain):
        return None
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(plain)))
    except (OSError, TypeError, SyntaxError):
        return None
    node = tree.body[0]
    return Method(node, plain.__globals__, owner) if isinstance(node, ast.FunctionDef) else None


def own_source(env: gymnasium.Env[Any, Any], most: int) -> str:
    """The class's own ``step`` and ``reset`` as they stand, and what they call of the class and its module.

    Args:
        env: The unwrapped environment.
        most: Characters; what does not fit is left out whole and named.
    """
    waiting = ["step", "reset", "__init__"]
    shown: dict[str, str] = {}
    left: list[str] = []
    room = most
    while waiting:
        name = waiting.pop(0)
        if name in shown or name in left:
            continue
        module = sys.modules.get(type(env).__module__)
        target = inspect.getattr_static(type(env), name, None)
        function = target if target is not None else vars(module).get(name) if module else None
        function = getattr(function, "fget", None) or getattr(function, "__func__", function)
        home = getattr(inspect.unwrap(function), "__module__", "") if callable(function) else ""
        if not inspect.isroutine(function) or home.split(".")[0] != type(env).__module__.split(".")[0]:
            continue
        if home == "gymnasium.core":
            continue
        try:
            text = inspect.getsource(inspect.unwrap(function)).rstrip()
        except (OSError, TypeError):
            continue
        if len(text) > room:
            left.append(name)
            continue
        shown[name] = text
        room -= len(text)
        waiting += re.findall(r"\b(?:self\.)?(\w+)\(", text) + re.findall(r"\bself\.(\w+)\b", text)
    more = [f"# Not shown, for its length: {', '.join(left)}."] if left else []
    return "\n\n".join([*(textwrap.dedent(text) for text in shown.values()), *more])


def constant(owner: Any, name: str) -> Any:
    """The value of an attribute that nothing changes after construction.

    Raises:
        LookupError: It is changed somewhere, is missing, or is no short literal.
    """
    changing = name in _changing(type(owner)) and name != SETTINGS
    # what holds for one variant of a family is no constant of the family
    if changing or name.startswith("__") or (isinstance(owner, gymnasium.Env) and name in differing(owner)):
        raise LookupError(name)
    try:
        value = inspect.getattr_static(owner, name)
    except AttributeError:
        raise LookupError(name) from None
    if isinstance(value, property) and name == "dt":  # a simulator's step length
        value = getattr(owner, name)
    return literal(value)


@lru_cache(maxsize=64)
def _changing(cls: type[Any]) -> frozenset[str]:
    """Names of attributes that something other than a constructor assigns in the modules of a class."""
    modules = {sys.modules.get(one.__module__) for one in cls.__mro__} - {None, sys.modules["builtins"]}
    return frozenset(name for module in modules for name in _stored(_tree(module)))


@lru_cache(maxsize=64)
def _tree(module: Any) -> ast.Module | None:
    try:
        return ast.parse(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError):
        return None


def _stored(node: ast.AST | None) -> Iterator[str]:
    """Attributes assigned or changed in place anywhere below a node, constructors left out."""
    for child in ast.iter_child_nodes(node) if node is not None else ():
        if isinstance(child, ast.FunctionDef) and child.name == "__init__":
            continue
        target: ast.AST | None = child
        while isinstance(target, ast.Subscript):
            target = target.value  # env.x[i] = ... changes env.x
        if isinstance(target, ast.Attribute) and isinstance(getattr(child, "ctx", None), ast.Store):
            yield target.attr
        changed = changed_in_place(child)
        if isinstance(changed, ast.Attribute):
            yield changed.attr
        yield from _stored(child)


def changed_in_place(node: ast.AST) -> ast.expr | None:
    """The collection that a call such as ``self.done.append(task)`` changes; None for any other node."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
        return node.func.value
    return None


def literal(value: Any) -> Any:
    """A value as Python literals, with numpy numbers and short arrays turned into plain ones.

    Raises:
        LookupError: It is something else, or too long to be written out.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.size <= MAX_LITERAL:
        value = value.tolist()
    if isinstance(value, float):
        if math.isnan(value):
            raise LookupError(value)
        return float(f"{value:.8g}")
    if value is None or type(value) in {bool, int, str}:
        return value
    if type(value) in {tuple, list} and len(value) <= MAX_LITERAL:
        return type(value)(literal(item) for item in value)
    raise LookupError(value)
