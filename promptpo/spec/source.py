"""The source of an environment's class, as syntax trees, and the constants that occur in it."""

from __future__ import annotations

import ast
import inspect
import math
import sys
import textwrap
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from promptpo.envs.family import differing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

Function = ast.FunctionDef

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
"""Modules whose classes are about simulating: their methods are named in a spec, not shown."""


@dataclass(frozen=True, slots=True)
class Method:
    """A method or property as it stands in the source.

    Attributes:
        node: Its syntax tree.
        module: Where it is defined.
        is_property: Whether it is read without a call.
    """

    node: Function
    module: ModuleType
    is_property: bool = False

    @property
    def summary(self) -> str:
        """The first line of its documentation."""
        return first_line(ast.get_docstring(self.node))


def first_line(text: str | None) -> str:
    """The first line of a text, without its full stop."""
    return text.strip().splitlines()[0].rstrip(".") if text and text.strip() else ""


class Source:
    """Reads the source of an environment that is already built.

    Args:
        env: The unwrapped environment.

    A class whose source cannot be read (typed at a prompt, compiled) has no methods here.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        self.env = env
        self._classes = [cls for cls in type(env).__mro__ if cls not in {object, gymnasium.Env}]
        self._definitions = [
            (definition, sys.modules[cls.__module__])
            for cls in self._classes
            if (definition := class_definition(cls)) is not None
        ]
        modules = {module for _, module in self._definitions}
        self._changing: frozenset[str] = frozenset().union(*map(_changed_in, modules))

    def method(self, name: str) -> Method | None:
        """A method or property, from the first class that defines it; None where none does."""
        return next(self.methods(name), None)

    def methods(self, name: str) -> Iterator[Method]:
        """A method or property of each class that defines it, in the order in which `super` finds them."""
        for definition, module in self._definitions:
            for node in definition.body:
                if isinstance(node, ast.FunctionDef) and node.name == name:
                    decorators = {ast.unparse(item) for item in node.decorator_list}
                    if any(d.endswith(".setter") for d in decorators):
                        continue
                    yield Method(node, module, bool(decorators & {"property", "cached_property"}))

    def function(self, name: str) -> Method | None:
        """A function at the top level of a file that defines one of the classes; None where there is none."""
        found = (module_function(module, name) for _, module in self._definitions)
        return next((method for method in found if method is not None), None)

    def constant(self, name: str) -> Any:
        """The value of an attribute that nothing changes after construction.

        Raises:
            LookupError: It is changed somewhere, is missing, or is no short literal.
        """
        if (name in self._changing and name != SETTINGS) or name.startswith("__"):
            raise LookupError(name)
        if name in differing(self.env):  # what holds for one variant of a family is no constant of the family
            raise LookupError(name)
        try:
            value = inspect.getattr_static(self.env, name)
        except AttributeError:
            raise LookupError(name) from None
        if isinstance(value, property) and name == "dt":  # a simulator's step length
            value = getattr(self.env, name)
        return literal(value)


@lru_cache(maxsize=64)
def _changed_in(module: ModuleType) -> frozenset[str]:
    """Names of attributes that something other than a constructor assigns in a module."""
    return frozenset(_attributes_stored(module_tree(module)))


def _attributes_stored(node: ast.AST | None) -> Iterator[str]:
    """Attributes assigned or changed in place anywhere below a node, constructors left out."""
    for child in ast.iter_child_nodes(node) if node is not None else ():
        if isinstance(child, ast.FunctionDef) and child.name == "__init__":
            continue
        target: ast.AST = child
        while isinstance(target, ast.Subscript):
            target = target.value  # env.x[i] = ... changes env.x
        if isinstance(target, ast.Attribute) and isinstance(getattr(child, "ctx", None), ast.Store):
            yield target.attr
        if (changed := changed_in_place(child)) is not None:
            yield changed.removeprefix("self.")
        yield from _attributes_stored(child)


def changed_in_place(node: ast.AST) -> str | None:
    """The collection that a call such as ``self.done.append(task)`` changes; None for any other node."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
        return ast.unparse(node.func.value)
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
        return float(f"{value:.6g}")
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, tuple | list) and len(value) <= MAX_LITERAL:
        return type(value)(literal(item) for item in value) if type(value) in {tuple, list} else list(value)
    if isinstance(value, dict):
        return {key: literal(item) for key, item in value.items() if _is_literal(item)}
    raise LookupError(value)


def _is_literal(value: Any) -> bool:
    try:
        literal(value)
    except LookupError:
        return False
    return True


def class_definition(cls: type[Any]) -> ast.ClassDef | None:
    """The syntax tree of a class; None where its source cannot be read."""
    module = sys.modules.get(cls.__module__)
    tree = module_tree(module) if module else None
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.ClassDef) and node.name == cls.__name__:
            return node
    return None


def module_function(module: ModuleType, name: str) -> Method | None:
    """A function at the top level of a module's file; None where it is defined elsewhere."""
    tree = module_tree(module)
    for node in tree.body if tree else ():
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return Method(node, module)
    return None


@lru_cache(maxsize=64)
def module_tree(module: ModuleType) -> ast.Module | None:
    """The syntax tree of a module; None where its source cannot be read."""
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(module)))
    except (OSError, TypeError, SyntaxError):
        return None
