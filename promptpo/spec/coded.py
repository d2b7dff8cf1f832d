"""Lines that passed their trial as a spec shows them, with what each of their variables is to a policy."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
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
    ends = {attribute: path for path, attribute in trial.names(spaces[0]).items()}
    head, shown = list[str](), "\n".join([*body, *helpers])
    called = {one: level for one, level in lines.helpers.items() if re.search(rf"\b{one}\(", shown)}
    words = {one: told for one, helper in called.items() if (told := _elsewhere(passed, helper))}
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
        elif told := _constant(chain, last):
            words[one] = told
        elif (whole := _changing(passed, one, chain)) in ends and (end.hidden or end.path.startswith("obs")):
            seen = ends[whole]
            words[one] = f"read while {level.path}.{whole} changes from {seen} to next_{seen}"
        elif end.path:
            same = all(map(equal, first, last))
            begun = f"{start.path} at the beginning of a step, " if start.path else ""
            words[one] = end.path if same else f"{begun}{end.path} at the end of a step"
        elif end.hidden:
            words[one] = NOT_OBSERVED
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


def _changing(passed: Proposal, path: str, chain: AttributeChain) -> str:
    """The attribute that a path of code begins with, where the function has changed it when it is first read; empty where not."""
    level, whole = passed.lines.level, chain.text.partition("[")[0]
    at = next(
        line.lineno for line, reads in zip(passed.lines.body, passed.reads, strict=True) if path in reads
    )
    stored = {name for one in level.node.body if one.lineno < at for name in stored_in(one)}
    return whole[1:] if chain.own and f"{level.me}{whole}" in stored else ""


def _constant(chain: AttributeChain, values: list[Any]) -> str:
    """The few numbers or words that always were what nothing but construction and resets sets; empty for all else."""
    if not all(equal(one, values[0]) for one in values) or values[0] is None or np.size(values[0]) > FEW:
        return ""
    owner, fixed = (
        chain.root,
        not chain.own and ("." not in chain.text or isinstance(chain.root, ModuleType | type)),
    )
    if not fixed:
        for name in re.findall(r"\.(\w+)", chain.text):
            if isinstance(getattr(type(owner), name, None), property) or not is_fixed(
                owner, name, ("reset", "_reset")
            ):
                return ""
            owner = getattr(owner, name)
    words = isinstance(values[0], list)
    return str(values[0] if words else np.vectorize(lambda one: float(f"{one:.6g}"))(values[0]).tolist())


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
