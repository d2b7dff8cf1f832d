"""What prompts say of a program besides its code: its idea, its numbers, and whether two differ in more."""

from __future__ import annotations

import re
from collections.abc import Mapping

from promptpo.program import Program
from promptpo.run.records import Attempt
from promptpo.telling.feedback import number
from promptpo.telling.shortening import between_words

Parameter = tuple[float, float, float]
"""A value and its bounds."""

MOST_PARAMETERS = 12
"""Parameters listed of two programs that differ in numbers only; the others are counted."""

AT_BOUND = 0.005
"""A value this close to a bound, as a share of the range, stands at it."""


def idea(attempt: Attempt, most: int) -> str:
    """What a program tries, by its own docstring, else by what its author said of it; ends like a sentence."""
    program = Program.parse(attempt.candidate.source)
    text = program.docstring or next(iter(program.class_docstrings("Policy")), "")
    text = " ".join((text or attempt.prose).split())
    whole = ""
    for sentence in re.split(r"(?<=[.!?])\s+", text):
        if len(whole) + len(sentence) >= most:
            break
        whole = f"{whole} {sentence}".strip()
    if len(whole) < most / 2:  # a heading rather than a sentence
        whole = between_words(text, most)
    return whole if not whole or whole.endswith((".", "!", "?", "…")) else f"{whole}."


def parameters(source: str, other: str, name: str) -> str:
    """The parameters in which a program differs from another of the same structure.

    Args:
        source: The program, whose values are told.
        other: The one it differs from.
        name: What the other is called.

    Returns:
        A line for each: name, value, that of the other, bounds, and a mark at a bound; those that moved most
        within their bounds first.
    """
    mine, theirs = Program.parse(source).params, Program.parse(other).params
    moves = _moves(mine, theirs)
    ordered = sorted(moves, key=lambda key: (not _mark(*mine[key]), -moves[key]))
    lines = [
        f"{key} {number(mine[key][0])} ({name}: {number(theirs[key][0])}) in {number(mine[key][1])} .. "
        f"{number(mine[key][2])}{_mark(*mine[key])}"
        for key in ordered[:MOST_PARAMETERS]
    ]
    if len(ordered) > MOST_PARAMETERS:
        lines.append(f"{len(ordered) - MOST_PARAMETERS} others moved less")
    return "\n".join(f"- {line}" for line in lines)


def changes(source: str, other: str) -> str:
    """What a program's numbers were in another of the same structure, in one line; empty where none differs.

    Args:
        source: The program, which is printed beside it with its values and bounds.
        other: The one that it was made from.

    Returns:
        ``gain 1.2 -> 3.7`` for each, those that moved most within their bounds first, with a mark at a bound.
    """
    mine, theirs = Program.parse(source).params, Program.parse(other).params
    ordered = sorted(_moves(mine, theirs).items(), key=lambda pair: -pair[1])
    told = [
        f"{key} {number(theirs[key][0])} -> {number(mine[key][0])}{_mark(*mine[key]).replace(',', '')}"
        for key, _ in ordered[:MOST_PARAMETERS]
    ]
    if len(ordered) > MOST_PARAMETERS:
        told.append(f"{len(ordered) - MOST_PARAMETERS} others moved less")
    return ", ".join(told)


def _moves(mine: Mapping[str, Parameter], theirs: Mapping[str, Parameter]) -> dict[str, float]:
    """Name to how far a number moved, as a share of its range, of those that moved."""
    return {
        key: abs(value - theirs[key][0]) / ((high - low) or 1.0)
        for key, (value, low, high) in mine.items()
        if key in theirs and value != theirs[key][0]
    }


def _mark(value: float, low: float, high: float) -> str:
    near = AT_BOUND * (high - low)
    if value <= low + near:
        return ", at its lower bound"
    return ", at its upper bound" if value >= high - near else ""
