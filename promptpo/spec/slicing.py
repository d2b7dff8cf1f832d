"""The lines of an environment's ``step`` that its reward, or the end of an episode, depends on, as they stand.

A backward slice (M. Weiser, "Program slicing", IEEE TSE 10(4), 1984) of one function. It is cut at names that carry
state into the next step, so that the lines that move the environment stay behind. What is found here is a proposal;
`promptpo.spec.trial` runs it beside real steps before a spec shows it.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from promptpo.spec.functions import (
    Level,
    called,
    calls_are_clear,
    read_in,
    results_of,
    root_of,
    stored_in,
    value_of,
)


@dataclass(frozen=True)
class Sliced:
    """Lines of a function.

    Attributes:
        level: The function.
        body: The lines, nested as they stand.
        cut: Names whose values are told instead of how they come about.
        helpers: Functions that these lines call, by their names.
    """

    level: Level
    body: Sequence[ast.stmt]
    cut: set[str]
    helpers: dict[str, Level]


def sliced(level: Level, cut: set[str]) -> Sliced | None:
    """The lines of a function that its result depends on; None where they cannot be told apart.

    Args:
        level: The function.
        cut: Names that need no explaining.
    """
    found = _Slice(level, cut | _carriers(level))
    results, ends = results_of(level), [n for n in ast.walk(level.node) if isinstance(n, ast.Return)]
    while found.again:
        found.again = False
        found.look(level.node.body)
    if found.unclear or len(results) < len(ends) or not (ends or level.attribute):
        return None
    if found.cut & set(map(ast.unparse, results)):
        return None  # it would say that the result is the result
    body = found.filtered(level.node.body)
    for node in (n for one in body for n in ast.walk(one) if isinstance(n, ast.Return)):
        node.value = level.result(node.value)
    body += [ast.Return(level.result(None))] if level.attribute else []
    return Sliced(level, body, found.cut & found.wanted, found.helpers)


def _carriers(level: Level) -> set[str]:
    """Local names that carry state into the next step: put into an attribute that they are computed from."""
    found: set[str] = set()
    for statement in (n for n in ast.walk(level.node) if isinstance(n, ast.Assign)):
        kept = {name for target in statement.targets if "." in (name := ast.unparse(root_of(target)))}
        inner = list(ast.walk(statement.value))
        calls = [n.func for n in inner if isinstance(n, ast.Call)]
        if (
            kept
            and not any(isinstance(n, ast.BinOp) for n in inner)
            and None not in [value_of(level, c) for c in calls]
        ):
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
        for statement in ast.walk(level.node):
            if not isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign) or one not in stored_in(
                statement
            ):
                continue
            reads = set(read_in(statement, level.me))
            for call in (n for n in ast.walk(statement) if isinstance(n, ast.Call)):
                method = called(level, call)
                if method is not None and method.owner is level.owner and method.me:
                    reads |= {
                        f"{level.me}.{r.split('.')[1]}" for r in read_in(method.node, method.me) if "." in r
                    }
            waiting |= {r for r in reads if r.isidentifier()} - found
            found |= {r for r in reads if not r.isidentifier()}
    return found


class _Slice:
    """Lines that are kept, to a fixed point."""

    def __init__(self, level: Level, cut: set[str]) -> None:
        self.level, self.cut = level, cut
        self.helpers: dict[str, Level] = {}
        self.again, self.unclear = True, False
        self._results = results_of(level) or [r for r in [level.result(None)] if r is not None]
        self.wanted = {name for one in self._results for name in read_in(one, level.me)}
        self._kept: set[ast.stmt] = set()

    def look(self, statements: Sequence[ast.stmt]) -> bool:
        """Whether any of these statements is kept."""
        any_kept = False
        for one in statements:
            kept = one in self._kept or self._is_needed(one)
            for inner in _blocks(one):
                kept = self.look(inner) or kept
            if kept and one not in self._kept:
                self._keep(one)
            any_kept = any_kept or kept
        return any_kept

    def _keep(self, one: ast.stmt) -> None:
        self._kept.add(one)
        self.again = True
        self.unclear = self.unclear or isinstance(one, ast.Try)
        for part in _own_parts(self.level, one):
            if not calls_are_clear(self.level, part, self.helpers):
                self.unclear = True
            self.wanted |= read_in(part, self.level.me)

    def _is_needed(self, one: ast.stmt) -> bool:
        if isinstance(one, ast.Return):
            return True
        if isinstance(one, ast.Break | ast.Continue):
            return any(isinstance(kept, ast.For | ast.While) for kept in self._kept)
        if not isinstance(one, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.For):
            return False
        stored = {name for part in _own_parts(self.level, one) for name in stored_in(part)} & self.wanted
        stored = {n for n in stored - self.cut if "." not in n or self._is_remembered(one, n)}
        if (
            stored
            and isinstance(one, ast.Assign | ast.AnnAssign)
            and not calls_are_clear(self.level, one, {})
        ):
            names = {name for name in stored if "." not in name}
            self.cut |= names  # what moves the environment, or draws, is not run again
            self.again = self.again or bool(names)
            return False
        return bool(stored)

    def _is_remembered(self, one: ast.stmt, attribute: str) -> bool:
        """Whether a line that sets an attribute sets the result, or only keeps a value for the next step."""
        if attribute in map(ast.unparse, self._results):
            return True
        after = [n for n in self._kept if n.lineno >= one.lineno and n is not one]
        parts = [
            *([one.value] if isinstance(one, ast.Assign) else [one]),
            *(p for n in after for p in _own_parts(self.level, n)),
        ]
        reads = read_in(parts[0], self.level.me) & self.cut
        return not reads and not any(attribute in read_in(part, self.level.me) for part in parts)

    def filtered(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Copies of the statements that are kept, without those in them that are not."""
        found = []
        for one in (one for one in statements if one in self._kept):
            one = copy.copy(one)  # noqa: PLW2901 - a copy of it
            for name in ("body", "orelse"):
                if isinstance(getattr(one, name, None), list) and not isinstance(one, ast.FunctionDef):
                    inner = self.filtered(getattr(one, name))
                    setattr(one, name, inner or ([ast.Pass()] if name == "body" else []))
            found.append(
                one if isinstance(one, ast.If | ast.For | ast.While | ast.With) else copy.deepcopy(one)
            )
        return found


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    if not isinstance(statement, ast.FunctionDef):
        yield from (getattr(statement, name) for name in ("body", "orelse") if getattr(statement, name, None))


def _own_parts(level: Level, statement: ast.stmt) -> list[ast.AST]:
    """What a statement itself reads and stores, without the statements in it; of a result what is meant."""
    if isinstance(statement, ast.Return):
        result = level.result(statement.value)
        return [] if result is None else [result]
    if isinstance(statement, ast.If | ast.While):
        return [statement.test]
    if isinstance(statement, ast.For):
        return [statement.target, statement.iter]
    return list(statement.items) if isinstance(statement, ast.With) else [statement]
