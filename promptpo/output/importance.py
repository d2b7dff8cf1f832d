"""Which numbers of a policy mattered, from what tuning tried anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from promptpo.program import Program
from promptpo.program.blocks import blocks, label, size

if TYPE_CHECKING:
    from promptpo.run.records import Candidate

NAMED = 8
"""Parameters that a line of text names."""


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


def importances(candidate: Candidate) -> tuple[list[dict[str, Any]], int]:
    """The parameters that tuning tried, those that mattered most first, and the episodes that this is read from.

    Of each: ``name``; ``value`` in the policy, of an array the mean of its sizes; ``low`` and ``high`` of its range; ``share``
    of the differences in return between what was tried that it explains, 0 where noise could as well; ``at_bound``,
    "lower", "upper" or ""; of an array its ``shape``.
    """
    program, known = Program.parse(candidate.source), candidate.sensitivity
    found = []
    for name, names in blocks(program.params, program.arrays).items():
        if name in known:
            ranges, shape, one = [program.params[n] for n in names], program.arrays.get(name), known[name]
            value = size([v for v, _, _ in ranges]) if shape else ranges[0][0]
            told = {
                "name": name,
                "value": value,
                "low": ranges[0][1],
                "high": ranges[0][2],
                "share": one.share,
            }
            found.append(told | {"at_bound": one.at_bound} | ({"shape": shape} if shape else {}))
    return sorted(found, key=lambda one: -one["share"]), max(
        (one.episodes for one in known.values()), default=0
    )


def importance_json(candidate: Candidate) -> dict[str, Any] | None:
    """The same as a JSON value; None where nothing is known."""
    found, episodes = importances(candidate)
    return {"episodes": episodes, "parameters": found} if found else None


def importance_in_words(candidate: Candidate) -> str:
    """The same as a sentence; empty where nothing is known."""
    found, episodes = importances(candidate)
    if not found:
        return ""
    named = [one for one in found if one["share"] > 0][:NAMED]
    told = [
        f"{one['name']} {one['share']:.0%}"
        + (f" (at its {one['at_bound']} bound)" if one["at_bound"] else "")
        for one in named
    ]
    rest = len(found) - len(named)
    text = ", ".join(told) + (
        f"; {rest} other{'s' if rest > 1 else ''} little or nothing clear" if rest else ""
    )
    held = [one["name"] for one in found if one["at_bound"] and one not in named]
    text = (text if named else "none of them clearly") + (
        f"; also at a bound: {', '.join(held[:NAMED])}" if held else ""
    )
    return f"Which numbers moved the return{f' in {episodes:,} tuning episodes' if episodes else ''}: {text}."
