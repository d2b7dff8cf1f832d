"""Lines that passed their trial as a spec shows them, with what each of their variables is to a policy."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.spec.documentation import first_line
from promptpo.spec.functions import calls_are_clear, results_of
from promptpo.spec.names import is_fixed, read_in, stored_in
from promptpo.spec.parts import Code
from promptpo.spec.trial import LAST, RESULTS
from promptpo.spec.values import table_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo.spec.functions import Level
    from promptpo.spec.trial import Proposal, SpecTrial
    from promptpo.spec.values import Columns

MARK = "...  # lines are left out here"

FEW = 24
"""Numbers of a constant that are told."""

SAYING = (ast.BinOp, ast.Compare, ast.IfExp, ast.If, ast.BoolOp, ast.AugAssign, ast.UnaryOp)
"""What code has that says more than where a value is kept."""


def coded(trial: SpecTrial | None, name: str, room: int, spaces: tuple[Any, Any]) -> Code | None:
    """The lines of "reward" or "terminated" that passed; None where none did, or they take more than `room` characters.

    Args:
        trial: With the steps that were taken; None where nothing ran beside them.
        name: Of the two.
        room: For the code.
        spaces: Of observations and actions.
    """
    right = [] if trial is None else [one for one in trial.found[name] if one.right]
    sides = trial.sides(*spaces) if trial is not None and right else []
    shown = (_coded(trial, one, name, sides) for one in right if trial is not None)
    return next((one for one in shown if one is not None and sum(map(len, one.functions)) <= room), None)


def _coded(trial: SpecTrial, passed: Proposal, name: str, sides: Columns) -> Code | None:
    """The lines of a proposal; None where they say nothing, or nobody could say what one of their names is."""
    lines, level = passed.lines, passed.lines.level
    every = [*lines.body, *(one for helper in lines.helpers.values() for one in helper.node.body)]
    last = lines.body[-1].value if isinstance(lines.body[-1], ast.Return) else None
    says = any(isinstance(n, SAYING) for one in every for n in ast.walk(one))
    if not says and not (isinstance(last, ast.Constant) and last.value):
        return None  # it hands on what it looks up
    body, sided = _with_marks(passed), sorted(sides, key=lambda one: one[0].startswith("next_obs"))
    head, hidden = list[str](), list[str]()
    read = {n.id for n in ast.walk(ast.parse("\n".join(body))) if isinstance(n, ast.Name)}
    results = {name for one in results_of(level) for name in read_in(one, level.me)}
    for one in sorted(read & {*level.arguments, *lines.cut}, key=lambda n: (n in lines.cut, n)):
        values, argument = [row.get(one) for row in passed.begun], one in level.arguments
        found = trial.tied(values, sided if argument else sides)
        head += [f"{one} = {found.path}"] if found.path not in {"", one} else []
        hidden += [one] if found.hidden else []
        unsure = argument or one in results or table_of(values) is None
        if unsure and not found.path and one not in {"action", "info"}:
            return None
    used = " ".join([*head, *body])
    given = [one for one in ("obs", "action", "next_obs") if re.search(rf"\b{one}\b", used)]
    entry = "\n".join([f"def {name}({', '.join(given)}):", *(f"    {line}" for line in (*head, *body))])
    functions = reached([entry, *_helpers(passed)])
    places = _places(trial, passed, "\n".join(functions), (sided, sides))
    hidden += [path for path, said in places.items() if not said]
    return Code(functions, {path: said for path, said in places.items() if said}, hidden)


def _places(trial: SpecTrial, passed: Proposal, text: str, sides: tuple[Columns, Columns]) -> dict[str, str]:
    """What is told of each attribute in code, nothing of those that a policy does not see; and of other modules' functions."""
    level, helpers = passed.lines.level, passed.lines.helpers
    told, unseen = dict[str, str](), dict[str, Any]()
    for one in passed.chains:
        path, base = f"{level.path}.{one}", one.partition("[")[0]
        shown = re.search(rf"\b{re.escape(path)}(?!\w|\(|\[[-\d:])", text)
        if not shown or base in helpers or f"{level.path}.{base}" in told:
            continue
        begun, ended = ([row.get(f".{one}") for row in rows] for rows in (passed.begun, passed.ended))
        start, end = trial.tied(begun, sides[0]).path, trial.tied(ended, sides[1])
        if MARK in text and start and end.path:
            told[path] = f"{start} at the beginning of a step, {end.path} at its end"
        elif end.path or end.hidden:
            told[path] = end.path
            unseen |= {path: np.array(ended)} if end.hidden else {}
        elif _is_constant(level, one, ended):
            told[path] = str(np.vectorize(lambda one: float(f"{one:.4g}"))(ended[0]).tolist())
    for (one, x), (other, y) in itertools.permutations(unseen.items(), 2):
        seen = trial.tied(list(x - y), sides[1]).path if x.shape == y.shape else ""
        if seen and " " not in seen:  # neither is seen, but how far they are apart
            told = {path: said for path, said in told.items() if path not in {one, other}}
            told[f"{one} - {other}"] = seen
    used = (name for name in helpers if re.search(rf"\b{name}\(", text))
    return told | {name: said for name in used if (said := _elsewhere(level, helpers[name]))}


