"""Recorded steps as rows of numbers, and what the numbers are called in a model's module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from gymnasium import spaces

from sandbox import Recorded

Floats = np.ndarray[Any, np.dtype[np.float64]]

ON_CIRCLE = 1e-3


@dataclass(frozen=True, slots=True)
class Names:
    """What the numbers of a formula are called in the module.

    Attributes:
        seen: The observation's entries.
        angles: (place of the cosine, place of the sine) to the name of the angle.
        actions: What stands for the action.
        switches: Places among `seen` and `actions` of numbers that are 0 or 1 and exclude each other.
    """

    seen: tuple[str, ...]
    angles: dict[tuple[int, int], str] = field(default_factory=dict)
    actions: tuple[str, ...] = ()
    switches: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Steps:
    """Recorded steps as rows.

    Attributes:
        before: What was observed.
        action: Numbers that stand for the action.
        after: What was observed then.
        rewards: One each.
        ended: Whether the step ended its episode.
    """

    before: Floats
    action: Floats
    after: Floats
    rewards: Floats
    ended: Any


def steps_of(action_space: Any, episodes: Sequence[Recorded]) -> Steps:
    """The steps of some episodes as rows; a discrete action becomes numbers that are 0 or 1."""
    before = np.concatenate([np.asarray(one.observations[:-1], float) for one in episodes])
    after = np.concatenate([np.asarray(one.observations[1:], float) for one in episodes])
    done = np.concatenate([np.asarray(one.actions) for one in episodes])
    ended = np.zeros(len(before), bool)
    ended[np.cumsum([len(one) for one in episodes]) - 1] = [one.terminated for one in episodes]
    rewards = np.concatenate([one.rewards for one in episodes])
    if isinstance(action_space, spaces.Discrete):
        numbers = (done[:, None] - int(action_space.start)) == np.arange(1, int(action_space.n))
        action = numbers.astype(float)
    else:
        action = np.clip(done.astype(float), action_space.low, action_space.high)
    return Steps(before, action, after, rewards, ended)


def names_of(steps: Steps, action_space: Any) -> Names:
    """Names for the numbers of some steps; two numbers that stay on the unit circle are an angle."""
    count = steps.before.shape[1]
    seen = tuple(f"x{i}" for i in range(count))
    angles: dict[tuple[int, int], str] = {}
    used: set[int] = set()
    for i, j in combinations(range(count), 2):
        radius = steps.before[:, i] ** 2 + steps.before[:, j] ** 2
        round_ = (
            np.abs(radius - 1.0).max() < ON_CIRCLE
            and min(np.ptp(steps.before[:, [i, j]], axis=0)) > ON_CIRCLE
        )
        if round_ and not used & {i, j}:
            angles[i, j] = f"angle{len(angles)}"
            used |= {i, j}
    width = steps.action.shape[1]
    if isinstance(action_space, spaces.Discrete):
        start = int(action_space.start)
        return Names(
            seen,
            angles,
            tuple(f"do{start + i + 1}" for i in range(width)),
            (tuple(range(count, count + width)),),
        )
    return Names(seen, angles, tuple(f"u{i}" for i in range(width)))


def angle_of(rows: Floats, cosine: int, sine: int) -> Floats:
    """The angle whose cosine and sine stand in two columns."""
    angles: Floats = np.arctan2(rows[:, sine], rows[:, cosine])
    return angles
