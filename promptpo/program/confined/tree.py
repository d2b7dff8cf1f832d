"""Syntax trees of policy modules: parsing without surprises, looking things up, replacing text."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

MAX_SOURCE_BYTES = 100_000
"""The sandbox refuses longer sources, so they are not even parsed here."""

Placed = ast.expr | ast.stmt | ast.alias | ast.ExceptHandler
"""Nodes that have a place in the text."""

UNREADABLE = (ValueError, TypeError, SyntaxError, OverflowError, MemoryError, RecursionError)
"""What reading an odd literal may raise: among others, integers beyond Python's limit of digits."""


def parse(source: str) -> ast.Module | None:
    """The syntax tree; None for text that is not Python (or is built to break the parser)."""
    if len(source) > MAX_SOURCE_BYTES:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about a policy's escape sequences; nobody here can repair them
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def literal(node: ast.expr | None) -> Any:
    """The value of a literal that can be written down again.

    Raises:
        ValueError: It is no literal, or no usable one.
    """
    if node is None:
        raise ValueError("there is no expression")
    try:
        value = ast.literal_eval(node)
        repr(value)
    except UNREADABLE as error:
        raise ValueError("it is no literal") from error
    return value


def assignments(statements: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """Names that statements are assigned to, with what is assigned."""
    for statement in statements:
        if isinstance(statement, ast.Assign):
            targets: list[ast.expr] = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        else:
            continue
        for target in targets:
            if isinstance(target, ast.Name) and statement.value is not None:
                yield target.id, statement.value


def assigned_value(tree: ast.Module, name: str) -> ast.expr | None:
    """The expression last assigned to a top-level name."""
    return dict(assignments(tree.body)).get(name)


def constant(module: Module, name: str) -> Any:
    """The literal that a module binds to a name at its top level; None where there is none."""
    try:
        return literal(assigned_value(module.tree, name))
    except ValueError:
        return None


def docstring_of(tree: ast.Module) -> ast.stmt | None:
    """The statement that is the docstring of a module."""
    return tree.body[0] if ast.get_docstring(tree, clean=False) is not None else None


def bound_here(statements: Iterable[ast.AST]) -> Iterator[str]:
    """Names that statements bind in their own scope, not inside of functions and classes."""
    stack = list(statements)
    while stack:
        node = stack.pop()
        yield from bound_by(node)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Lambda):
            walrus = [n.target for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
            stack.extend([] if isinstance(node, ast.Lambda) else walrus)
            continue
        stack.extend(ast.iter_child_nodes(node))


def bound_by(node: ast.AST) -> Iterator[str]:
    """Names that one node binds by itself, of the kinds of nodes that the gate lets pass."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name


class Module:
    """A module that parses, as its tree and as bytes with line numbers, as `ast` counts: lines from 1, columns in UTF-8 bytes.

    Everything is read off the syntax tree; nothing of the module is ever run.

    Args:
        source: Its text.
        tree: What that parses to.
    """

    def __init__(self, source: str, tree: ast.Module) -> None:
        self.source, self.tree, self.data = source, tree, source.encode()
        self._starts = [0, *(found.end() for found in re.finditer(rb"\r\n|\r|\n", self.data))]

    @staticmethod
    @lru_cache(maxsize=64)
    def parse(source: str) -> Module | None:
        """The module of a text; None where that is not Python."""
        tree = parse(source)
        return None if tree is None else Module(source, tree)

    def start(self, node: Placed) -> int:
        """Offset at which a node begins."""
        return self._starts[min(node.lineno, len(self._starts)) - 1] + node.col_offset

    def end(self, node: Placed) -> int:
        """Offset at which a node ends."""
        line = min(node.end_lineno or node.lineno, len(self._starts))
        return self._starts[line - 1] + (node.end_col_offset or 0)

    def replace_spans(self, edits: Iterable[tuple[int, int, str]]) -> str:
        """The text with spans, which do not overlap, replaced by other texts."""
        data = self.data
        for start, end, text in sorted(edits, reverse=True):
            data = data[:start] + text.encode() + data[end:]
        return data.decode("utf-8", "replace")

    def with_nodes(self, edits: Iterable[tuple[ast.expr, str]]) -> str:
        """The text with that of some expressions replaced."""
        return self.replace_spans((self.start(node), self.end(node), new) for node, new in edits)
