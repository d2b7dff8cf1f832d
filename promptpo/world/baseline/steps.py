"""Recorded steps as rows of numbers, and what the numbers are called in a model's module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from promptpo.world.baseline.actions import names_of_numbers, numbers_of
from promptpo.world.numbers import rows
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


def steps_of(observation_space: Any, action_space: Any, episodes: Sequence[Recorded]) -> Steps:
    """The steps of some episodes as rows; a discrete action becomes numbers that are 0 or 1."""
    seen = [rows(observation_space, one.observations) for one in episodes]
    before, after = np.concatenate([one[:-1] for one in seen]), np.concatenate([one[1:] for one in seen])
    ended = np.zeros(len(before), bool)
    ended[np.cumsum([len(one) for one in episodes]) - 1] = [one.terminated for one in episodes]
    rewards = np.concatenate([one.rewards for one in episodes])
    action = np.concatenate([numbers_of(action_space, one.actions) for one in episodes])
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
    return Names(seen, angles, *names_of_numbers(action_space, count))


def angle_of(rows: Floats, cosine: int, sine: int) -> Floats:
    """The angle whose cosine and sine stand in two columns."""
    angles: Floats = np.arctan2(rows[:, sine], rows[:, cosine])
    return angles
