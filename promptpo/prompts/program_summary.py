"""Summary of a program besides its code: its idea, its change, and its tuned numbers."""

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
    """Return the idea of a program, from its docstring, else its author's description; ends like a sentence."""
    program = Program.from_source(attempt.candidate.source)
    text = program.docstring or next(iter(program.class_docstrings("Policy")), "") or attempt.prose
    whole = sentences(text, most)
    return whole if not whole or whole.endswith((".", "!", "?", "…")) else f"{whole}."


def change(attempt: Attempt, most: int) -> str:
    """Return the change of a program, from its author's line ``CHANGE: ...``; without one, its idea."""
    found = _CHANGE.search(attempt.prose)
    return sentences(found[1].rstrip("*_ "), most) if found else idea(attempt, most)


def changes(source: str, other: str) -> str:
    """Describe numbers that differ in another program of the same structure, in one line; empty if there are none.

    Args:
        source: The program, shown with its values and bounds.
        other: The program from which it was made.

    Returns:
        ``gain 1.2 -> 3.7`` for each number, largest moves relative to the bounds first; then arrays, each as a whole.
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
    listed = [f"{key} {number(theirs[key][0])} -> {number(mine[key][0])}" for key in single[:NAMED]]
    more = len(single) - len(listed)
    return ", ".join([*listed, *([f"{more} others moved less"] if more else []), *arrays])
