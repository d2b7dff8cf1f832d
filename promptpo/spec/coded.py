"""Lines that passed their trial as a spec shows them, with what each of their variables is to a policy."""

from __future__ import annotations

import ast
import copy
import inspect
import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from promptpo.envs.family import differing
from promptpo.spec.documentation import first_line
from promptpo.spec.functions import Level, arguments_of, is_fixed, locals_of, read_in, value_of
from promptpo.spec.parts import NOT_OBSERVED, RewardCode
from promptpo.spec.slicing import Sliced, sliced
from promptpo.spec.values import Columns, Tie, in_words

if TYPE_CHECKING:
    from promptpo.spec.trial import SpecTrial

LONG = 10
"""Characters from which on a number is rounded to six digits."""

SHORT = 40
"""Characters of a constant that is written out."""

MARK = "...  # the environment moves on here"


@dataclass
class _Told:
    """What is told of variables: where they are read, those that never changed, those that a policy does not see."""

    places: dict[str, str] = field(default_factory=dict)
    always: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)

    def add(self, name: str, found: Tie) -> None:
        """One that stands nowhere in what a policy sees."""
        if found.constant:
            self.always.append(f"{name} {found.words}")
        elif not found.copied and found.words:
            self.hidden.append(f"{name} ({found.words})")

    def lines(self) -> dict[str, str]:
        """As they stand below the code."""
        told = {"Always the same in the steps seen": self.always, NOT_OBSERVED: self.hidden}
        return {**self.places, **{title: ", ".join(names) for title, names in told.items() if names}}


def coded(trial: SpecTrial, name: str, room: int, spaces: tuple[Any, Any]) -> RewardCode | None:
    """The lines of "reward" or "terminated" that passed; None where none did, or they take more than `room` characters.

    Args:
        trial: With the steps that were taken.
        name: Of the two.
        room: For the code.
        spaces: Of observations and actions.
    """
    passed = trial.passed(name)
    if passed is None:
        return None
    sides, lines, level = trial.sides(*spaces), passed.lines, passed.lines.level
    shown = _means_only(lines)
    plain = isinstance(shown[-1], ast.Return) and isinstance(shown[-1].value, ast.Constant)
    if not plain and not any(
        isinstance(n, _SAYING) for one in [*shown, *_bodies(lines)] for n in ast.walk(one)
    ):
        return None  # it hands on what it looks up
    if passed.place:
        shown.insert(passed.place, ast.Expr(ast.Constant(...)))
    body = _texts(level, shown)
    read = {n.id for n in ast.walk(ast.parse("\n".join(body))) if isinstance(n, ast.Name)}
    words = _Told()
    told = _tied_names(trial, lines, read, sides, words)
    if told is None:
        return None  # nobody could say what one of its names is
    functions = reached([_defined(name, told, body, read), *_helpers(trial, lines, sides)])
    if sum(map(len, functions)) > room:
        return None
    functions = _add_attributes(words, trial, level, sides, functions, moves=bool(passed.place))
    whole = "\n".join(functions)
    for other, one in lines.helpers.items():
        if re.search(rf"\b{other}\(", whole) and (said := _elsewhere(lines, one)):
            words.places[other] = said
    return RewardCode(functions, words.lines())


def _tied_names(
    trial: SpecTrial, lines: Sliced, read: set[str], sides: Columns, words: _Told
) -> dict[str, str] | None:
    """Where a policy finds the arguments and cut names that are read; None where one of them is nothing known."""
    level, told = lines.level, {}
    arguments = arguments_of(level) - {level.me}
    for one in sorted((arguments | lines.cut) & read, key=lambda n: (n not in arguments, n)):
        found = trial.tied(level.key(one), sides, before=one in arguments)
        if found.path and in_words(found) != one:
            told[one] = in_words(found)
        elif not found.path and one not in {"action", "info"} and not (found.words or found.copied):
            return None
        elif not found.path:
            words.add(one, found)
    return told


def reached(functions: list[str]) -> list[str]:
    """The first function, and those that are named in one that is reached."""
    kept, rest = functions[:1], functions[1:]
    while True:
        more = [one for one in rest if any(re.search(rf"\b{_name(one)}\b", text) for text in kept)]
        if not more:
            return kept
        kept, rest = [*kept, *more], [one for one in rest if one not in more]


def _name(function: str) -> str:
    return function[4 : function.index("(")]


