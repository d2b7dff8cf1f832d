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


def _unclear(result: Sliced) -> set[str]:
    """Names assigned by lines whose calls change or draw something; fills in the helpers.

    Raises:
        UnclearError: Such a call stands where no name is assigned.
    """
    found: set[str] = set()
    for statement in (n for body in result.body for n in ast.walk(body) if isinstance(n, ast.stmt)):
        if not _own_changes(result.level, statement):
            raise UnclearError
        own = [
            getattr(statement, part) for part in ("value", "test", "iter") if getattr(statement, part, None)
        ]
        calls = [n for part in own for n in ast.walk(part) if isinstance(n, ast.Call)]
        for inner in (n for part in own for n in ast.walk(part) if isinstance(n, ast.Attribute)):
            _add_property(result.level, inner, result.helpers, 0)
        if all(_clear(result.level, call, result.helpers, 0) for call in calls):
            continue
        names = {name for name in stored_in(statement) if name.count(".") < 2}  # noqa: PLR2004 - of the own object
        if not isinstance(statement, ast.Assign | ast.AnnAssign) or not names:
            raise UnclearError
        found |= names
    return found


def _own_changes(level: Level, statement: ast.stmt) -> bool:
    """Whether what a statement changes in place belongs to this function, so that running it changes nothing else."""
    inner = [n for part in _own_parts(statement) for n in ast.walk(part)]
    changed = [n for n in inner if isinstance(n, ast.Subscript) and not isinstance(n.ctx, ast.Load)]
    called_on = [n.func for n in inner if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    changed_by = [n.value for n in called_on if n.attr in CHANGING]
    own = locals_of(level.node) - {n.arg for n in ast.walk(level.node.args) if isinstance(n, ast.arg)}
    return {ast.unparse(root_of(n)) for n in [*changed, *changed_by]} <= own


def _clear(level: Level, call: ast.Call, helpers: dict[str, Level], depth: int) -> bool:
    """Whether a call neither changes nor draws anything; those of the environment's own functions are put into `helpers`."""
    text = ast.unparse(call.func)
    if DRAWS.search(text) or text.startswith("super("):
        return False
    target = value_of(level, call.func)
    if target is None:
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        root = text.split(".")[0].split("[")[0].split("(")[0]
        return method not in CHANGING or root in locals_of(level.node)
    if isinstance(getattr(target, "__func__", target), FunctionType):
        found = called(level, call, None)
        package = getattr(target, "__module__", "").split(".")[0]
        if found is None:
            return False
        if package in {"numpy", "math", "builtins"}:
            return True
        if package == "gymnasium" and found.owner is None and "envs" not in target.__module__:
            return False
        if depth > DEEPEST or any("." in name or found.me == name for name in stored_in(found.node)):
            return False
        if helpers.get(found.node.name, found).code is not found.code:
            return False
        helpers[found.node.name] = found
        inner = [n for n in ast.walk(found.node) if isinstance(n, ast.Call)]
        for one in (n for n in ast.walk(found.node) if isinstance(n, ast.Attribute)):
            _add_property(found, one, helpers, depth + 1)
        return all(_clear(found, one, helpers, depth + 1) for one in inner if one is not call)
    return not (isinstance(call.func, ast.Attribute) and call.func.attr in CHANGING)


def _add_property(level: Level, node: ast.Attribute, helpers: dict[str, Level], depth: int) -> None:
    """Put the function behind an attribute that is computed, and only computed, into `helpers`."""
    found = property_of(level, node)
    if found is None or depth > DEEPEST or helpers.get(node.attr, found).code is not found.code:
        return
    inner = dict(helpers)
    if any("." in name for name in stored_in(found.node)):
        return
    calls = [n for n in ast.walk(found.node) if isinstance(n, ast.Call)]
    if all(_clear(found, one, inner, depth + 1) for one in calls):
        helpers.update(inner)
        helpers[node.attr] = found
        for one in (n for n in ast.walk(found.node) if isinstance(n, ast.Attribute)):
            _add_property(found, one, helpers, depth + 1)


def carriers(level: Level) -> set[str]:
    """Local names that carry state into the next step: put into an attribute that they are computed from."""
    found: set[str] = set()
    for statement in (n for n in ast.walk(level.node) if isinstance(n, ast.Assign)):
        names = {n.id for n in ast.walk(statement.value) if isinstance(n, ast.Name)}
        calls = [n.func for n in ast.walk(statement.value) if isinstance(n, ast.Call)]
        plain = not any(isinstance(n, ast.BinOp) for n in ast.walk(statement.value))
        if not plain or any(value_of(level, one) is None for one in calls):
            continue
        for target in statement.targets:
            kept = ast.unparse(root_of(target))
            if kept.startswith(f"{level.me}."):
                found |= {name for name in names if _comes_from(level, name, kept)}
    return found


def passing(level: Level) -> set[str]:
    """Local names computed in the middle of the move, from attributes that it changes: their lines hold neither before nor after."""
    every = [
        n for n in ast.walk(level.node) if isinstance(n, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For)
    ]
    prefix = f"{level.me}."
    moved = {
        name for n in every for part in _own_parts(n) for name in stored_in(part) if name.startswith(prefix)
    }
    places = [
        n.lineno for n in every if any(name in moved for part in _own_parts(n) for name in stored_in(part))
    ]
    found: set[str] = set()
    for statement in every:
        names = {name for part in _own_parts(statement) for name in stored_in(part) if name.isidentifier()}
        reads = set().union(*(read_in(part, level.me) for part in _own_parts(statement)))
        between = places and min(places) < statement.lineno <= max(places)
        if between and reads & moved:
            found |= names
    results = {name for one in results_of(level) for name in read_in(one, level.me)}
    return found - results


def below_moves(lines: Sliced) -> bool:
    """Whether lines stand below all others that change the object, so that they hold for what is seen after the step."""
    level, kept = (
        lines.level,
        {getattr(n, "lineno", 0) for one in lines.body for n in ast.walk(one)} - {0},
    )
    others = [n for n in ast.walk(level.node) if isinstance(n, ast.Assign | ast.AugAssign | ast.Expr)]
    moving = [n.lineno for n in others if n.lineno not in kept and _changes(level, n)]
    return max(moving, default=0) < min(kept, default=0)


def _changes(level: Level, statement: ast.stmt) -> bool:
    """Whether a statement changes an attribute of the object, or calls what does or may."""
    if any(name.startswith(f"{level.me}.") for name in stored_in(statement)):
        return True
    calls = [n for n in ast.walk(statement) if isinstance(n, ast.Call)]
    return not all(_clear(level, call, {}, 0) or SHOWS.search(ast.unparse(call.func)) for call in calls)


def _comes_from(level: Level, name: str, attribute: str) -> bool:
    seen: set[str] = set()
    waiting = {name}
    while waiting:
        one = waiting.pop()
        seen.add(one)
        for statement in (
            n for n in ast.walk(level.node) if isinstance(n, ast.Assign | ast.AugAssign | ast.AnnAssign)
        ):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if statement.value is None or not any(one in stored_in(target) for target in targets):
                continue
            reads = read_in(statement, level.me)
            calls = [n for n in ast.walk(statement.value) if isinstance(n, ast.Call)]
            if attribute in reads or any(_reads(level, call, attribute) for call in calls):
                return True
            waiting |= {r for r in reads if r.isidentifier()} - seen
    return False


def _reads(level: Level, call: ast.Call, attribute: str) -> bool:
    """Whether a method called on the own object reads one of its attributes."""
    found = called(level, call, None)
    name = attribute.partition(".")[2]
    return (
        found is not None
        and found.owner is level.owner
        and bool(level.me)
        and f"{found.me}.{name}" in read_in(found.node, found.me)
    )


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
        if isinstance(statement, ast.Expr) and not (
            isinstance(statement.value, ast.Call)
            and isinstance(statement.value.func, ast.Attribute)
            and ast.unparse(root_of(statement.value.func.value)).isidentifier()
            and ast.unparse(statement.value.func.value) != self.level.me
        ):
            return False
        if not isinstance(
            statement,
            ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.For | ast.With | ast.FunctionDef,
        ):
            return False
        if isinstance(statement, ast.FunctionDef):
            return statement.name in self.wanted
        parts = [statement] if not isinstance(statement, ast.For | ast.With) else _own_parts(statement)
        stored = {name for part in parts for name in stored_in(part)} & self.wanted
        local = {name for name in stored if "." not in name} - self.cut
        return bool(local) or any(self._kept_along(statement, name) for name in stored if "." in name)

    def _kept_along(self, statement: ast.stmt, attribute: str) -> bool:
        """Whether a line that sets an attribute only remembers it for the next step, or sets the result."""
        if attribute == f"{self.level.me}.{self.level.attribute}" or attribute in self.cut:
            return attribute not in self.cut
        read = [
            one.lineno
            for one in ast.walk(self.level.node)
            if isinstance(one, ast.stmt)
            and id(one) in self._kept
            and one is not statement
            and any(attribute in read_in(part, self.level.me) for part in _own_parts(one))
        ]
        value = getattr(statement, "value", None)
        names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)} if value is not None else set()
        again = value is not None and attribute in read_in(value, self.level.me)
        remembers = isinstance(statement, ast.Assign) and max(read, default=0) < statement.lineno
        return remembers and not again and not names & self.cut

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
