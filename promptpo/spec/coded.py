"""Lines that passed their trial as a spec shows them, with what each of their variables is to a policy."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.envs.spaces import equal
from promptpo.spec.documentation import first_line
from promptpo.spec.names import is_fixed, stored_in
from promptpo.spec.parts import NOT_OBSERVED, Code
from promptpo.spec.values import FEW, table_of

if TYPE_CHECKING:
    from promptpo.spec.functions import Level
    from promptpo.spec.trial import AttributeChain, Proposal, SpecTrial
    from promptpo.spec.values import Tie

MARK = "...  # lines are left out here"

SAYING = (ast.operator, ast.cmpop, ast.boolop, ast.unaryop, ast.If, ast.IfExp)
"""What code has that says more than where a value is kept."""


def coded(trial: SpecTrial | None, name: str, room: int, spaces: tuple[Any, Any]) -> Code | None:
    """The lines of "reward", "terminated" or "truncated" that passed.

    Args:
        trial: With the steps that were taken; None where nothing ran beside them.
        name: Of the three.
        room: For the code, in characters.
        spaces: Of observations and actions.

    Returns:
        None where none passed, they say nothing, take more room, or hold a name that nobody could explain.
    """
    passed = trial.passed(name) if trial is not None else None
    if trial is None or passed is None or not _says(passed):
        return None
    lines, level = passed.lines, passed.lines.level
    after = trial.sides(*spaces)
    before = sorted(after, key=lambda one: one[0].startswith("next_obs"))
    body, helpers = _with_marks(passed), list(_helpers(passed))
    ends = {name: path for path, (name, told) in trial.names(spaces[0]).items() if told == path}
    head, shown = list[str](), "\n".join([*body, *helpers])
    words = {
        one: told
        for one, helper in lines.helpers.items()
        if (told := _elsewhere(passed, helper)) and re.search(rf"\b{one}\(", shown)
    }
    chains = {path: chain for one in passed.reads for path, chain in one.items()}
    for one in [*level.arguments, *sorted(lines.cut), *chains]:
        chain = chains.get(one)
        further = "" if chain is None else r"|\(|\[[-\d:']|\.\w+\b(?!\()"
        if not re.search(rf"(?<![\w.]){re.escape(one)}(?!\w{further})", shown):
            continue
        first, last = ([row.get(one, (None, None))[n] for row in passed.used] for n in (0, 1))
        start, end = trial.tied(first, before), trial.tied(last, after)
        if chain is None:
            found = start if one in level.arguments else end
            unsure = one in level.arguments or one in lines.results or table_of(first) is None
            if unsure and not found.path and one != "info":
                return None
            head += [f"{one} = {found.path}"] if found.path not in {"", one} else []
            words |= {one: NOT_OBSERVED} if found.hidden else {}
        elif told := _meaning(passed, one, (first, last), (start, end), ends):
            words[one] = told
    used = " ".join([*head, *body])
    given = [one for one in ("obs", "action", "next_obs") if re.search(rf"\b{one}\b", used)]
    entry = "\n".join([f"def {name}({', '.join(given)}):", *(f"    {line}" for line in (*head, *body))])
    functions = [entry, *helpers]
    words = {one: said for one, said in words.items() if "[" not in one or one.partition("[")[0] not in words}
    return Code(functions, words) if sum(map(len, functions)) <= room else None


def _says(passed: Proposal) -> bool:
    """Whether lines say more than that they hand on what they look up."""
    body = [*passed.lines.body, *(one.node for one in passed.lines.helpers.values())]
    return any(isinstance(n, SAYING) for one in body for n in ast.walk(one))


def _changed(passed: Proposal, path: str) -> bool:
    """Whether the function itself has changed what a path of code begins with when it is first read."""
    level, lines = passed.lines.level, zip(passed.lines.body, passed.reads, strict=True)
    at = next(line.lineno for line, reads in lines if path in reads)
    stored = {name for one in level.node.body if one.lineno < at for name in stored_in(one)}
    return path.partition("[")[0].replace(level.path, level.me, 1) in stored


def _meaning(
    passed: Proposal,
    path: str,
    values: tuple[list[Any], list[Any]],
    ties: tuple[Tie, Tie],
    ends: Mapping[str, str],
) -> str:
    """What a path of the code is to a policy; empty where nothing was found out.

    Args:
        passed: The code.
        path: For example ``env.data.qpos[0]``.
        values: Those of each step when it is first read, and when it is last read.
        ties: What they are, seen before the step and after it.
        ends: Attributes that are parts of the observation after each step, and which.
    """
    chain = next(one[path] for one in passed.reads if path in one)
    seen = ends.get(chain.text.partition("[")[0][1:]) if chain.own else None
    (first, last), (start, end), same = values, ties, _same(values[1])
    if same and _is_fixed(chain):
        return same
    if seen and (end.hidden or (end.path.startswith("obs") and _changed(passed, path))):
        return f"read while {path.partition('[')[0]} changes from {seen} to next_{seen}"
    if end.path:
        begun = f"{start.path} at the beginning of a step, " if start.path else ""
        return end.path if all(map(equal, first, last)) else f"{begun}{end.path} at the end of a step"
    return NOT_OBSERVED if end.hidden else f"{same} in all steps seen" if same else ""


def _same(values: Sequence[Any]) -> str:
    """The few numbers or words that all values are; empty where they differ."""
    value = values[0]
    if value is None or np.size(value) > FEW or not all(equal(one, value) for one in values):
        return ""
    numbers = isinstance(value, np.ndarray | np.generic)
    return str(np.vectorize(lambda one: float(f"{one:.6g}"))(value).tolist() if numbers else value)


def _is_fixed(chain: AttributeChain) -> bool:
    """Whether nothing but construction and resets sets what a chain reads."""
    owner = chain.root
    if chain.own or ("." in chain.text and not isinstance(owner, ModuleType | type)):
        for name in re.findall(r"\.(\w+)", chain.text):
            computed = isinstance(getattr(type(owner), name, None), property)
            if computed or not is_fixed(owner, name, ("reset", "_reset")):
                return False
            owner = getattr(owner, name)
    return True


def _with_marks(passed: Proposal) -> list[str]:
    """The lines as text, with a mark where others are left out before a line that looks something up."""
    level, lines = passed.lines.level, list[str]()
    kept = [getattr(one, "lineno", 0) for one in passed.lines.body]
    left_out, since = {one.lineno for one in level.node.body} - set(kept), kept[0]
    for at, one, reads in zip(kept, passed.lines.body, passed.reads, strict=True):
        lines += [MARK] if reads and left_out & set(range(since, at)) else []
        lines += _text(level, one).splitlines()
        since = at if reads else since
    return lines


def _text(level: Level, tree: ast.AST) -> str:
    """Lines as text, the object by its path."""
    text = ast.unparse(tree)
    return re.sub(rf"\b{level.me}\b", level.path, text) if level.me else text


def _helpers(passed: Proposal) -> Iterator[str]:
    """Functions that the lines call, as they stand."""
    for name, level in passed.lines.helpers.items():
        if not _elsewhere(passed, level):
            body = level.node.body[1 if ast.get_docstring(level.node) else 0 :]
            said = [_text(level, one) for one in body if not isinstance(one, ast.Assert)] or ["pass"]
            text = textwrap.indent("\n".join(said), "    ")
            of = f"  # {level.path}.{name}" if level.me else ""
            yield f"def {name}({ast.unparse(level.node.args)}):{of}\n{text}"


def _elsewhere(passed: Proposal, helper: Level) -> str:
    """The first line of the documentation of a function of another module, which says enough; empty for all others."""
    level, told = passed.lines.level, first_line(ast.get_docstring(helper.node))
    return told if helper.owner is not level.owner and helper.names is not level.names else ""
