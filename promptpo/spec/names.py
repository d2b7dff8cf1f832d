"""What the syntax trees of an environment's functions read, assign and change."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import gymnasium

from promptpo.envs.family import differing

MOST_TREES = 4096
"""Trees whose names are remembered: a slice asks for those of one many times."""

CHANGING = {"step", "reset", "append", "extend", "pop", "remove", "clear", "update", "add", "seed", "popleft"}
"""Methods that change their object, whatever its class; of local names they are part of a slice."""


@lru_cache(maxsize=MOST_TREES)
def locals_of(node: ast.FunctionDef) -> frozenset[str]:
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
        if isinstance(inner, ast.Name | ast.Attribute | ast.Subscript) and not isinstance(
            inner.ctx, ast.Load
        ):
            found.add(ast.unparse(root_of(inner)))
        elif isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
            found |= {ast.unparse(inner.func.value)} if inner.func.attr in CHANGING else set()
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
        one = root_of(inner.target) if isinstance(inner, ast.AugAssign) else inner
        if not isinstance(one, ast.Name | ast.Attribute):
            continue
        own = one.id != me if isinstance(one, ast.Name) else ast.unparse(one.value) == me
        if own and (one is not inner or isinstance(one.ctx, ast.Load)):
            found.add(ast.unparse(one))
    return frozenset(found)


def is_fixed(owner: Any, name: str, also: tuple[str, ...] = ()) -> bool:
    """Whether an attribute of an object is a constant: set by nothing but its construction, the same in all variants.

    Args:
        owner: The object.
        name: The attribute.
        also: How the names of other methods begin that may set it.
    """
    kind: Any = type(owner)
    varies = isinstance(owner, gymnasium.Env) and name in differing(owner)
    return not varies and name not in changed_attributes(
        kind, ("__init__", "__post_init__", "configure", *also)
    )


@cache
def changed_attributes(cls: Any, apart: tuple[str, ...]) -> frozenset[str]:
    """Attributes that functions of its modules, those apart whose names begin so, assign or change, of whatever object."""
    changing = [
        n for base in cls.__mro__[:-1] for n in _functions(base.__module__) if not n.name.startswith(apart)
    ]
    stored = {name for node in changing for name in stored_in(node)}
    return frozenset(part for name in stored for part in name.split(".")[1:])


@cache
def _functions(module: str) -> Sequence[ast.FunctionDef]:
    """The functions of a module and of its classes; none where it has no source."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError, SyntaxError, KeyError):
        return ()
    homes = [n for n in ast.walk(tree) if isinstance(n, ast.Module | ast.ClassDef)]
    found = [n for home in homes for n in home.body if isinstance(n, ast.FunctionDef)]
    return [n for n in found if not any(isinstance(one, ast.ClassDef) for one in n.body)]
