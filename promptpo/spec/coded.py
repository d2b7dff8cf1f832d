"""Lines that passed their trial as a spec shows them, with what each of their variables is to a policy."""

from __future__ import annotations

import ast
import copy
import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from promptpo.envs.family import differing
from promptpo.spec.documentation import first_line
from promptpo.spec.evaluated import evaluated
from promptpo.spec.functions import Level, arguments_of, is_fixed, locals_of, read_in, value_of
from promptpo.spec.parts import NOT_OBSERVED, RewardCode
from promptpo.spec.slicing import LAST, changes
from promptpo.spec.values import Columns, in_words

if TYPE_CHECKING:
    from promptpo.spec.slicing import Sliced
    from promptpo.spec.trial import SpecTrial

LONG = 10
"""Characters from which on a number is rounded to six digits."""

SHORT = 40
"""Characters of a constant that is written out."""

MARK = "...  # the environment moves on here"

SAYING = (ast.BinOp, ast.Compare, ast.IfExp, ast.If, ast.BoolOp, ast.AugAssign, ast.UnaryOp)
"""What code has that says more than where a value is kept."""


@dataclass
class _Words:
    """What is told of variables: where they are read, those that never changed, those that a policy does not see."""

    places: dict[str, str] = field(default_factory=dict)
    always: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)

    def lines(self) -> dict[str, str]:
        """As they stand below the code."""
        told = {"Always the same in the steps seen": self.always, NOT_OBSERVED: self.hidden}
        return {**self.places, **{title: ", ".join(names) for title, names in told.items() if names}}


def coded(trial: SpecTrial | None, name: str, room: int, spaces: tuple[Any, Any]) -> RewardCode | None:
    """The lines of "reward" or "terminated" that passed; None where none did, or they take more than `room` characters.

    Args:
        trial: With the steps that were taken; None where nothing ran beside them.
        name: Of the two.
        room: For the code.
        spaces: Of observations and actions.
    """
    passed = trial.passed(name) if trial is not None else None
    if trial is None or passed is None:
        return None
    sides, lines, level = trial.sides(*spaces), passed.lines, passed.lines.level
    shown = _with_marks(lines)
    every = [*shown, *(one for helper in lines.helpers.values() for one in helper.node.body)]
    last = shown[-1].value if isinstance(shown[-1], ast.Return) else None
    plain = isinstance(last, ast.Constant) and bool(last.value)
    if not plain and not any(isinstance(n, SAYING) for one in every for n in ast.walk(one)):
        return None  # it hands on what it looks up
    words, body = _Words(), _texts(level, shown, trial.env)
    head = _head(
        trial,
        lines,
        {n.id for n in ast.walk(ast.parse("\n".join(body))) if isinstance(n, ast.Name)},
        sides,
        words,
    )
    if head is None:
        return None
    used = " ".join([*head, *body])
    given = [one for one in ("obs", "action", "next_obs") if re.search(rf"\b{one}\b", used)]
    entry = "\n".join([f"def {name}({', '.join(given)}):", *(f"    {line}" for line in (*head, *body))])
    functions = reached([entry, *_helpers(lines, trial.env)])
    for taken in {"reward", "terminated"} & lines.helpers.keys():  # a component's function of the same name
        rest = [re.sub(rf"^def {taken}\(", f"def {taken}_(", one) for one in functions[1:]]
        functions = [re.sub(rf"\.{taken}\(", f".{taken}_(", one) for one in (functions[0], *rest)]
    if sum(map(len, functions)) > room:
        return None
    _tell_attributes(words, trial, level, sides, "\n".join(functions), moves=MARK in "\n".join(body))
    for other, one in lines.helpers.items():
        if (said := _elsewhere(lines, one)) and re.search(rf"\b{other}\(", "\n".join(functions)):
            words.places[other] = said
    return RewardCode(functions, words.lines())


