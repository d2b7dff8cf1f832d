"""States that two programs came to alike and in which they decided differently, and what that earned."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from promptpo.prompts.columns import component_name
from promptpo.prompts.feedback import number
from promptpo.prompts.limits import COLUMNS, PARTING
from promptpo.prompts.step_table import cells

if TYPE_CHECKING:
    from promptpo_sandbox import Episode


def differing_decisions(
    played: Iterable[Iterable[Episode]], names: Mapping[str, str], starts: Mapping[int, str]
) -> list[tuple[str, Any]]:
    """The first state of shared starts in which two programs decide differently; starts of the same return are left out.

    The same start is the same episode until the first different action.

    Args:
        played: Recorded episodes of each, in the order of their starts.
        names: From `promptpo.spec.reading.names_of`.
        starts: A short name for each seed.

    Returns:
        Name of the start, and step, state by names, actions and returns there; where returns differ most first.
    """
    found: list[tuple[float, str, Any]] = []
    for episodes in zip(*played, strict=False):
        for one, other in itertools.pairwise(episodes):
            returns = number(one.return_), number(other.return_)
            if (
                one.seed == other.seed
                and returns[0] != returns[1]
                and (parted := _first_difference(one, other))
            ):
                step, state, actions = parted
                known = [(component_name(label, names), state[label]) for label in [*state][:COLUMNS]]
                away = -abs(one.return_ - other.return_)
                found.append((away, starts[one.seed], (step, known, actions, returns)))
    return [place for _, *place in sorted(found)[:PARTING]]  # type: ignore[misc]


def _first_difference(one: Episode, other: Episode) -> Any:
    """Step, state and actions where two episodes part by an action; None where they part otherwise."""
    ours, theirs = one.trajectory, other.trajectory
    if ours is None or theirs is None:
        return None
    steps = zip(ours.observations, theirs.observations, ours.actions, theirs.actions, strict=False)
    for step, values in enumerate(steps):
        state, again, *actions = (cells(value, "obs") for value in values)
        if state != again:
            break
        if actions[0] != actions[1]:
            return step, state, [" ".join(action.values()) for action in actions]
    return None
