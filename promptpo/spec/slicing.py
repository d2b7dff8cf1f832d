"""The lines of an environment's ``step`` that its reward, or the end of an episode, depends on, as they stand.

A backward slice (M. Weiser, "Program slicing", IEEE TSE 10(4), 1984) of one function. It is cut at names that carry
state into the next step, so that the lines that move the environment stay behind. What is found here is a proposal;
`promptpo.spec.trial` runs it beside real steps before a spec shows it.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FunctionType

from promptpo.spec.functions import (
    CHANGING,
    DEEPEST,
    Level,
    called,
    locals_of,
    property_of,
    read_in,
    results_of,
    root_of,
    stored_in,
    value_of,
)

DRAWS = re.compile(r"np_random|\brandom\b|\brng\b")
SHOWS = re.compile(r"render|\blogg?\w*\.|warn|print")
"""Calls that move nothing."""


LAST = 1_000_000
"""The line of what follows a function."""


class UnclearError(Exception):
    """A function whose lines cannot be told apart."""


@dataclass
class Sliced:
    """Lines of one level.

    Attributes:
        level: Whose.
        body: The lines, nested as they stand.
        cut: Names whose values are told instead of how they come about.
        helpers: Functions that these lines call.
    """

    level: Level
    body: list[ast.stmt]
    cut: set[str]
    helpers: dict[str, Level] = field(default_factory=dict)


def sliced(level: Level, cut: set[str]) -> Sliced | None:
    """The lines of a level that its result depends on; None where they cannot be told apart.

    Args:
        level: Of `levels_of`.
        cut: Names that need no explaining, as their values are known.
    """
    cut = cut | carriers(level)
    for _ in range(20):  # each time one more name is cut
        try:
            found = _Slicer(level, cut)
            if cut & {name for one in results_of(level) for name in read_in(one, level.me)}:
                return None  # it would say that the result is the result
            result = Sliced(level, found.body(), {name for name in cut if name in found.wanted})
            more = _unclear(result)
        except UnclearError:
            return None
        if not more:
            return result
        cut = cut | more
    return None


def sets(result: Sliced) -> bool:
    """Whether the first line that touches the attribute that is looked for sets it."""
    name = f"{result.level.me}.{result.level.attribute}"
    touching = (n for one in result.body for n in ast.walk(one) if isinstance(n, ast.Assign | ast.AugAssign))
    first = next((n for n in touching if name in stored_in(n)), None)
    return isinstance(first, ast.Assign)


def moves_within(lines: Sliced) -> bool:
    """Whether lines that change the environment are left out within one that is kept."""
    level, kept = lines.level, {getattr(n, "lineno", 0) for one in lines.body for n in ast.walk(one)}
    inner = [n for top in level.node.body if top.lineno in kept for n in ast.walk(top) if n is not top]
    left_out = [
        n for n in inner if isinstance(n, ast.Assign | ast.AugAssign | ast.Expr) and n.lineno not in kept
    ]
    return any(changes(level, one) for one in left_out)


def _unclear(result: Sliced) -> set[str]:
    """Names assigned by lines whose calls change or draw something; fills in the helpers.

    Raises:
        UnclearError: Such a call stands where no name is assigned.
    """
    found: set[str] = set()
    for statement in (n for body in result.body for n in ast.walk(body) if isinstance(n, ast.stmt)):
        own = [
            getattr(statement, part) for part in ("value", "test", "iter") if getattr(statement, part, None)
        ]
        clear = [_clear(result.level, part, result.helpers) for part in own]  # each fills in helpers
        if all(clear):
            continue
        names = {name for name in stored_in(statement) if name.count(".") < 2}  # noqa: PLR2004 - of the own object
        if not isinstance(statement, ast.Assign | ast.AnnAssign) or not names:
            raise UnclearError
        found |= names
    return found


def _clear(level: Level, tree: ast.AST, helpers: dict[str, Level], depth: int = 0) -> bool:
    """Whether the calls in a tree neither change nor draw anything; the environment's own functions are put into `helpers`."""
    inner = list(ast.walk(tree))
    for node in (n for n in inner if isinstance(n, ast.Attribute)):
        found = property_of(level, node)
        if (
            found is not None
            and node.attr not in helpers
            and _is_clear(found, trying := dict(helpers), depth)
        ):
            helpers.update(trying)
    return all(_clear_call(level, n, helpers, depth) for n in inner if isinstance(n, ast.Call))


