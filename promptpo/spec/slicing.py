"""The lines of an environment's ``step`` that its reward, or the end of an episode, depends on, as they stand.

A backward slice (M. Weiser, "Program slicing", IEEE TSE 10(4), 1984) of one function. It is cut at names that carry
state into the next step, so that the lines that move the environment stay behind. What is found here is a proposal;
`promptpo.spec.trial` runs it beside real steps before a spec shows it.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from dataclasses import dataclass

from promptpo.spec.functions import Level, called, calls_are_clear, results_of, value_of
from promptpo.spec.names import read_in, root_of, stored_in


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
    body, results = found.lines(), results_of(level)
    ends = [n for n in ast.walk(level.node) if isinstance(n, ast.Return)]
    if found.unclear or len(results) < len(ends) or not ends:
        return None
    if found.cut & found.results:
        return None  # it would say that the result is the result
    for node in (n for one in body for n in ast.walk(one) if isinstance(n, ast.Return)):
        node.value = level.result(node.value)
    read = {name for one in body for name in read_in(one, level.me)}
    return Sliced(level, body, found.cut & read, found.helpers)


def _carriers(level: Level) -> set[str]:
    """Local names that carry state into the next step: put into an attribute that they are computed from."""
    found: set[str] = set()
    for statement in (n for n in ast.walk(level.node) if isinstance(n, ast.Assign)):
        kept = {name for target in statement.targets if "." in (name := ast.unparse(root_of(target)))}
        inner = list(ast.walk(statement.value))
        plain = not any(isinstance(n, ast.BinOp) for n in inner)
        if kept and plain and all(value_of(level, n.func) for n in inner if isinstance(n, ast.Call)):
            names = {n.id for n in inner if isinstance(n, ast.Name)} - {level.me}
            found |= {name for name in names if kept & _sources(level, name)}
    return found


def _sources(level: Level, name: str) -> set[str]:
    """Names and attributes that a local name is computed from, in methods of the same object too."""
    found, waiting = set[str](), {name}
    assigning = [n for n in ast.walk(level.node) if isinstance(n, ast.Assign | ast.AugAssign | ast.AnnAssign)]
    while waiting:
        found.add(one := waiting.pop())
        for statement in (n for n in assigning if one in stored_in(n)):
            reads = set(read_in(statement, level.me))
            for call in (n for n in ast.walk(statement) if isinstance(n, ast.Call)):
                method = called(level, call)
                if method is not None and method.owner is level.owner:
                    reads |= {r for r in read_in(method.node, method.me) if "." in r}
            found |= {r for r in reads if "." in r}
            waiting |= reads - found
    return found


class _Slice:
    """Lines that are kept, found by passes until one finds no more."""

    def __init__(self, level: Level, cut: set[str]) -> None:
        self.level, self.cut = level, cut
        self.helpers: dict[str, Level] = {}
        self.unclear = self._looping = False
        results = results_of(level)
        self.results = set(map(ast.unparse, results))
        self._wanted = {name for one in results for name in read_in(one, level.me)}

    def lines(self) -> list[ast.stmt]:
        """Copies of the lines, nested as they stand."""
        known: tuple[int, ...] = ()
        while known != (now := (len(self._wanted), len(self.cut), self._looping)):
            known, body = now, self._kept_of(self.level.node.body)
        return body

    def _kept_of(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        found = []
        for one in statements:
            names = () if isinstance(one, ast.FunctionDef) else ("body", "orelse")
            inner = {name: self._kept_of(getattr(one, name)) for name in names if hasattr(one, name)}
            if not any(inner.values()) and not self._is_needed(one):
                continue
            self.unclear |= isinstance(one, ast.Try)
            self._looping |= isinstance(one, ast.For | ast.While)
            for part in _own_parts(self.level, one):
                self.unclear |= not calls_are_clear(self.level, part, self.helpers)
                self._wanted |= read_in(part, self.level.me)
            kept = copy.copy(one)
            for name, lines in inner.items():
                setattr(kept, name, lines or ([ast.Pass()] if name == "body" else []))
            found.append(kept)
        return found

    def _is_needed(self, one: ast.stmt) -> bool:
        if isinstance(one, ast.Return):
            return True
        if isinstance(one, ast.Break | ast.Continue):
            return self._looping
        if not isinstance(one, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.For):
            return False
        stored = {name for part in _own_parts(self.level, one) for name in stored_in(part)}
        told = self._wanted - self.cut
        keeps = isinstance(one, ast.Assign) and ast.unparse(one.value) in told  # a value for the next step
        stored = {n for n in stored & told if "." not in n or n in self.results or keeps}
        moves = isinstance(one, ast.Assign | ast.AnnAssign) and not calls_are_clear(self.level, one, {})
        if stored and moves:
            self.cut |= {
                n for n in stored if "." not in n
            }  # what moves the environment, or draws, is not run again
        return bool(stored) and not moves


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
