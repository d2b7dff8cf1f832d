"""Reading a spec's text: what it says, as values. The text is parsed and never executed."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NUMBER = r"[-+]?(?:(?<!\d)\d+(?:\.\d*)?(?:e[-+]?\d+)?|\.\d+|inf)"
RANGE = re.compile(rf"({_NUMBER}) \.\. ({_NUMBER})", re.IGNORECASE)

BLOCKS = ("State", "Action", "reward", "EPISODE")
"""The definitions that make up a spec."""

MOST, DEPTH = 100_000, 60
"""Characters that a spec may have, and levels of its syntax tree."""


@dataclass(frozen=True, slots=True)
class Said:
    """One field as a spec's text describes it.

    Attributes:
        name: Its name.
        expression: What is assigned to it.
        line: Where.
        ranges: The ranges in its comment, in order.
        seen: Whether these are observed rather than declared.
        remark: The whole comment.
    """

    name: str
    expression: ast.expr
    line: int
    ranges: Sequence[tuple[float, float]]
    seen: bool
    remark: str


@dataclass(frozen=True, slots=True)
class SpecClass:
    """A class of a spec: State or Action.

    Attributes:
        line: Where it begins.
        docstring: Its documentation.
        fields: What its constructor assigns.
        constants: Class constants: name to (value, line).
    """

    line: int
    docstring: str
    fields: Sequence[Said]
    constants: Mapping[str, tuple[Any, int]]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a spec's text says.

    Attributes:
        docstring: Of the module.
        parts: "State" and "Action", where they are described.
        functions: All functions.
        episode: The literal dictionary; None where there is none.
        episode_line: Where it stands.
        classes: Every class name, with its line.
        blocks: Which of `BLOCKS` it defines, each with its source; the reward with the functions that it calls.
    """

    docstring: str
    parts: Mapping[str, SpecClass]
    functions: Sequence[ast.FunctionDef]
    episode: Mapping[Any, Any] | None
    episode_line: int
    classes: Mapping[str, int]
    blocks: Mapping[str, str]


def parsed(text: str) -> ast.Module:
    """The syntax tree of a spec's text, which anybody may have written.

    Raises:
        SyntaxError: It is no valid Python, or too long or nested too deeply to be a spec.
    """
    deep = SyntaxError("it is too long, or nested too deeply")
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
    tree = parsed(text)
    comments = comments_of(text)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    episode, line = _episode(tree)
    return Reading(
        docstring=ast.get_docstring(tree) or "",
        parts={node.name: _part(node, comments) for node in classes if node.name in {"State", "Action"}},
        functions=functions,
        episode=episode,
        episode_line=line,
        classes={node.name: node.lineno for node in classes},
        blocks=_blocks(tree, text),
    )


def _blocks(tree: ast.Module, text: str) -> dict[str, str]:
    found, lines = dict[str, list[tuple[bool, str]]](), text.split("\n")
    for node in tree.body:
        called = getattr(node, "name", "") or next((ast.unparse(target) for target, _ in _assigned(node)), "")
        name = "reward" if isinstance(node, ast.FunctionDef) else called
        source = "\n".join(lines[node.lineno - 1 : node.end_lineno])
        found.setdefault(name, []).append((called != name, source))  # a reward before what it calls
    told = {name: sorted(found.get(name, ()), key=lambda one: one[0]) for name in BLOCKS}
    return {
        name: "\n\n\n".join(source for _, source in sources)
        for name, sources in told.items()
        if sources and not sources[0][0]
    }


@lru_cache(maxsize=16)
def names_of(text: str) -> Mapping[str, str]:
    """What a spec calls the parts of an observation and an action: ``obs[0]`` to ``cart_position``."""
    try:
        parts = read(text).parts.values()
    except SyntaxError:
        return {}
    return {ast.unparse(said.expression): said.name for part in parts for said in part.fields}


def comments_of(text: str) -> dict[int, str]:
    """Line to the comment on it, whole-line comments joined onto the first line of code below them."""
    found: dict[int, str] = {}
    waiting: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            waiting.append(token.string.lstrip("# ").strip())
        if waiting and token.line.strip()[:1] not in {"", "#"}:
            found[token.start[0]] = " ".join(waiting)
            waiting = []
    return found


def _part(node: ast.ClassDef, comments: Mapping[int, str]) -> SpecClass:
    init = [s for f in node.body if isinstance(f, ast.FunctionDef) and f.name == "__init__" for s in f.body]
    fields = [said for statement in init for said in _said(statement, comments)]
    constants = {
        target.id: (_literal(value), statement.lineno)
        for statement in node.body
        for target, value in _assigned(statement)
        if isinstance(target, ast.Name)
    }
    return SpecClass(node.lineno, ast.get_docstring(node) or "", fields, constants)


def _assigned(statement: ast.stmt) -> list[tuple[ast.expr, ast.expr]]:
    """Targets with their values: ``a, b = obs[0], obs[1]`` and ``a, b = obs[0:2]`` assign two."""
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        return [(statement.target, statement.value)]
    found: list[tuple[ast.expr, ast.expr]] = []
    for target in statement.targets if isinstance(statement, ast.Assign) else ():
        value, inner = statement.value, getattr(target, "elts", None)  # type: ignore[attr-defined]
        each = getattr(value, "elts", None) or [
            ast.Subscript(value, ast.Constant(index), ast.Load()) for index in range(len(inner or ()))
        ]
        found += [(target, value)] if inner is None else zip(inner, each, strict=False)
    return found


def _said(statement: ast.stmt, comments: Mapping[int, str]) -> list[Said]:
    """The fields that a statement describes; a range in its comment is of all of them, several are of each."""
    remark = comments.get(statement.lineno, "")
    spans = remark.split(";")[0]
    ranges = [(float(low), float(high)) for low, high in RANGE.findall(spans)]
    pairs = _assigned(statement)
    found = []
    for index, (target, value) in enumerate(pairs):
        name = getattr(target, "attr", None) or getattr(target, "id", None)
        own = [ranges[index]] if len(ranges) == len(pairs) > 1 else ranges
        if name is not None:
            found.append(Said(name, value, statement.lineno, own, spans.startswith("seen"), remark))
    return found


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return None


def _episode(tree: ast.Module) -> tuple[dict[Any, Any] | None, int]:
    assigned = ((node.lineno, one) for node in tree.body for one in _assigned(node))
    for line, (target, value) in assigned:
        if ast.unparse(target) == "EPISODE":
            told = _literal(value)
            return (told if isinstance(told, dict) else {}), line
    return None, 0
