"""The lines of an environment's ``step`` that its reward, or the end of an episode, depends on, as they stand.

A backward slice (M. Weiser, "Program slicing", IEEE TSE 10(4), 1984) of one function. It is cut at names that carry
state into the next step, so that the lines that move the environment stay behind. What is found here is a proposal;
`promptpo.spec.trial` runs it beside real steps before a spec shows it.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from promptpo.spec.functions import Level, called, helpers_of, returns_of
from promptpo.spec.names import locals_of, read_in, root_of, stored_in


@dataclass(frozen=True)
class Sliced:
    """Lines of a function.

    Attributes:
        level: The function.
        body: The lines, nested as they stand; they return what is looked for.
        results: Names that this is made of.
        cut: Names whose values are told instead of how they come about.
        helpers: Functions that these lines call, by their names.
    """

    level: Level
    body: Sequence[ast.stmt]
    results: frozenset[str]
    cut: set[str]
    helpers: Mapping[str, Level]


def sliced(level: Level, index: int) -> Sliced | None:
    """The lines of a function that an element of its result depends on; None where they cannot be told apart."""
    node, ends = copy.deepcopy(level.node), list[ast.expr]()
    for one in (n for n in ast.walk(node) if isinstance(n, ast.Return)):
        if not isinstance(one.value, ast.Tuple) or len(one.value.elts) <= index:
            return None
        if ast.Starred in map(type, one.value.elts[: index + 1]):  # which element is which shows when it runs
            return None
        ends.append(one.value.elts[0])
        one.value = one.value.elts[index]
    level = replace(level, node=node)
    results = frozenset(name for one in returns_of(node) if one for name in read_in(one, level.me))
    observed = {name for one in ends for name in read_in(one, level.me)} & locals_of(node)
    exactly = set(map(ast.unparse, filter(None, returns_of(node))))
    slicing = _Slice(level, results, exactly, (observed - results) | _carriers(level))
    body = slicing.lines()
    whole = ast.Module(body, [])
    helpers = helpers_of(level, whole, {})
    if helpers is None or not ends or any(isinstance(n, ast.Try) for n in ast.walk(whole)):
        return None
    if slicing.cut & exactly:
        return None  # it would say that the result is the result
    return Sliced(level, body, results, slicing.cut & read_in(whole, level.me), helpers)


def _carriers(level: Level) -> set[str]:
    """Local names that carry state into the next step: put into an attribute that they are computed from."""
    found: set[str] = set()
    for statement in (n for n in ast.walk(level.node) if isinstance(n, ast.Assign)):
        kept = {name for target in statement.targets if "." in (name := ast.unparse(root_of(target)))}
        if kept and not any(isinstance(n, ast.BinOp) for n in ast.walk(statement.value)):
            names = read_in(statement.value, level.me) & locals_of(level.node)
            found |= {name for name in names if kept & _sources(level, name)}
    return found


def _sources(level: Level, name: str) -> set[str]:
    """Names and attributes that a local name is computed from, in methods of the same object too."""
    found, waiting = set[str](), {name}
    while waiting:
        found.add(one := waiting.pop())
        for statement in ast.walk(level.node):
            if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign) and one in stored_in(
                statement
            ):
                reads = set(read_in(statement, level.me))
                for call in ast.walk(statement):
                    method = called(level, call)
                    if method is not None and method.owner is level.owner:
                        reads |= {r for r in read_in(method.node, method.me) if "." in r}
                found |= {r for r in reads if "." in r}
                waiting |= reads - found
    return found


class _Slice:
    """Lines that are kept, found by passes until one finds no more."""

    def __init__(self, level: Level, results: frozenset[str], exactly: set[str], cut: set[str]) -> None:
        self.level, self.cut, self._exactly = level, cut, exactly
        self._wanted, self._looping = set(results), False

    def lines(self) -> list[ast.stmt]:
        """Copies of the lines, nested as they stand."""
        known: tuple[int, ...] = ()
        while known != (now := (len(self._wanted), len(self.cut), self._looping)):
            known, body = now, self._kept_of(self.level.node.body)
        return body

    def _kept_of(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        found = []
        for one in statements:
            kept: Any = copy.copy(one)
            for name in () if isinstance(one, ast.FunctionDef) else ("body", "orelse"):
                if hasattr(one, name):
                    setattr(kept, name, self._kept_of(getattr(one, name)))
            inner = getattr(kept, "body", None) or getattr(kept, "orelse", None)
            if inner or self._is_needed(one):
                self._looping |= isinstance(one, ast.For | ast.While)
                for part in _own_parts(one):
                    self._wanted |= read_in(part, self.level.me)
                if getattr(kept, "body", None) == []:
                    kept.body = [ast.Pass()]
                found.append(kept)
        return found

    def _is_needed(self, one: ast.stmt) -> bool:
        if isinstance(one, ast.Return):
            return True
        if isinstance(one, ast.Break | ast.Continue):
            return self._looping
        if not isinstance(one, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.For):
            return False
        told = self._wanted - self.cut
        keeps = isinstance(one, ast.Assign) and ast.unparse(one.value) in told  # a value for the next step
        every = {name for part in _own_parts(one) for name in stored_in(part)}
        stored = {name for name in every & told if "." not in name or name in self._exactly or keeps}
        moves = isinstance(one, ast.Assign | ast.AnnAssign) and bool(
            every & self.cut or helpers_of(self.level, one, {}) is None
        )
        if moves:  # what moves the environment, or draws, is not run again
            self.cut |= {name for name in stored if "." not in name}
        return bool(stored) and not moves


def _own_parts(statement: ast.stmt) -> list[ast.AST]:
    """What a statement itself reads and stores, without the statements in it."""
    if isinstance(statement, ast.If | ast.While):
        return [statement.test]
    if isinstance(statement, ast.For):
        return [statement.target, statement.iter]
    return list(statement.items) if isinstance(statement, ast.With) else [statement]
