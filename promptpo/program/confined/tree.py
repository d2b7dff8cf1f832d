"""Syntax trees of policy modules: parsing without surprises, looking things up, replacing text."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

MAX_SOURCE_BYTES = 100_000
"""The sandbox refuses longer sources, so they are not even parsed here."""

UNREADABLE = (ValueError, TypeError, SyntaxError, OverflowError, MemoryError, RecursionError)
"""What reading an odd literal may raise: among others, integers beyond Python's limit of digits."""


def parse(source: str) -> ast.Module | None:
    """The syntax tree; None for text that is not Python (or is built to break the parser)."""
    if len(source) > MAX_SOURCE_BYTES:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about a policy's escape sequences; nobody here can mend them
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


def assigned(tree: ast.Module | None, name: str) -> ast.expr | None:
    """The expression last assigned to a top-level name."""
    found: ast.expr | None = None
    for statement in tree.body if tree else ():
        if isinstance(statement, ast.Assign):
            targets: list[ast.expr] = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        else:
            continue
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            found = statement.value
    return found


def docstring_of(tree: ast.Module | ast.ClassDef | None) -> ast.Expr | None:
    """The statement that is the docstring of a module or class."""
    first = tree.body[0] if tree and tree.body else None
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return first
    return None


def bound_here(statements: Iterable[ast.AST]) -> Iterator[str]:
    """Names that statements bind in their own scope, not inside of functions and classes."""
    stack = list(statements)
    while stack:
        node = stack.pop()
        yield from bound_by(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Lambda):
            walrus = [n.target for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
            stack.extend([] if isinstance(node, ast.Lambda) else walrus)
            continue
        stack.extend(ast.iter_child_nodes(node))


def bound_by(node: ast.AST) -> Iterator[str]:
    """Names that one node binds by itself."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


class Text:
    """A source as bytes with line numbers, as `ast` counts: lines from 1, columns in UTF-8 bytes.

    Args:
        source: Text that parses.
    """

    def __init__(self, source: str) -> None:
        self.data = source.encode()
        self._starts = [0, *(found.end() for found in re.finditer(rb"\r\n|\r|\n", self.data))]

    def at(self, line: int, column: int) -> int:
        """Offset of a place."""
        return self._starts[min(line, len(self._starts)) - 1] + column

    def start(self, node: ast.expr | ast.stmt | ast.alias | ast.ExceptHandler) -> int:
        """Offset at which a node begins."""
        return self.at(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt | ast.alias | ast.ExceptHandler) -> int:
        """Offset at which a node ends."""
        return self.at(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def replaced(self, edits: Iterable[tuple[int, int, str]]) -> str:
        """The text with spans, which do not overlap, replaced by other texts."""
        data = self.data
        for start, end, text in sorted(edits, reverse=True):
            data = data[:start] + text.encode() + data[end:]
        return data.decode("utf-8", "replace")


def replace_nodes(source: str, edits: Iterable[tuple[ast.expr, str]]) -> str:
    """Replace the text of some expressions."""
    text = Text(source)
    return text.replaced((text.start(node), text.end(node), new) for node, new in edits)
