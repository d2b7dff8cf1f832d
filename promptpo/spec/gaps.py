"""What a description could not find out, so that a person can say it before anything is paid for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.envs.spaces import AnySpace, at, leaves

if TYPE_CHECKING:
    from promptpo.spec.facts import TaskFacts

TOLERANCE = 1e-6
"""Relative to a bound: rounding of a bound to 32 bits is no step over it."""


def gaps_in(
    facts: TaskFacts, sources: Mapping[str, str], observations: Sequence[Any], *, named_actions: bool
) -> tuple[str, ...]:
    """What stays unknown, each a few words.

    Args:
        facts: With the spaces.
        sources: Part of the description to where it came from.
        observations: Those that were seen.
        named_actions: Whether each of a few discrete actions has a meaning.
    """
    found = []
    space, action_space = facts.observation_space, facts.action_space
    if (
        isinstance(space, spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary)
        and sources["State"] == "space"
    ):
        found.append("what the numbers of the observation mean")
    if isinstance(action_space, spaces.Discrete) and not named_actions and sources["Action"] != "user":
        found.append(f"what each of the {action_space.n} actions does")
    elif not isinstance(action_space, spaces.Discrete) and sources["Action"] == "space":
        found.append("what the parts of the action do")
    if sources["reward"] == "nothing found":
        found.append("what is rewarded")
    return (*found, *_outside(space, observations))


def _outside(space: AnySpace, observations: Sequence[Any]) -> Iterator[str]:
    """Observations that lie outside the bounds that their space declares."""
    for path, leaf in leaves(space):
        seen = [at(observation, path) for observation in observations]
        if not isinstance(leaf, spaces.Box) or any(np.shape(one) != leaf.shape for one in seen):
            continue
        table = np.asarray(seen, dtype=float)
        within = np.clip(table, leaf.low, leaf.high)
        wrong = np.argwhere(~np.isclose(table, within, rtol=TOLERANCE, atol=TOLERANCE).all(axis=0))
        if len(wrong):
            first = tuple(int(index) for index in wrong[0])
            name = "obs" + "".join(f"[{key!r}]" for key in (*path, *first))
            others = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
            numbers = [float(row[first]) for row in table]
            yield (
                f"the true range of {name}{others}: seen from {min(numbers):.4g} to {max(numbers):.4g}, "
                f"declared {leaf.low[first]:.4g} to {leaf.high[first]:.4g}"
            )
