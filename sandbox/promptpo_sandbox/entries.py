"""Entries of ``PARAMS`` as a module's source gives them; names and arithmetic are resolved without running it."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from promptpo_sandbox.arrays import read_array

TRIPLE = 3
"""Value, lower bound, upper bound."""

MAX_ALIASES = 5
"""Maximum depth of names that stand for names, of dicts spread into dicts, and of arithmetic."""

MOST_ENTRIES = 4096
"""Maximum number of entries read from a module."""

MOST_IN_ALL = 20_000
"""Maximum number of numbers in all entries together."""

_ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry.

    Attributes:
        name: Its key.
        node: Its value as written.
        value: The expression that `node` stands for if it is a name; otherwise `node`.
    """

    name: str
    node: ast.expr
    value: ast.expr


class Constants:
    """The names that a module assigns once, at its top level, and changes nowhere.

    Args:
        tree: The module.
    """

    def __init__(self, tree: ast.Module) -> None:
        assigned: dict[str, ast.expr] = {}
        for statement in tree.body:
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                target, value = statement.targets[0], statement.value
            elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
                target, value = statement.target, statement.value
            else:
                continue
            if isinstance(target, ast.Name):
                assigned[target.id] = value
        changed: dict[str, int] = {}
        for node in ast.walk(tree):
            name = _bound_name(node)
            changed[name] = changed.get(name, 0) + 1
        self._values = {name: value for name, value in assigned.items() if changed.get(name) == 1}

    def resolve(self, node: ast.expr) -> ast.expr:
        """Return the expression that a name stands for; other nodes unchanged."""
        for _ in range(MAX_ALIASES):
            if not isinstance(node, ast.Name) or node.id not in self._values:
                break
            node = self._values[node.id]
        return node

    def value(self, node: ast.expr) -> float:
        """Return the number that a literal (even a quoted one) or arithmetic with literals stands for.

        Raises:
            ValueError: It is not a number.
        """
        try:
            literal: Any = ast.literal_eval(node)
            return float(literal)
        except (ValueError, TypeError, SyntaxError, OverflowError, MemoryError, RecursionError):
            return self.number(node)

    def size(self, entry: Entry) -> int:
        """Return how many numbers an entry holds, bounds aside: one, the size of an array, or 0 if it cannot be read."""
        item = entry.value
        parts = item.elts if isinstance(item, ast.Tuple | ast.List) else [item]
        array = read_array(self.resolve(parts[0])) if len(parts) == TRIPLE else None
        try:
            numbers = [self.value(part) for part in parts[array is not None :]]
        except (ValueError, OverflowError):
            return 0
        plain = len(parts) in {1, TRIPLE} and all(map(math.isfinite, numbers))
        return (len(array[1]) if array else 1) if plain else 0

    def number(self, node: ast.expr, depth: int = MAX_ALIASES) -> float:
        """Return the value of an expression of numbers, names and pi.

        Raises:
            ValueError: It is not a number.
        """
        node = self.resolve(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return float(node.value)
        if depth and isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            value = self.number(node.operand, depth - 1)
            return -value if isinstance(node.op, ast.USub) else value
        if depth and isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
            left, right = self.number(node.left, depth - 1), self.number(node.right, depth - 1)
            try:
                return _ARITHMETIC[type(node.op)](left, right)
            except ArithmeticError as error:
                raise ValueError("no number") from error
        if isinstance(node, ast.Attribute) and node.attr == "pi" and isinstance(node.value, ast.Name):
            return math.pi
        raise ValueError("no number")


def entries_of(tree: ast.Module) -> tuple[list[Entry], list[ast.expr]]:
    """Return the entries of ``PARAMS``, the last one for each name, and expressions in it that cannot be read.

    Read are a dict literal, ``dict(...)`` with keywords, ``**NAME`` of either, and at the top level ``PARAMS["x"] =
    ...`` and ``PARAMS.update(...)``.
    """
    constants = Constants(tree)
    found: dict[str, Entry] = {}
    unread: list[ast.expr] = []
    left = MOST_ENTRIES
    for statement in tree.body:
        target, added = _target(statement), _find_added_entries(statement)
        if isinstance(target, ast.Name) and isinstance(statement, ast.Assign | ast.AnnAssign):
            found, unread = {}, []
        pairs = list(islice(_pairs(added, constants), left)) if added is not None else []
        left -= len(pairs)
        if isinstance(target, ast.Subscript) and isinstance(statement, ast.Assign):
            pairs = [(target.slice, statement.value)]
        for key, item in pairs:
            if item is not None and isinstance(key, ast.Constant) and isinstance(key.value, str):
                found[key.value] = Entry(key.value, item, constants.resolve(item))
            else:
                unread.append(key)
    return list(found.values()), unread


def _target(statement: ast.stmt) -> ast.expr | None:
    """Return the part of ``PARAMS`` that a statement assigns to: the name, or an item of it."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        targets = [statement.target]
    for target in targets:
        inner = target.value if isinstance(target, ast.Subscript) else target
        if isinstance(inner, ast.Name) and inner.id == "PARAMS":
            return target
    return None


def _find_added_entries(statement: ast.stmt) -> ast.expr | None:
    """Return the expression whose entries a statement adds to ``PARAMS``; None if it adds none."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        updates = isinstance(call.func, ast.Attribute) and call.func.attr == "update"
        of = call.func.value if isinstance(call.func, ast.Attribute) else None
        if updates and isinstance(of, ast.Name) and of.id == "PARAMS":
            return call.args[0] if len(call.args) == 1 and not call.keywords else call
        return None
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        return statement.value if isinstance(_target(statement), ast.Name) else None
    return None


def _pairs(
    node: ast.expr, constants: Constants, depth: int = MAX_ALIASES
) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Yield keys and values of an expression that creates a dict; a part that cannot be read has the value None."""
    node = constants.resolve(node)
    if not depth:
        yield node, None
        return
    call = node if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
    if isinstance(node, ast.Dict):
        for key, item in zip(node.keys, node.values, strict=True):
            yield from [(key, item)] if key is not None else _pairs(item, constants, depth - 1)
    elif call is not None and isinstance(call.func, ast.Name) and call.func.id == "dict":
        for argument in call.args:
            yield from _pairs(argument, constants, depth - 1)
        for word in call.keywords:
            if word.arg is None:
                yield from _pairs(word.value, constants, depth - 1)
            else:
                yield ast.copy_location(ast.Constant(word.arg), word.value), word.value
    else:
        yield node, None


def _bound_name(node: ast.AST) -> str:
    """Return the name that a node binds or whose value it changes in place; empty if neither."""
    if isinstance(node, ast.Name):
        return node.id if not isinstance(node.ctx, ast.Load) else ""
    if isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
        while isinstance(node, ast.Subscript | ast.Attribute):
            node = node.value
        return node.id if isinstance(node, ast.Name) else ""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        of = node.value.func
        return of.value.id if isinstance(of, ast.Attribute) and isinstance(of.value, ast.Name) else ""
    return node.arg if isinstance(node, ast.arg) else ""
