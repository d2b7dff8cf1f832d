"""Parse the text of a spec into values; it is never executed."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NUMBER = r"[-+]?(?:(?<!\d)\d+(?:\.\d*)?(?:e[-+]?\d+)?|\.\d+|inf)"
RANGE = re.compile(rf"({_NUMBER}) \.\. ({_NUMBER})", re.IGNORECASE)

BLOCKS = ("State", "Action", "reward", "EPISODE")
"""The definitions that make up a spec."""

SOURCE_HEAD = "# The environment's own source"
"""First words of the source block, the last block of a spec; it is shown but not parsed."""

MAX_SPEC_CHARS, MAX_DEPTH = 100_000, 60
"""Largest spec in characters, and in levels of its syntax tree."""


@dataclass(frozen=True, slots=True)
class SpecEntry:
    """A field of an observation or action, or a value of a discrete action, in a spec's text.

    Attributes:
        name: Its name.
        expression: The expression assigned to it.
        line: Its line number.
        remark: The comment on it; empty if several share a line.
    """

    name: str
    expression: ast.expr
    line: int
    remark: str = ""

    @property
    def ranges(self) -> list[tuple[float, float]]:
        """The ranges in its comment, in order."""
        return [(float(low), float(high)) for low, high in RANGE.findall(self.remark.split(";")[0])]

    @property
    def is_observed(self) -> bool:
        """Whether its ranges are observed rather than declared."""
        return self.remark.startswith("seen")

    @property
    def value(self) -> Any:
        """The literal value of the expression; None if it is no literal."""
        return _literal(self.expression)


@dataclass(frozen=True, slots=True)
class SpecClass:
    """A class of a spec: State or Action.

    Attributes:
        line: Its first line.
        docstring: Its documentation.
        fields: Assignments in its constructor.
        constants: Class constants.
    """

    line: int
    docstring: str
    fields: Sequence[SpecEntry]
    constants: Sequence[SpecEntry]


@dataclass(frozen=True, slots=True)
class Reading:
    """Contents of a spec's text.

    Attributes:
        parts: Its classes by name; only "State" and "Action" have a meaning.
        episode: The dictionary EPISODE, empty if it is no literal; None if there is none.
        episode_line: Its line number; 0 if there is none.
        blocks: The members of `BLOCKS` that it defines, to their source; "reward" holds all functions.
    """

    parts: Mapping[str, SpecClass]
    episode: Mapping[Any, Any] | None
    episode_line: int
    blocks: Mapping[str, str]


def without_source(text: str) -> str:
    """Return a spec's text without the source block at its end."""
    return text.partition(f"\n{SOURCE_HEAD}")[0]


def parse_spec(text: str) -> ast.Module:
    """Parse the untrusted text of a spec into a syntax tree.

    Raises:
        SyntaxError: The text is not valid Python, or is too long or nested too deeply.
    """
    deep = SyntaxError("it is too long, or nested too deeply")
    text = without_source(text)
    if len(text) > MAX_SPEC_CHARS:
        raise deep
    try:
        tree = ast.parse(text)
    except (RecursionError, MemoryError, ValueError):
        raise deep from None
    level: list[ast.AST] = [tree]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return tree
    raise deep


def read(text: str) -> Reading:
    """Parse a spec's text.

    Raises:
        SyntaxError: The text is not valid Python, or is too long or nested too deeply.
    """
    text = without_source(text)
    tree, comments = parse_spec(text), comments_of(text)
    found = next(
        (entry for node in tree.body for entry in _read_assignments(node, {}) if entry.name == "EPISODE"),
        None,
    )
    episode = found.value if found is not None and isinstance(found.value, dict) else {}
    return Reading(
        parts={node.name: _parse(node, comments) for node in tree.body if isinstance(node, ast.ClassDef)},
        episode=None if found is None else episode,
        episode_line=0 if found is None else found.line,
        blocks=_blocks(tree, text.split("\n")),
    )


def _blocks(tree: ast.Module, lines: Sequence[str]) -> dict[str, str]:
    """Return the source of each block, including the comments after it."""
    found = defaultdict[str, list[str]](list)
    ends = [*(node.lineno - 1 for node in tree.body[1:]), len(lines)]
    for node, end in zip(tree.body, ends, strict=True):
        names = [getattr(node, "name", ""), *(entry.name for entry in _read_assignments(node, {}))]
        name = "reward" if isinstance(node, ast.FunctionDef) else "".join(names)
        found[name].append("\n".join(lines[node.lineno - 1 : end]).rstrip())
    defined = {getattr(node, "name", "EPISODE") for node in tree.body}
    return {name: "\n\n\n".join(found[name]) for name in BLOCKS if name in found.keys() & defined}


@lru_cache(maxsize=16)
def names_of(text: str) -> Mapping[str, str]:
    """Map expressions to the names that a spec gives them: ``obs[0]`` to ``cart_position``; empty if it is invalid."""
    try:
        parts = read(text).parts.values()
    except SyntaxError:
        return {}
    return {ast.unparse(entry.expression): entry.name for part in parts for entry in part.fields}


def comments_of(text: str) -> dict[int, str]:
    """Map line numbers to their comments."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {
        token.start[0]: token.string.lstrip("# ").strip()
        for token in tokens
        if token.type == tokenize.COMMENT
    }


def _parse(node: ast.ClassDef, comments: Mapping[int, str]) -> SpecClass:
    built = [
        member for member in node.body if isinstance(member, ast.FunctionDef) and member.name == "__init__"
    ]
    fields, constants = (
        [entry for statement in body for entry in _read_assignments(statement, comments)]
        for body in ((statement for function in built for statement in function.body), node.body)
    )
    return SpecClass(node.lineno, ast.get_docstring(node) or "", fields, constants)


def _read_assignments(statement: ast.stmt, comments: Mapping[int, str]) -> list[SpecEntry]:
    """Return the assignments of a statement; ``a, b = obs[0], obs[1]`` and ``a, b = obs[0:2]`` have two each."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
        return []
    value, line = statement.value, statement.lineno
    target = statement.target if isinstance(statement, ast.AnnAssign) else statement.targets[-1]
    if not isinstance(target, ast.Tuple):
        return [SpecEntry(_target_name(target), value, line, comments.get(line, ""))]
    each = getattr(value, "elts", None) or [
        ast.Subscript(value, ast.Constant(n), ast.Load()) for n in range(len(target.elts))
    ]
    return [SpecEntry(_target_name(name), part, line) for name, part in zip(target.elts, each, strict=False)]


def _target_name(target: ast.expr) -> str:
    return ast.unparse(target).removeprefix("self.")


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return None
