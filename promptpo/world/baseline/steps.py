"""Recorded steps as rows of numbers, and what the numbers are called in a model's module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from gymnasium import spaces

from promptpo_sandbox import Recorded

Floats = np.ndarray[Any, np.dtype[np.float64]]

ON_CIRCLE = 1e-3


@dataclass(frozen=True, slots=True)
class Names:
    """What the numbers of a formula are called in the module.

    Attributes:
        seen: The observation's entries.
        angles: (place of the cosine, place of the sine) to the name of the angle.
        actions: What stands for the action.
        switches: Places among all of these of numbers that are 0 or 1 and exclude each other.
    """

    seen: tuple[str, ...]
    angles: dict[tuple[int, int], str] = field(default_factory=dict)
    actions: tuple[str, ...] = ()
    switches: tuple[int, ...] = ()


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
    seen = [np.asarray(one.observations, float) for one in episodes]
    before, after = np.concatenate([one[:-1] for one in seen]), np.concatenate([one[1:] for one in seen])
    ended = np.zeros(len(before), bool)
    ended[np.cumsum([len(one) for one in episodes]) - 1] = [one.terminated for one in episodes]
    rewards = np.concatenate([one.rewards for one in episodes])
    action = np.concatenate([_numbers(action_space, one.actions) for one in episodes])
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
    if isinstance(action_space, spaces.Box):
        return Names(seen, angles, tuple(f"u{i}" for i in range(int(np.prod(action_space.shape)))))
    actions = tuple(f"do{value}" for value in _choices(action_space))
    return Names(seen, angles, actions, tuple(range(count, count + len(actions))))


def angle_of(rows: Floats, cosine: int, sine: int) -> Floats:
    """The angle whose cosine and sine stand in two columns."""
    angles: Floats = np.arctan2(rows[:, sine], rows[:, cosine])
    return angles


def _numbers(space: Any, actions: Any) -> Floats:
    """Actions as rows: a choice becomes numbers that are 0 or 1, one for each value but the first."""
    if isinstance(space, spaces.Box):
        flat = np.asarray(actions, float).reshape(len(actions), -1)
        clipped: Floats = np.clip(flat, space.low.ravel(), space.high.ravel())
        return clipped
    chosen: Floats = (np.asarray(actions).reshape(-1, 1) == np.array(_choices(space))).astype(float)
    return chosen


def _choices(space: Any) -> list[int]:
    """The values of a discrete action but the first."""
    return [int(space.start + value) for value in range(1, int(space.n))]


def reading(space: Any, names: Names) -> list[str]:
    """Lines that assign the actions' names from ``action``."""
    if not isinstance(space, spaces.Box):
        pairs = zip(names.actions, _choices(space), strict=True)
        return [f"{name} = 1.0 if action == {value} else 0.0" for name, value in pairs]
    lines = [] if len(space.shape) == 1 else ["action = np.ravel(action)"]
    for i, name in enumerate(names.actions):
        low, high, text = float(space.low.flat[i]), float(space.high.flat[i]), f"float(action[{i}])"
        text = f"max({low:.9g}, {text})" if np.isfinite(low) else text
        lines.append(f"{name} = " + (f"min({high:.9g}, {text})" if np.isfinite(high) else text))
    return lines