def _is_clear(found: Level, helpers: dict[str, Level], depth: int) -> bool:
    """Whether a function changes nothing; it is put into `helpers`, with those that it calls."""
    stores = any("." in name or found.me == name for name in stored_in(found.node))
    known = helpers.setdefault(found.node.name, found)
    again = depth > 0 and known is not found
    if depth > DEEPEST or stores or known.code is not found.code:
        return False
    return again or _clear(found, ast.Module(found.node.body, []), helpers, depth + 1)


def _clear_call(level: Level, call: ast.Call, helpers: dict[str, Level], depth: int) -> bool:
    text = ast.unparse(call.func)
    if DRAWS.search(text) or text.startswith("super("):
        return False
    target = value_of(level, call.func)
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if target is None:
        return method not in CHANGING or re.split(r"[.\[(]", text)[0] in locals_of(level.node)
    if not isinstance(getattr(target, "__func__", target), FunctionType):
        return method not in CHANGING
    found, module = called(level, call, None), getattr(target, "__module__", "")
    if found is None or (module.startswith("gymnasium.") and found.owner is None and "envs" not in module):
        return False
    return module.split(".")[0] in {"numpy", "math", "builtins"} or _is_clear(found, helpers, depth)


def carriers(level: Level) -> set[str]:
    """Local names that carry state into the next step: put into an attribute that they are computed from."""
    found: set[str] = set()
    for statement in (n for n in ast.walk(level.node) if isinstance(n, ast.Assign)):
        inner = list(ast.walk(statement.value))
        calls = [n.func for n in inner if isinstance(n, ast.Call)]
        if any(isinstance(n, ast.BinOp) for n in inner) or any(value_of(level, one) is None for one in calls):
            continue
        kept = {name for target in statement.targets if "." in (name := ast.unparse(root_of(target)))}
        names = {n.id for n in inner if isinstance(n, ast.Name)} - {level.me}
        found |= {name for name in names if kept & _sources(level, name)}
    return found


def _sources(level: Level, name: str) -> set[str]:
    """Names and attributes that a local name is computed from, in methods of the same object too."""
    found: set[str] = set()
    waiting = {name}
    while waiting:
        one = waiting.pop()
        found.add(one)
        for statement in (
            n for n in ast.walk(level.node) if isinstance(n, ast.Assign | ast.AugAssign | ast.AnnAssign)
        ):
            if one not in stored_in(statement):
                continue
            reads = set(read_in(statement, level.me))
            for call in (n for n in ast.walk(statement) if isinstance(n, ast.Call)):
                method = called(level, call, None)
                if method is not None and method.owner is level.owner and method.me:
                    inner = read_in(method.node, method.me)
                    reads |= {f"{level.me}.{r.split('.')[1]}" for r in inner if r.startswith(f"{method.me}.")}
            waiting |= {r for r in reads if r.isidentifier()} - found
            found |= {r for r in reads if not r.isidentifier()}
    return found


def changes(level: Level, statement: ast.stmt, names: set[str] | None = None) -> bool:
    """Whether a statement changes an attribute of the object, one of some names if these are given, or calls what may."""
    stored = {name for name in stored_in(statement) if name.startswith(f"{level.me}.")}
    if stored & (stored if names is None else names):
        return True
    calls = [n for n in ast.walk(statement) if isinstance(n, ast.Call)]
    return not all(_clear_call(level, call, {}, 0) or SHOWS.search(ast.unparse(call.func)) for call in calls)


