"""What prompts say of a program besides its code: its idea, its numbers, and whether two differ in more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from promptpo.program import Program
from promptpo.program.blocks import blocks, label, size
from promptpo.program.literals import Range
from promptpo.run.records import Attempt
from promptpo.telling.feedback import number
from promptpo.telling.shortening import sentences

MOST_PARAMETERS = 12
"""Parameters listed of two programs that differ in numbers only; the others are counted."""

AT_BOUND = 0.005
"""A value this close to a bound, as a share of the range, stands at it."""


def idea(attempt: Attempt, most: int) -> str:
    """What a program tries, by its own docstring, else by what its author said of it; ends like a sentence."""
    program = Program.parse(attempt.candidate.source)
    text = program.docstring or next(iter(program.class_docstrings("Policy")), "")
    whole = sentences(text or attempt.prose, most)
    return whole if not whole or whole.endswith((".", "!", "?", "…")) else f"{whole}."


def parameters(source: str, other: str, name: str) -> str:
    """The parameters in which a program differs from another of the same structure.

    Args:
        source: The program, whose values are told.
        other: The one it differs from.
        name: What the other is called.

    Returns:
        A line for each: name, value, that of the other, bounds, and a mark at a bound; those that moved most
        within their bounds first, then arrays, each as a whole.
    """
    program = Program.parse(source)
    mine, theirs = program.params, Program.parse(other).params
    moves = _moves(mine, theirs)
    arrays = _arrays(moves, program)
    single = [key for key in moves if not any(key in keys for keys in arrays.values())]
    ordered = sorted(single, key=lambda key: (not _mark(*mine[key]), -moves[key]))
    lines = [
        f"{key} {number(mine[key][0])} ({name}: {number(theirs[key][0])}) in {number(mine[key][1])} .. "
        f"{number(mine[key][2])}{_mark(*mine[key])}"
        for key in ordered[:MOST_PARAMETERS]
    ]
    if len(ordered) > MOST_PARAMETERS:
        lines.append(f"{len(ordered) - MOST_PARAMETERS} others moved less")
    lines += [
        _block(label(block, program.arrays), keys, mine, theirs, name) for block, keys in arrays.items()
    ]
    return "\n".join(f"- {line}" for line in lines)


def changes(source: str, other: str, most: int = MOST_PARAMETERS) -> str:
    """What a program's numbers were in another of the same structure, in one line; empty where none differs.

    Args:
        source: The program, which is printed beside it with its values and bounds.
        other: The one that it was made from.
        most: Numbers that are named; the others are counted.

    Returns:
        ``gain 1.2 -> 3.7`` for each, those that moved most within their bounds first, with a mark at a bound; arrays,
        each as a whole, come last.
    """
    program = Program.parse(source)
    mine, theirs = program.params, Program.parse(other).params
    moves = _moves(mine, theirs)
    arrays = _arrays(moves, program)
    single = {key: far for key, far in moves.items() if not any(key in keys for keys in arrays.values())}
    ordered = sorted(single, key=lambda key: -single[key])
    told = [
        f"{key} {number(theirs[key][0])} -> {number(mine[key][0])}{_mark(*mine[key]).replace(',', '')}"
        for key in ordered[:most]
    ]
    if len(ordered) > most:
        told.append(f"{len(ordered) - most} others moved less")
    told += [f"{len(keys)} numbers of {label(block, program.arrays)}" for block, keys in arrays.items()]
    return ", ".join(told)


def at_bounds(source: str, most: int = MOST_PARAMETERS) -> str:
    """Numbers of a program that stand at a bound: ``gain (upper)``; arrays are left out."""
    program = Program.parse(source)
    inside = {
        key
        for block, keys in blocks(program.params, program.arrays).items()
        if block in program.arrays
        for key in keys
    }
    marks = {key: _mark(*value) for key, value in program.params.items() if key not in inside}
    named = [f"{key} ({mark.split()[-2]})" for key, mark in marks.items() if mark]
    more = f" and {len(named) - most} more" if len(named) > most else ""
    return ", ".join(named[:most]) + more


def _moves(mine: Mapping[str, Range], theirs: Mapping[str, Range]) -> dict[str, float]:
    """Name to how far a number moved, as a share of its range, of those that moved."""
    return {
        key: abs(value - theirs[key][0]) / ((high - low) or 1.0)
        for key, (value, low, high) in mine.items()
        if key in theirs and value != theirs[key][0]
    }


def _arrays(moved: Iterable[str], program: Program) -> dict[str, list[str]]:
    """Those arrays of a program of which numbers moved, with the names of these."""
    return {
        block: list(keys) for block, keys in blocks(moved, program.arrays).items() if block in program.arrays
    }


def _block(
    what: str, keys: Sequence[str], mine: Mapping[str, Range], theirs: Mapping[str, Range], name: str
) -> str:
    """An array as one line: its numbers stand in the code."""
    now, was = (number(size([values[key][0] for key in keys])) for values in (mine, theirs))
    held = sum(_mark(*mine[key]) != "" for key in keys)
    low, high = mine[keys[0]][1:]
    return (
        f"{what}: {len(keys)} numbers of mean size {now} ({name}: {was}) in {number(low)} .. {number(high)}"
        + (f", {held} at a bound" if held else "")
    )


def _mark(value: float, low: float, high: float) -> str:
    near = AT_BOUND * (high - low)
    if value <= low + near:
        return ", at its lower bound"
    return ", at its upper bound" if value >= high - near else ""
