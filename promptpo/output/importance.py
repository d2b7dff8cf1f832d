"""Which numbers of a policy mattered, from what tuning tried anyway."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from promptpo.program import Program

if TYPE_CHECKING:
    from promptpo.run.records import Candidate

NAMED = 8
"""Parameters that a line of text names."""


@dataclass(frozen=True, slots=True)
class Importance:
    """How much one parameter mattered.

    Attributes:
        name: Of the parameter.
        value: In the policy.
        low: Lower bound of its range.
        high: Upper bound.
        share: Of the differences in return between what was tried, what it explains, from 0 to 1; 0 where noise
            could explain it as well.
        at_bound: The bound that its value lies at: "lower", "upper" or "".
    """

    name: str
    value: float
    low: float
    high: float
    share: float
    at_bound: str


def importances(candidate: Candidate) -> tuple[list[Importance], int]:
    """The parameters that tuning tried, those that mattered most first, and the episodes that this is read from."""
    ranges = Program.parse(candidate.source).params
    known = candidate.sensitivity
    found = [
        Importance(name, *ranges[name], one.share, one.at_bound)
        for name, one in known.items()
        if name in ranges
    ]
    episodes = max((one.episodes for one in known.values()), default=0)
    return sorted(found, key=lambda one: -one.share), episodes


def importance_json(candidate: Candidate) -> dict[str, Any] | None:
    """The same as a JSON value; None where nothing is known."""
    found, episodes = importances(candidate)
    return {"episodes": episodes, "parameters": [asdict(one) for one in found]} if found else None


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
