"""Importance of a policy's parameters, from the values that tuning tried anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from promptpo.program import Program
from promptpo.program.param_arrays import group_by_array, size

if TYPE_CHECKING:
    from promptpo.core.candidate import Candidate


def importance_json(candidate: Candidate) -> dict[str, Any] | None:
    """Return the ``parameters`` that tuning tried, most important first, and the number of ``episodes`` behind this.

    Each has its ``name``; ``value`` in the policy, for an array the mean absolute value; ``low`` and ``high`` of its
    range; ``share``, the fraction of the differences in return that it explains, 0 if noise may explain as much;
    ``at_bound``, "lower", "upper" or ""; an array its ``shape``. None if nothing is known.
    """
    program, known = Program.from_source(candidate.source), candidate.sensitivity
    found = []
    for name, names in group_by_array(program.params, program.arrays).items():
        if name in known:
            parameter, ranges = known[name], [program.params[each] for each in names]
            value, low, high = ranges[0]
            row = {"name": name, "value": value, "low": low, "high": high}
            if name in program.arrays:
                row |= {"value": size([value for value, *_ in ranges]), "shape": program.arrays[name]}
            found.append(row | {"share": parameter.share, "at_bound": parameter.at_bound})
    if not found:
        return None
    episodes = max(parameter.episodes for parameter in known.values())
    return {"episodes": episodes, "parameters": sorted(found, key=lambda entry: -entry["share"])}
