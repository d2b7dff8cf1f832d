"""States that two programs share and in which they decide differently, with the resulting returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from promptpo.prompts.columns import component_name
from promptpo.prompts.feedback import number
from promptpo.prompts.limits import COLUMNS, PARTING
from promptpo.prompts.step_table import cells


def differing_decisions(
    played: Sequence[Any], names: Mapping[str, str], starts: Mapping[int, str]
) -> list[Any]:
    """Return the first state of each shared episode in which two programs decide differently; episodes with equal returns are left out.

    Episodes with the same seed are identical until the first different action.

    Args:
        played: Recorded episodes of each program, in the order of their seeds.
        names: From `promptpo.spec.reading.names_of`.
        starts: A short name for each seed.

    Returns:
        Name of the initial state, step, state by names, actions and returns; largest difference in return first.
    """
    found = []
    for first, second in zip(*played, strict=False) if len(played) > 1 else ():
        both, returns = (first.trajectory, second.trajectory), [number(e.return_) for e in (first, second)]
        steps = zip(*(each.observations for each in both), *(each.actions for each in both), strict=False)
        for step, values in enumerate(steps):
            state, again, *actions = (cells(value, "obs") for value in values)
            if state != again or first.seed != second.seed or returns[0] == returns[1]:
                break
            if actions[0] != actions[1]:
                known = [(component_name(label, names), state[label]) for label in [*state][:COLUMNS]]
                found.append(
                    (
                        -abs(first.return_ - second.return_),
                        (starts[first.seed], step, known, actions, returns),
                    )
                )
                break
    return [place for _, place in sorted(found)[:PARTING]]
