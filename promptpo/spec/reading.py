"""Reading a spec's text: what it says, as values. The text is parsed and never executed."""

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
"""How the block begins that shows it; it is the last of a spec, and no more than shown."""

MOST, DEPTH = 100_000, 60
"""Characters that a spec may have, and levels of its syntax tree."""


@dataclass(frozen=True, slots=True)
class Said:
    """One field of an observation or action, or one value of a discrete action, as a spec's text describes it.

    Attributes:
        name: Its name.
        expression: What is assigned to it.
        line: Where.
        remark: The comment on it; empty where several share a line.
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
    def seen(self) -> bool:
        """Whether these are observed rather than declared."""
        return self.remark.startswith("seen")

    @property
    def value(self) -> Any:
        """The plain value that it is; None where it is none."""
        return _literal(self.expression)


@dataclass(frozen=True, slots=True)
class SpecClass:
    """A class of a spec: State or Action.

    Attributes:
        line: Where it begins.
        docstring: Its documentation.
        fields: What its constructor assigns.
        constants: Class constants.
    """

    line: int
    docstring: str
    fields: Sequence[Said]
    constants: Sequence[Said]


@dataclass(frozen=True, slots=True)
class Reading:
    """Contents of a spec's text.

    Attributes:
        parts: Its classes by their names; "State" and "Action" mean something.
        episode: The literal dictionary; None where there is none.
        episode_line: Where it stands.
        blocks: Which of `BLOCKS` it defines, each with its source; the reward with all functions.
    """

    parts: Mapping[str, SpecClass]
    episode: Mapping[Any, Any] | None
    episode_line: int
    blocks: Mapping[str, str]


def without_source(text: str) -> str:
    """A spec's text without the block of source at its end, which says nothing that is parsed."""
    return text.partition(f"\n{SOURCE_HEAD}")[0]


def parse_spec(text: str) -> ast.Module:
    """The syntax tree of a spec's text, which anybody may have written.

    Raises:
        SyntaxError: It is no valid Python, or too long or nested too deeply to be a spec.
    """
    deep = SyntaxError("it is too long, or nested too deeply")
    text = without_source(text)
    if len(text) > MOST:
        raise deep
    try:
        tree = ast.parse(text)
    except (RecursionError, MemoryError, ValueError):
        raise deep from None
    level: list[ast.AST] = [tree]
    for _ in range(DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return tree
    raise deep


def read(text: str) -> Reading:
    """Read a spec.

    Raises:
        SyntaxError: It is no valid Python, or too long or nested too deeply to be a spec.
    """
    text = without_source(text)
    tree, comments = parse_spec(text), comments_of(text)
    told = next(
        (entry for node in tree.body for entry in _read_assignments(node, {}) if entry.name == "EPISODE"),
        None,
    )
    episode = told.value if told is not None and isinstance(told.value, dict) else {}
    return Reading(
        parts={node.name: _part(node, comments) for node in tree.body if isinstance(node, ast.ClassDef)},
        episode=None if told is None else episode,
        episode_line=0 if told is None else told.line,
        blocks=_blocks(tree, text.split("\n")),
    )


def _blocks(tree: ast.Module, lines: Sequence[str]) -> dict[str, str]:
    """Each definition with the comments behind it."""
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
    """Names of the parts of an observation and an action in a spec: ``obs[0]`` to ``cart_position``."""
    try:
        parts = read(text).parts.values()
    except SyntaxError:
        return {}
    return {ast.unparse(said.expression): said.name for part in parts for said in part.fields}


def comments_of(text: str) -> dict[int, str]:
    """Line to the comment on it."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {
        token.start[0]: token.string.lstrip("# ").strip()
        for token in tokens
        if token.type == tokenize.COMMENT
    }


def _part(node: ast.ClassDef, comments: Mapping[int, str]) -> SpecClass:
    built = [
        member for member in node.body if isinstance(member, ast.FunctionDef) and member.name == "__init__"
    ]
    fields, constants = (
        [said for statement in body for said in _read_assignments(statement, comments)]
        for body in ((statement for function in built for statement in function.body), node.body)
    )
    return SpecClass(node.lineno, ast.get_docstring(node) or "", fields, constants)


def _read_assignments(statement: ast.stmt, comments: Mapping[int, str]) -> list[Said]:
    """Read what a statement assigns: ``a, b = obs[0], obs[1]`` and ``a, b = obs[0:2]`` assign two."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
        return []
    value, line = statement.value, statement.lineno
    target = statement.target if isinstance(statement, ast.AnnAssign) else statement.targets[-1]
    if not isinstance(target, ast.Tuple):
        return [Said(_target_name(target), value, line, comments.get(line, ""))]
    each = getattr(value, "elts", None) or [
        ast.Subscript(value, ast.Constant(n), ast.Load()) for n in range(len(target.elts))
    ]
    return [Said(_target_name(element), told, line) for element, told in zip(target.elts, each, strict=False)]


def _target_name(target: ast.expr) -> str:
    return ast.unparse(target).removeprefix("self.")


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return None