def _with_marks(lines: Sliced) -> list[ast.stmt]:
    """The lines, with a mark where lines that change what they read are left out, unless all of these stand above."""
    level = lines.level
    at = [getattr(one, "lineno", LAST) for one in lines.body]
    read = {name.split(".")[1] for one in lines.body for name in read_in(one, level.me) if "." in name}
    for helper in lines.helpers.values():
        read |= {name.split(".")[1] for name in read_in(helper.node, helper.me) if "." in name}
    left_out = [n for n in level.node.body if n.lineno not in at]
    moving = [n.lineno for n in left_out if changes(level, n, {f"{level.me}.{name}" for name in read})]
    shown: list[ast.stmt] = []
    last = 0
    for line, one in zip(at, lines.body, strict=True):
        if any(last < n < line for n in moving) and max(moving) > at[0]:
            shown.append(ast.Expr(ast.Constant(...)))
        shown.append(copy.deepcopy(one))
        last = line
    return shown


def _head(trial: SpecTrial, lines: Sliced, read: set[str], sides: Columns, words: _Words) -> list[str] | None:
    """Lines that say where a policy finds arguments and cut names; None where nobody could say what one is."""
    level, told = lines.level, []
    arguments = arguments_of(level) - {level.me}
    for one in sorted((arguments | lines.cut) & read, key=lambda n: (n not in arguments, n)):
        found = trial.tied(level.key(one), sides, before=one in arguments)
        if found.path:
            told += [f"{one} = {in_words(found)}"] if in_words(found) != one else []
        elif found.constant:
            words.always.append(f"{one} {found.words}")
        elif found.copied and found.words:
            words.places[one] = found.words
        elif found.words:
            words.hidden.append(f"{one} ({found.words})")
        elif one not in {"action", "info"} and not found.copied:
            return None
    return told


def reached(functions: Sequence[str]) -> list[str]:
    """The first function, and those that are named in one that is reached."""
    kept, rest = list(functions[:1]), list(functions[1:])
    while more := [f for f in rest if any(re.search(rf"\b{f[4 : f.index('(')]}\b", text) for text in kept)]:
        kept, rest = [*kept, *more], [one for one in rest if one not in more]
    return kept


def _tell_attributes(
    words: _Words, trial: SpecTrial, level: Level, sides: Columns, text: str, *, moves: bool
) -> None:
    """Tells what the attributes in code are."""
    for one in trial.paths[level.code]:
        path, key = f"{level.path}.{one}", level.key(f".{one}")
        if not re.search(rf"\b{re.escape(path)}(?!\w|\(|\[[-\d:])", text) or f"\ndef {one}(" in text:
            continue
        found = trial.tied(key, sides)
        if one == level.attribute:
            begun = trial.tied(key, sides, before=True)
            words.places |= {path: f"{begun.words} before these lines"} if begun.constant else {}
            continue
        varies = isinstance(level.owner, gymnasium.Env) and one in differing(level.owner)
        if found.path and moves:
            before = in_words(trial.tied(key, sides, before=True))
            if before:
                words.places[path] = f"{before} at the beginning of a step, {in_words(found)} at its end"
        elif found.path:
            words.places[path] = in_words(found)
        elif found.constant and not varies:
            words.always.append(f"{path} {found.words}")
        elif found.copied and found.words:
            words.places[path] = found.words
        elif found.words and not found.constant:
            words.hidden.append(f"{path} ({found.words})")


def _helpers(lines: Sliced, env: Any) -> Iterator[str]:
    """Functions that the lines call, as they stand."""
    for name, level in lines.helpers.items():
        if _elsewhere(lines, level):
            continue
        body = [
            one
            for one in level.node.body
            if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
        ]
        arguments = [ast.arg(one.arg) for one in level.node.args.args[bool(level.me) :]]
        given = ast.unparse(ast.arguments([], arguments, None, [], [], None, level.node.args.defaults))
        computed = isinstance(inspect.getattr_static(type(level.owner), name, None), property)
        head = f"def {name}({given}):{f'  # {level.path}.{name}' if computed else ''}"
        yield "\n".join([head, *(f"    {line}" for line in _texts(level, copy.deepcopy(body), env))])


def _elsewhere(lines: Sliced, level: Level) -> str:
    """The first line of the documentation of a function of another module, which says enough; empty for all others."""
    told = first_line(ast.get_docstring(level.node))
    return told if level.owner is not lines.level.owner and level.names is not lines.level.names else ""