class _Slicer:
    """One backward slice, to a fixed point."""

    def __init__(self, level: Level, cut: set[str]) -> None:
        self.level, self.cut = level, cut
        self.wanted: set[str] = {f"{level.me}.{level.attribute}"} if level.attribute else set()
        self._kept: set[int] = set()
        before = (-1, -1)
        while before != (len(self.wanted), len(self._kept)):
            before = (len(self.wanted), len(self._kept))
            self._pass(level.node.body)

    def body(self) -> list[ast.stmt]:
        """The lines that are kept, with what is looked for as the only result."""
        found = [copy.deepcopy(one) for one in self._filtered(self.level.node.body)]
        for node in (n for statement in found for n in ast.walk(statement) if isinstance(n, ast.Return)):
            node.value = self.level.result(node.value)
        if self.level.attribute:
            found.append(ast.Return(self.level.result(None)))
        return found

    def _pass(self, statements: list[ast.stmt]) -> bool:
        """Whether any of these statements is kept."""
        any_kept = False
        for statement in statements:
            kept = id(statement) in self._kept or self._needed(statement)
            for inner in _blocks(statement):
                kept = self._pass(inner) or kept
            if kept:
                self._kept.add(id(statement))
                for part in _own_parts(statement):
                    self.wanted |= read_in(part, self.level.me)
            any_kept = any_kept or kept
        return any_kept

    def _needed(self, statement: ast.stmt) -> bool:
        if isinstance(statement, ast.Return):
            result = self.level.result(statement.value)
            if result is None:
                raise UnclearError
            self.wanted |= read_in(result, self.level.me)
            return True
        if isinstance(statement, ast.Break | ast.Continue):
            return any(
                id(n) in self._kept for n in ast.walk(self.level.node) if isinstance(n, ast.For | ast.While)
            )
        if not isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.For):
            return False
        stored = {name for part in _own_parts(statement) for name in stored_in(part)} & self.wanted
        return any(
            self._kept_along(statement, name) if "." in name else name not in self.cut for name in stored
        )

    def _kept_along(self, statement: ast.stmt, attribute: str) -> bool:
        """Whether a line that sets an attribute only remembers it for the next step, or sets the result."""
        me = self.level.me
        if attribute == f"{me}.{self.level.attribute}" or attribute in self.cut:
            return attribute not in self.cut
        if not isinstance(statement, ast.Assign):
            return False
        every = [n for n in ast.walk(self.level.node) if isinstance(n, ast.stmt) and id(n) in self._kept]
        after = [n for n in every if n.lineno >= statement.lineno and n is not statement]
        parts = [statement.value, *(part for one in after for part in _own_parts(one))]
        reads = read_in(statement.value, me)
        return not any(attribute in read_in(part, me) for part in parts) and not reads & self.cut

    def _filtered(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        found = []
        for statement in statements:
            if id(statement) not in self._kept:
                continue
            one = copy.copy(statement)
            for name in ("body", "orelse", "finalbody"):
                if isinstance(getattr(one, name, None), list) and not isinstance(one, ast.FunctionDef):
                    inner = self._filtered(getattr(one, name))
                    setattr(one, name, inner or ([ast.Pass()] if name == "body" else []))
            if isinstance(one, ast.Try):
                raise UnclearError
            found.append(one)
        return found


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    if isinstance(statement, ast.FunctionDef):
        return
    for name in ("body", "orelse", "finalbody"):
        if getattr(statement, name, None):
            yield getattr(statement, name)


def _own_parts(statement: ast.stmt) -> list[ast.AST]:
    """What a statement itself reads and stores, without the statements in it; of a result only what is meant is read."""
    if isinstance(statement, ast.Return):
        return []
    if isinstance(statement, ast.If | ast.While):
        return [statement.test]
    if isinstance(statement, ast.For):
        return [statement.target, statement.iter]
    if isinstance(statement, ast.With):
        return list(statement.items)
    return [statement]