def _is_constant(level: Level, name: str, values: Sequence[Any]) -> bool:
    """Whether an attribute, which nothing but construction and resets sets, always held the same few numbers."""
    table = table_of(values)
    same = table is not None and table[0].size <= FEW and bool((table == table[0]).all())
    return same and name.isidentifier() and is_fixed(level.owner, name, ("reset", "_reset"))


def _with_marks(passed: Proposal) -> list[str]:
    """The lines as text, with a mark where lines that may change what they read are left out between them."""
    level, simple = passed.lines.level, ast.Assign | ast.AugAssign | ast.Expr
    kept = {getattr(n, "lineno", LAST) for one in passed.lines.body for n in ast.walk(one)}
    left_out = [n for n in ast.walk(level.node) if isinstance(n, simple) and n.lineno not in kept]
    moving = [
        n.lineno
        for n in left_out
        if passed.chains
        and (isinstance(n, ast.Expr) or "." in "".join(stored_in(n)) or not calls_are_clear(level, n, {}))
    ]
    shown, last = list[str](), LAST
    for one in passed.lines.body:
        at = getattr(one, "lineno", LAST)
        shown += [MARK] if any(last < n < at for n in moving) else []
        shown += _text(passed, level, one).splitlines()
        last = at
    return shown


def _text(passed: Proposal, level: Level, tree: ast.AST) -> str:
    """Lines as text: the object by its path, functions that are shown by their names alone."""
    shown = [name for name, one in passed.lines.helpers.items() if not _elsewhere(passed.lines.level, one)]
    text = ast.unparse(tree)
    text = re.sub(rf"\b{level.me}\b", level.path, text) if level.me else text
    pattern = rf"\b[\w.]+\.({'|'.join(map(re.escape, shown))})\("
    return re.sub(pattern, lambda m: f"{_called(m[1])}(", text) if shown else text


def _called(name: str) -> str:
    """A function's name, where it is not that of what is told."""
    return f"{name}_" if name in RESULTS else name


def _helpers(passed: Proposal) -> Iterator[str]:
    """Functions that the lines call, as they stand."""
    for name, level in passed.lines.helpers.items():
        if _elsewhere(passed.lines.level, level):
            continue
        computed = isinstance(inspect.getattr_static(type(level.owner), name, None), property)
        body = level.node.body[1 if ast.get_docstring(level.node) else 0 :]
        said = [_text(passed, level, one) for one in body if not isinstance(one, ast.Assert)]
        text = textwrap.indent("\n".join(said), "    ")
        yield f"def {_called(name)}({ast.unparse(level.node.args)}):{f'  # {level.path}.{name}' if computed else ''}\n{text}"


def _elsewhere(level: Level, helper: Level) -> str:
    """The first line of the documentation of a function of another module, which says enough; empty for all others."""
    told = first_line(ast.get_docstring(helper.node))
    return told if helper.owner is not level.owner and helper.names is not level.names else ""


def reached(functions: Sequence[str]) -> list[str]:
    """The first function, and those that are named in one that is reached."""
    kept, rest = list(functions[:1]), list(functions[1:])
    while more := [f for f in rest if any(re.search(rf"\b{f[4 : f.index('(')]}\b", text) for text in kept)]:
        kept, rest = [*kept, *more], [one for one in rest if one not in more]
    return kept