def _means_only(lines: Sliced) -> list[ast.stmt]:
    """The lines with only those targets of an assignment that are meant."""
    shown = copy.deepcopy(lines.body)
    read = set().union(*(read_in(one, lines.level.me) for one in shown))
    for one in (n for line in shown for n in ast.walk(line) if isinstance(n, ast.Assign)):
        target, value = one.targets[0], one.value
        name = (
            value.func.attr if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) else ""
        )
        helper = lines.helpers.get(name)
        if not isinstance(target, ast.Tuple):
            continue
        if helper is not None and helper.index is not None:
            one.targets = [target.elts[helper.index]]
        elif isinstance(value, ast.Tuple):
            pairs = [p for p in zip(target.elts, value.elts, strict=True) if ast.unparse(p[0]) in read]
            if len(pairs) == 1:
                one.targets, one.value = [pairs[0][0]], pairs[0][1]
    return shown


_SAYING = (ast.BinOp, ast.Compare, ast.IfExp, ast.If, ast.BoolOp, ast.AugAssign, ast.UnaryOp)
"""What code has that says more than where a value is kept."""


def _bodies(lines: Sliced) -> list[ast.stmt]:
    return [one for helper in lines.helpers.values() for one in helper.node.body]


def _add_attributes(
    words: _Told, trial: SpecTrial, level: Level, sides: Columns, functions: list[str], *, moves: bool
) -> list[str]:
    """Tells what the attributes in code are; the functions with those that are constant by their values."""
    for one in trial.paths[level.code]:
        path, key = f"{level.path}.{one}", level.key(f".{one}")
        here = re.compile(rf"\b{re.escape(path)}(?![\w\[(])")
        if not any(here.search(text) for text in functions):
            continue
        found = trial.tied(key, sides)
        if found.constant and isinstance(level.owner, gymnasium.Env) and one in differing(level.owner):
            continue
        if found.constant and _is_property(level, one):
            functions = [here.sub(found.words, text) for text in functions]
        elif not found.path and found.words:
            if not any(text.startswith(f"def {one}(") for text in functions):
                words.add(path, found)
        elif found.path and not moves:
            words.places[path] = in_words(found)
        elif found.path and (earlier := trial.tied(key, sides, before=True)).path:
            words.places[path] = (
                f"{in_words(earlier)} before the environment moves on, {in_words(found)} after"
            )
    return functions


def _is_property(level: Level, name: str) -> bool:
    return isinstance(inspect.getattr_static(type(level.owner), name, None), property)


def _helpers(trial: SpecTrial, lines: Sliced, sides: Columns) -> Iterator[str]:
    for name, level in lines.helpers.items():
        if _elsewhere(lines, level):
            continue
        computed = level.owner is lines.level.owner and _is_property(level, name)
        value = trial.tied(lines.level.key(f".{name}"), sides) if computed else Tie()
        if computed and (value.constant or value.path or not value.words):
            continue  # its value says as much
        part = sliced(level, set()) if level.index is not None else None
        whole = part.body if part is not None else level.node.body
        body = [one for one in copy.deepcopy(whole) if not _is_docstring(one)]
        arguments = _Shown(level).visit(copy.deepcopy(level.node.args))
        if level.me:
            arguments.args = arguments.args[1:]
        head = f"def {name}({ast.unparse(arguments)}):{f'  # {level.path}.{name}' if computed else ''}"
        yield "\n".join([head, *(f"    {line}" for line in _texts(level, body))])


def _elsewhere(lines: Sliced, level: Level) -> str:
    """The first line of the documentation of a function of another module, which says enough; empty for all others."""
    told = first_line(ast.get_docstring(level.node))
    return told if level.owner is not lines.level.owner and level.names is not lines.level.names else ""


