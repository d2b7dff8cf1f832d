"""Summary of a program beside its code: its idea, its change, and its tuned numbers."""

from __future__ import annotations

import re

from promptpo.core.candidate import Attempt
from promptpo.program import Program
from promptpo.program.param_arrays import group_by_array, label
from promptpo.prompts.feedback import number
from promptpo.prompts.limits import NAMED
from promptpo.prompts.shortening import sentences

_CHANGE = re.compile(r"^\W*CHANGE\W*:[\s*_]*(\S.*)$", re.MULTILINE)


def idea(attempt: Attempt, most: int) -> str:
    """Idea of a program, by its docstring, else by its author's words; ends like a sentence."""
    program = Program.from_source(attempt.candidate.source)
    text = program.docstring or next(iter(program.class_docstrings("Policy")), "") or attempt.prose
    whole = sentences(text, most)
    return whole if not whole or whole.endswith((".", "!", "?", "…")) else f"{whole}."


def change(attempt: Attempt, most: int) -> str:
    """Change of a program, in the words of its author's line ``CHANGE: ...``; without one its idea."""
    said = _CHANGE.search(attempt.prose)
    return sentences(said[1].rstrip("*_ "), most) if said else idea(attempt, most)


def changes(source: str, other: str) -> str:
    """Numbers that differ in another program of the same structure, in one line; empty if none do.

    Args:
        source: The program, which is printed beside it with its values and bounds.
        other: The one that it was made from.

    Returns:
        ``gain 1.2 -> 3.7`` for each, those that moved most within their bounds first; arrays, each as a whole, come last.
    """
    program = Program.from_source(source)
    mine, theirs = program.params, Program.from_source(other).params
    moved = {
        key: abs(value - theirs[key][0]) / ((high - low) or 1.0)
        for key, (value, low, high) in mine.items()
        if key in theirs and value != theirs[key][0]
    }
    single, arrays = [], []
    for name, keys in group_by_array(moved, program.arrays).items():
        if name in program.arrays:
            arrays.append(f"{len(keys)} numbers of {label(name, program.arrays)}")
        else:
            single.append(name)
    single.sort(key=lambda key: -moved[key])
    told = [f"{key} {number(theirs[key][0])} -> {number(mine[key][0])}" for key in single[:NAMED]]
    more = len(single) - len(told)
    return ", ".join([*told, *([f"{more} others moved less"] if more else []), *arrays])
