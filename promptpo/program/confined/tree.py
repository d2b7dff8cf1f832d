"""Syntax trees of policy modules: safe parsing, lookup, and text replacement."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

MAX_SOURCE_BYTES = 100_000
"""Size limit for parsing; the sandbox refuses longer sources."""

Placed = ast.expr | ast.stmt | ast.alias | ast.ExceptHandler
"""Nodes with a position in the text."""

UNREADABLE = (ValueError, TypeError, SyntaxError, OverflowError, MemoryError, RecursionError)
"""Exceptions from reading odd literals, such as integers beyond Python's digit limit."""


def parse(source: str) -> ast.Module | None:
    """Return the syntax tree; None for text that is not Python or breaks the parser."""
    if len(source) > MAX_SOURCE_BYTES:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escape sequences in policies
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def literal(node: ast.expr | None) -> Any:
    """Return the value of a literal that can be written back.

    Raises:
        ValueError: The expression is no literal, or not a usable one.
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
    """Yield the names to which statements assign, with the assigned expressions."""
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
    """Return the expression last assigned to a top-level name; None without one."""
    return dict(assignments(tree.body)).get(name)


def constant(module: Module, name: str) -> Any:
    """Return the literal bound to a name at the top level; None without one."""
    try:
        return literal(assigned_value(module.tree, name))
    except ValueError:
        return None


def docstring_of(tree: ast.Module) -> ast.stmt | None:
    """Return the docstring statement of a module; None without one."""
    return tree.body[0] if ast.get_docstring(tree, clean=False) is not None else None


def bound_here(statements: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names that statements bind in their own scope, not inside functions and classes."""
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
    """Yield the names that one node binds itself, for the kinds of nodes that the gate admits."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name


class Module:
    """A parsed module: its tree, and its text as bytes with line offsets in `ast`'s terms (lines from 1, columns in UTF-8 bytes).

    All facts come from the syntax tree; no code of the module is ever run.

    Args:
        source: The module's text.
        tree: Its syntax tree.
    """

    def __init__(self, source: str, tree: ast.Module) -> None:
        self.source, self.tree, self.data = source, tree, source.encode()
        self._starts = [0, *(found.end() for found in re.finditer(rb"\r\n|\r|\n", self.data))]

    @staticmethod
    @lru_cache(maxsize=64)
    def parse(source: str) -> Module | None:
        """Return the module of a text; None if the text is not Python."""
        tree = parse(source)
        return None if tree is None else Module(source, tree)

    def start(self, node: Placed) -> int:
        """Return the offset at which a node begins."""
        return self._starts[min(node.lineno, len(self._starts)) - 1] + node.col_offset

    def end(self, node: Placed) -> int:
        """Return the offset at which a node ends."""
        line = min(node.end_lineno or node.lineno, len(self._starts))
        return self._starts[line - 1] + (node.end_col_offset or 0)

    def replace_spans(self, edits: Iterable[tuple[int, int, str]]) -> str:
        """Return the text with non-overlapping spans replaced."""
        data = self.data
        for start, end, text in sorted(edits, reverse=True):
            data = data[:start] + text.encode() + data[end:]
        return data.decode("utf-8", "replace")

    def with_nodes(self, edits: Iterable[tuple[ast.expr, str]]) -> str:
        """Return the text with some expressions replaced."""
        return self.replace_spans((self.start(node), self.end(node), new) for node, new in edits)
