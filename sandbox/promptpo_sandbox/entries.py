"""Entries of ``PARAMS`` as a module's source gives them; names and arithmetic are resolved without running it."""

from __future__ import annotations

import ast
import math
import operator
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

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


Pair: TypeAlias = tuple[ast.expr, ast.expr | None]
"""Key and value; for a part that cannot be read, the part and None."""


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
        self.tree = tree
        changes = Counter(map(_bound_name, ast.walk(tree)))
        self._values: dict[str, ast.expr] = {}
        for statement in tree.body:
            match statement:
                case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(
                    ast.Name(name), _, ast.expr() as value
                ) if changes[name] == 1:
                    self._values[name] = value

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
        match self.resolve(node):
            case ast.Constant(int() | float() as value):
                return float(value)
            case ast.UnaryOp(ast.USub() | ast.UAdd() as sign, operand) if depth:
                value = self.number(operand, depth - 1)
                return -value if isinstance(sign, ast.USub) else value
            case ast.BinOp(left, operation, right) if depth and type(operation) in _ARITHMETIC:
                numbers = self.number(left, depth - 1), self.number(right, depth - 1)
                try:
                    return _ARITHMETIC[type(operation)](*numbers)
                except ArithmeticError as error:
                    raise ValueError("no number") from error
            case ast.Attribute(ast.Name(), "pi"):
                return math.pi
        raise ValueError("no number")


def entries_of(constants: Constants) -> tuple[list[Entry], list[ast.expr]]:
    """Return the entries of a module's ``PARAMS``, the last one for each name, and expressions in it that cannot be read.

    Read are a dict literal, ``dict(...)`` with keywords, ``**NAME`` of either, and at the top level ``PARAMS["x"] =
    ...`` and ``PARAMS.update(...)``.
    """
    found: dict[str, Entry] = {}
    unread: list[ast.expr] = []
    left = MOST_ENTRIES
    for statement in constants.tree.body:
        if _assigns_params(statement):
            found, unread = {}, []
        pairs = list(islice(_iterate_pairs(statement, constants), left))
        left -= len(pairs)
        for key, item in pairs:
            if item is not None and isinstance(key, ast.Constant) and isinstance(key.value, str):
                found[key.value] = Entry(key.value, item, constants.resolve(item))
            else:
                unread.append(key)
    return list(found.values()), unread


def _assigns_params(statement: ast.stmt) -> bool:
    match statement:
        case ast.Assign(targets):
            return any(isinstance(target, ast.Name) and target.id == "PARAMS" for target in targets)
        case ast.AnnAssign(ast.Name("PARAMS")):
            return True
    return False


def _iterate_pairs(statement: ast.stmt, constants: Constants) -> Iterator[Pair]:
    """Yield what a statement adds to ``PARAMS``."""
    match statement:
        case ast.Assign(targets, value):
            for target in targets:
                match target:
                    case ast.Name("PARAMS"):
                        yield from _pairs(value, constants)
                    case ast.Subscript(ast.Name("PARAMS"), key):
                        yield key, value
        case ast.AnnAssign(ast.Name("PARAMS"), _, ast.expr() as value) | ast.AugAssign(
            ast.Name("PARAMS"), _, value
        ):
            yield from _pairs(value, constants)
        case ast.Expr(ast.Call(ast.Attribute(ast.Name("PARAMS"), "update"), arguments, words) as call):
            yield from _pairs(arguments[0] if len(arguments) == 1 and not words else call, constants)


def _pairs(node: ast.expr, constants: Constants, depth: int = MAX_ALIASES) -> Iterator[Pair]:
    """Yield the keys and values of an expression that creates a dict."""
    node = constants.resolve(node)
    match node if depth else None:
        case ast.Dict(keys, values):
            for key, item in zip(keys, values, strict=True):
                yield from [(key, item)] if key is not None else _pairs(item, constants, depth - 1)
        case ast.Call(ast.Name("dict"), arguments, words):
            for argument in arguments:
                yield from _pairs(argument, constants, depth - 1)
            for word in words:
                if word.arg is None:
                    yield from _pairs(word.value, constants, depth - 1)
                else:
                    yield ast.copy_location(ast.Constant(word.arg), word.value), word.value
        case _:
            yield node, None


def _bound_name(node: ast.AST) -> str:
    """Return the name that a node binds or whose value it changes in place; empty if neither."""
    match node:
        case ast.Name(name, ast.Store() | ast.Del()) | ast.arg(name):
            return name
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(name)))):
            return name
        case ast.Subscript(ctx=ast.Store() | ast.Del()) | ast.Attribute(ctx=ast.Store() | ast.Del()):
            while isinstance(node, ast.Subscript | ast.Attribute):
                node = node.value
            return node.id if isinstance(node, ast.Name) else ""
    return ""
