"""Which numbers of a policy mattered, from what tuning tried anyway."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from promptpo.program import Program
from promptpo.program.blocks import blocks, label, size

if TYPE_CHECKING:
    from promptpo.run.records import Candidate

NAMED = 8
"""Parameters that a line of text names."""


@dataclass(frozen=True, slots=True)
class Importance:
    """How much one parameter mattered.

    Attributes:
        name: Of the parameter.
        value: In the policy; the mean of their sizes where it is an array.
        low: Lower bound of its range.
        high: Upper bound.
        share: Of the differences in return between what was tried, what it explains, from 0 to 1; 0 where noise
            could explain it as well.
        at_bound: The bound that its value, or at least a quarter of an array's numbers, lies at: "lower", "upper" or "".
        shape: Of an array; empty for a number.
    """

    name: str
    value: float
    low: float
    high: float
    share: float
    at_bound: str
    shape: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """The name, with the shape of an array."""
        return label(self.name, {self.name: self.shape} if self.shape else {})


def tuned_rows(candidate: Candidate) -> list[tuple[str, float, float]]:
    """What tuning changed: name, value before and after; of an array their mean sizes."""
    arrays = Program.parse(candidate.source).arrays
    rows = []
    for block, names in blocks(candidate.tuned, arrays).items():
        before, after = (
            size(values) if block in arrays else values[0]
            for values in zip(*(candidate.tuned[name] for name in names), strict=True)
        )
        rows.append((label(block, arrays) + (", mean size" if block in arrays else ""), before, after))
    return rows


def importances(candidate: Candidate) -> tuple[list[Importance], int]:
    """The parameters that tuning tried, those that mattered most first, and the episodes that this is read from."""
    program, known = Program.parse(candidate.source), candidate.sensitivity
    declared = blocks(program.params, program.arrays)
    found = []
    for name, one in known.items():
        if name in declared:
            ranges = [program.params[n] for n in declared[name]]
            shape = program.arrays.get(name, ())
            value = size([v for v, _, _ in ranges]) if shape else ranges[0][0]
            found.append(Importance(name, value, *ranges[0][1:], one.share, one.at_bound, shape))
    episodes = max((one.episodes for one in known.values()), default=0)
    return sorted(found, key=lambda one: -one.share), episodes


def importance_json(candidate: Candidate) -> dict[str, Any] | None:
    """The same as a JSON value; None where nothing is known."""
    found, episodes = importances(candidate)
    told = [asdict(one) for one in found]
    for one in told:
        if not one["shape"]:
            del one["shape"]
    return {"episodes": episodes, "parameters": told} if told else None


def importance_in_words(candidate: Candidate) -> str:
    """The same as a sentence; empty where nothing is known."""
    found, episodes = importances(candidate)
    if not found:
        return ""
    moved = [one for one in found if one.share > 0]
    named = [
        f"{one.name} {one.share:.0%}{f' (at its {one.at_bound} bound)' if one.at_bound else ''}"
        for one in moved[:NAMED]
    ]
    if not named:
        text = "none of them clearly"
    else:
        rest = len(found) - len(named)
        text = ", ".join(named) + (
            f"; {rest} other{'s' if rest > 1 else ''} little or nothing clear" if rest else ""
        )
    held = [one.name for one in found if one.at_bound and one not in moved[:NAMED]]
    text += f"; also at a bound: {', '.join(held[:NAMED])}" if held else ""
    of = f" in {episodes:,} tuning episodes" if episodes else ""
    return f"Which numbers moved the return{of}: {text}."