def _is_docstring(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _texts(level: Level, body: Sequence[ast.stmt]) -> list[str]:
    module = _Shown(level).visit(ast.Module(_shorter(list(body)), []))
    text = ast.unparse(ast.fix_missing_locations(module))
    text = re.sub(r"\benv\.(\w+)\(", r"\1(", text) if level.path == "env" else text
    return [MARK if line == "..." else line for line in text.splitlines()] or ["pass"]


def _defined(name: str, told: Mapping[str, str], body: Sequence[str], read: set[str]) -> str:
    head = [f"{one} = {path}" for one, path in told.items()]
    used = read | {word for path in told.values() for word in re.findall(r"[a-z_]+", path)}
    given = [one for one in ("obs", "action", "next_obs") if one in used]
    return "\n".join([f"def {name}({', '.join(given)}):", *(f"    {line}" for line in (*head, *body))])


def _shorter(body: list[ast.stmt]) -> list[ast.stmt]:
    """Lines whose last two are ``x = ...`` and ``return x`` as one."""
    last = body[-2:]
    if len(last) == 2 and isinstance(last[0], ast.Assign) and isinstance(last[1], ast.Return):  # noqa: PLR2004 - two lines
        target = last[0].targets[0]
        if isinstance(target, ast.Name) and last[1].value and ast.unparse(last[1].value) == target.id:
            return [*body[:-2], ast.Return(last[0].value)]
    return body


class _Shown(ast.NodeTransformer):
    """A level's lines as a spec shows them: its object called ``env``, constants by their values, dead branches cut."""

    def __init__(self, level: Level) -> None:
        self._level, self._own = level, locals_of(level.node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id == self._level.me:
            return ast.parse(self._level.path, mode="eval").body
        value = self._level.names.get(node.id)
        constant = isinstance(value, bool | int | float | str | np.number) and node.id not in self._own
        return _literal(value) if constant and isinstance(node.ctx, ast.Load) else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        owner = value_of(self._level, node.value)
        if owner is not None and isinstance(node.ctx, ast.Load):
            value = getattr(owner, node.attr, None)
            fixed = (
                isinstance(owner, ModuleType)
                or node.attr in getattr(owner, "__dict__", {})
                or isinstance(inspect.getattr_static(owner, node.attr, None), int | float | str)
            )
            changed = not isinstance(owner, ModuleType) and not is_fixed(owner, node.attr)
            number = isinstance(value, bool | int | float | str | np.number | np.bool_) or (
                isinstance(value, tuple | list)
                and len(str(value)) < SHORT
                and all(isinstance(n, int | float) for n in value)
            )
            if number and fixed and not changed and not (isinstance(owner, ModuleType) and owner is np):
                return _literal(value)
        self.generic_visit(node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        table = value_of(self._level, node.value)
        if (
            isinstance(table, dict)
            and isinstance(node.value, ast.Attribute)
            and isinstance(node.slice, ast.Constant)
        ):
            owner, value = value_of(self._level, node.value.value), table.get(node.slice.value)
            fixed = is_fixed(owner, node.value.attr)
            if (
                fixed
                and isinstance(value, bool | int | float | str | list | tuple)
                and len(str(value)) < SHORT
            ):
                return _literal(value)
        self.generic_visit(node)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        neutral = isinstance(node.op, ast.And)
        if any(_decided(value) is (not neutral) for value in node.values):
            return ast.Constant(not neutral)
        kept = [value for value in node.values if _decided(value) is not neutral]
        return node if len(kept) > 1 else kept[0] if kept else ast.Constant(neutral)

    def visit_Assert(self, node: ast.Assert) -> None:
        del node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(node.arg)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        self.generic_visit(node)
        return ast.copy_location(ast.Assign([node.target], node.value), node) if node.value else None

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        known = _decided(node.test)
        return node if known is None else node.body if known else node.orelse

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        known = _decided(node.test)
        return node if known is None else node.body if known else node.orelse


def _literal(value: Any) -> ast.expr:
    plain = value.item() if isinstance(value, np.generic) else value
    rounded = f"{plain:.6g}" if isinstance(plain, float) and len(repr(plain)) > LONG else repr(plain)
    text = re.sub(r"\b(inf|nan)\b", r"np.\1", rounded) if isinstance(plain, float) else rounded
    return ast.parse(text, mode="eval").body


_COMPARED = {ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Is: operator.is_, ast.IsNot: operator.is_not}


def _decided(test: ast.expr) -> bool | None:
    """What a condition of constants comes to; None where it is open."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _decided(test.operand)
        return None if inner is None else not inner
    try:
        if isinstance(test, ast.Compare) and type(test.ops[0]) in _COMPARED and len(test.ops) == 1:
            left, right = ast.literal_eval(test.left), ast.literal_eval(test.comparators[0])
            return bool(_COMPARED[type(test.ops[0])](left, right))
        return bool(ast.literal_eval(test))
    except (ValueError, TypeError):
        return None
