"""What came of a search for a structure's numbers: the program with them, what changed, and which of them mattered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptpo.program.blocks import blocks, bound_of_block, label, size
from promptpo.run.records import Sensitivity
from promptpo.search.tuning.batches import Tuned

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from promptpo.search.tuning.batches import Start
    from promptpo.search.tuning.space import ParamSpace


def moved(
    start: Start, space: ParamSpace, shares: Iterable[float], values: Mapping[str, float], evaluations: int
) -> dict[str, Sensitivity]:
    """How much each parameter, an array as a whole, moved the return.

    Args:
        start: Whose parameters they are.
        space: Their ranges.
        shares: Of each number, in the space's order; empty where too little was tried.
        values: What they were set to.
        evaluations: Episodes that say so.
    """
    known = dict(zip(space.names, shares, strict=False))
    bounds = space.bounds_of(values)
    return {
        block: Sensitivity(
            round(min(1.0, sum(known[n] for n in names)), 3),
            bound_of_block([bounds[n] for n in names]),
            evaluations,
        )
        for block, names in blocks(known, start.program.arrays).items()
    }


def tuned_to(
    start: Start,
    space: ParamSpace,
    values: Mapping[str, float],
    score: float,
    steps: int,
    sensitivity: Mapping[str, Sensitivity],
) -> Tuned:
    """A candidate with other numbers, and a line for each that changed."""
    before = space.defaults
    changes = {n: (before[n], values[n]) for n in space.names if values[n] != before[n]}
    program = start.program.with_values({n: b for n, (_, b) in changes.items()})
    return Tuned(start.id, program, changes, score, steps, tuple(_lines(start, space, changes)), sensitivity)


def _lines(start: Start, space: ParamSpace, changes: Mapping[str, tuple[float, float]]) -> Iterator[str]:
    """A line for each parameter that changed, an array as a whole."""
    arrays = start.program.arrays
    bounds = space.bounds_of({**space.defaults, **{n: b for n, (_, b) in changes.items()}})
    for block, names in blocks(changes, arrays).items():
        if block in arrays:
            before, after = (size([changes[n][i] for n in names]) for i in (0, 1))
            held = sum(bounds[n] != "" for n in names)
            at = f", {held} at a bound" if held else ""
            yield f"{label(block, arrays)}: {len(names)} numbers, mean size {before:.4g} -> {after:.4g}{at}"
        else:
            a, b = changes[block]
            at = f", at its {bounds[block]} bound" if bounds[block] else ""
            yield f"{block} {a:.4g} -> {b:.4g}{at}"