def _texts(level: Level, body: list[ast.stmt], env: Any) -> list[str]:
    """Lines as text.

    Args:
        level: Whose.
        body: The lines.
        env: The environment, from which a path leads to the object whose lines they are.
    """
    lasts, at = True, env
    for name in level.path.split(".")[1:]:  # an object that is replaced has no constants
        lasts, at = lasts and is_fixed(at, name), getattr(at, name, None)
    module = _Shown(level, lasts=lasts).visit(ast.Module(body, []))
    text = ast.unparse(ast.fix_missing_locations(module))
    text = re.sub(r"\benv\.(\w+)\(", r"\1(", text) if level.path == "env" else text
    return [MARK if line == "..." else line for line in text.splitlines()] or ["pass"]


class _Shown(ast.NodeTransformer):
    """A level's lines as a spec shows them: its object called ``env``, constants by their values, dead branches cut."""

    def __init__(self, level: Level, *, lasts: bool) -> None:
        self._level, self._own, self._lasts = level, locals_of(level.node), lasts

    def visit(self, node: ast.AST) -> Any:
        """The node, or what it comes to where it reads nothing but constants."""
        if isinstance(node, ast.expr) and self._is_constant(node):
            try:
                value = evaluated(ast.unparse(node), self._level.names, {self._level.me: self._level.owner})
            except Exception:  # noqa: BLE001 - of a foreign class: anything can come out of it
                value = None
            if (
                isinstance(value, bool | int | float | str | np.number | np.bool_ | tuple | list)
                and len(str(value)) < SHORT
            ):
                return _literal(value) or super().visit(node)
        return super().visit(node)

    def _is_constant(self, node: ast.expr) -> bool:
        if not isinstance(
            node, ast.Name | ast.Attribute | ast.Subscript | ast.Compare | ast.BoolOp | ast.UnaryOp
        ):
            return False
        inner = list(ast.walk(node))
        names = [n for n in inner if isinstance(n, ast.Name)]
        plain = not any(isinstance(n, ast.Call | ast.Lambda | ast.comprehension | ast.Store) for n in inner)
        known = all(
            n.id == self._level.me or (n.id in self._level.names and n.id not in self._own) for n in names
        )
        return bool(names) and plain and known and all(map(self._is_fixed, inner))

    def _is_fixed(self, node: ast.AST) -> bool:
        """Whether a part of an expression is no attribute that may change."""
        if isinstance(node, ast.Name):
            return self._level.names.get(node.id) is not np
        if not isinstance(node, ast.Attribute):
            return True
        owner = value_of(self._level, node.value)
        static = inspect.getattr_static(owner, node.attr, None)
        if owner is self._level.owner and not self._lasts:
            return False
        kept = node.attr in getattr(owner, "__dict__", {}) or isinstance(
            static, int | float | str | dict | list | tuple
        )
        return isinstance(owner, ModuleType) or (kept and is_fixed(owner, node.attr))

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """The object itself by the path to it."""
        return ast.parse(self._level.path, mode="eval").body if node.id == self._level.me else node

    def visit_If(self, node: ast.If) -> Any:
        """One of its branches, where it is known which."""
        self.generic_visit(node)
        return (
            node if not isinstance(node.test, ast.Constant) else node.body if node.test.value else node.orelse
        )

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """One of its values, where it is known which."""
        self.generic_visit(node)
        return (
            node if not isinstance(node.test, ast.Constant) else node.body if node.test.value else node.orelse
        )

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """What is open of it."""
        self.generic_visit(node)
        neutral = isinstance(node.op, ast.And)
        decided = [bool(one.value) for one in node.values if isinstance(one, ast.Constant)]
        if (not neutral) in decided:
            return ast.Constant(not neutral)
        kept = [one for one in node.values if not isinstance(one, ast.Constant)]
        return ast.BoolOp(node.op, kept) if len(kept) > 1 else kept[0] if kept else ast.Constant(neutral)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """An argument without its type."""
        return ast.arg(node.arg)


def _literal(value: Any) -> ast.expr | None:
    """A constant as it is written; None for what is none."""
    plain = value.item() if isinstance(value, np.generic) else value
    text = f"{plain:.6g}" if isinstance(plain, float) and len(repr(plain)) > LONG else repr(plain)
    try:
        return ast.parse(
            re.sub(r"\b(inf|nan)\b", r"np.\1", text) if not isinstance(plain, str) else text, mode="eval"
        ).body
    except SyntaxError:
        return None
