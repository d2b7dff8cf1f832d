"""What a description could not find out, so that a person can say it before anything is paid for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from promptpo.envs.spaces import at, leaves

TOLERANCE = 1e-6
"""Relative to a bound: rounding of a bound to 32 bits is no step over it."""


def gaps_in(
    observation_space: spaces.Space[Any],
    action_space: spaces.Space[Any],
    sources: Mapping[str, str],
    *,
    named_actions: bool,
    observations: Sequence[Any],
) -> tuple[str, ...]:
    """What stays unknown, each a few words.

    Args:
        observation_space: What the policy sees.
        action_space: What it returns.
        sources: Part of the description to where it came from.
        named_actions: Whether each of a few discrete actions has a meaning.
        observations: Those that were seen.
    """
    found = []
    numbers = isinstance(observation_space, spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary)
    if numbers and sources.get("State") == "space":
        found.append("what the numbers of the observation mean")
    if isinstance(action_space, spaces.Discrete) and not named_actions and sources.get("Action") != "user":
        found.append(f"what each of the {action_space.n} actions does")
    elif not isinstance(action_space, spaces.Discrete) and sources.get("Action") == "space":
        found.append("what the parts of the action do")
    if sources.get("reward") == "nothing found":
        found.append("what is rewarded")
    return (*found, *_outside(observation_space, observations))


def _outside(space: spaces.Space[Any], observations: Sequence[Any]) -> Iterator[str]:
    """Observations that lie outside the bounds that their space declares."""
    for path, leaf in leaves(space):
        if not isinstance(leaf, spaces.Box):
            continue
        seen = [at(observation, path) for observation in observations]
        values = np.array([value for value in seen if np.shape(value) == leaf.shape], dtype=float)
        if not values.size:
            continue
        low, high = values.min(axis=0), values.max(axis=0)
        below = low < leaf.low - TOLERANCE * np.maximum(1.0, np.abs(leaf.low))
        above = high > leaf.high + TOLERANCE * np.maximum(1.0, np.abs(leaf.high))
        wrong = np.argwhere(below | above)
        if len(wrong):
            first = tuple(int(index) for index in wrong[0])
            name = "obs" + "".join(f"[{key!r}]" for key in (*path, *first))
            others = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
            yield (
                f"the true range of {name}{others}: seen from {low[first]:.4g} to {high[first]:.4g}, "
                f"declared {leaf.low[first]:.4g} to {leaf.high[first]:.4g}"
            )
