"""Convert recorded steps to rows of numbers, name these for a simulator's module, and find thresholds that end episodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from gymnasium import spaces

from promptpo.simulator.formulas.terms import Floats
from promptpo_sandbox import Recorded

CIRCLE_TOLERANCE = 1e-3
"""Deviation from the unit circle up to which two numbers count as an angle's cosine and sine."""

MAX_RULES = 6


@dataclass(frozen=True, slots=True)
class NumberNames:
    """Names of the numbers in a formula.

    Attributes:
        seen: Names of the observation's entries.
        angles: Indices of cosine and sine to the name of the angle.
        actions: Names of the numbers that represent the action.
        switches: Indices among observation and action of mutually exclusive binary numbers.
    """

    seen: tuple[str, ...]
    angles: dict[tuple[int, int], str]
    actions: tuple[str, ...]
    switches: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class StepRows:
    """Recorded steps as arrays with one row per step.

    Attributes:
        before: Observations before the step.
        action: Numbers that represent the action.
        after: Observations after the step.
        rewards: Rewards.
        ended: Whether the step terminated its episode.
    """

    before: Floats
    action: Floats
    after: Floats
    rewards: Floats
    ended: Any


def step_rows(action_space: Any, episodes: Sequence[Recorded]) -> StepRows:
    """Return the steps of episodes; discrete actions are one-hot encoded without the first value."""
    seen = [np.asarray(episode.observations, float) for episode in episodes]
    before, after = np.concatenate([rows[:-1] for rows in seen]), np.concatenate([rows[1:] for rows in seen])
    ended = np.zeros(len(before), bool)
    ended[np.cumsum([len(episode) for episode in episodes]) - 1] = [
        episode.terminated for episode in episodes
    ]
    actions = np.concatenate([episode.actions for episode in episodes])
    if isinstance(action_space, spaces.Box):
        numbers = (
            np.clip(actions, action_space.low, action_space.high).reshape(len(actions), -1).astype(float)
        )
    else:
        numbers = (actions.reshape(-1, 1) == np.array(choices(action_space))).astype(float)
    return StepRows(before, numbers, after, np.concatenate([episode.rewards for episode in episodes]), ended)


def choices(space: Any) -> list[int]:
    """Return the values of a discrete action except the first."""
    return [int(space.start + value) for value in range(1, int(space.n))]


def number_names(rows: StepRows, action_space: Any) -> NumberNames:
    """Name the numbers of some steps; two numbers that stay on the unit circle are an angle."""
    count = rows.before.shape[1]
    angles: dict[tuple[int, int], str] = {}
    used: set[int] = set()
    for i, j in combinations(range(count), 2):
        pair = rows.before[:, [i, j]]
        round_ = np.abs((pair**2).sum(axis=1) - 1.0).max() < CIRCLE_TOLERANCE
        if round_ and min(np.ptp(pair, axis=0)) > CIRCLE_TOLERANCE and not used & {i, j}:
            angles[i, j] = f"angle{len(angles)}"
            used |= {i, j}
    seen = tuple(f"x{i}" for i in range(count))
    if isinstance(action_space, spaces.Box):
        return NumberNames(seen, angles, tuple(f"u{i}" for i in range(rows.action.shape[1])))
    actions = tuple(f"do{value}" for value in choices(action_space))
    return NumberNames(seen, angles, actions, tuple(range(count, count + len(actions))))


def angle_of(rows: Floats, cosine: int, sine: int) -> Floats:
    """Return the angle whose cosine and sine are in two columns."""
    return np.asarray(np.arctan2(rows[:, sine], rows[:, cosine]))


@dataclass(frozen=True, slots=True)
class EndingThreshold:
    """A threshold that ends episodes: the level of column `place`, exceeded upwards if `above`, else downwards."""

    place: int
    above: bool
    level: float

    def code(self, names: Sequence[str]) -> str:
        """Return the condition as a Python expression."""
        return f"({names[self.place]} {'>' if self.above else '<'} {self.level:.9g})"


def find_endings(numbers: Floats, ended: Any) -> list[EndingThreshold]:
    """Return thresholds that only terminating steps cross, greedily by the number of endings that each explains.

    Args:
        numbers: Observations after each step.
        ended: Whether the step terminated its episode.
    """
    rules: list[EndingThreshold] = []
    count = numbers.shape[1]
    columns = np.hstack([numbers, -numbers])  # a lower threshold is an upper one of the negative
    others, left = columns[~ended], ended.copy()
    while left.any() and len(others) and len(rules) < MAX_RULES:
        most = others.max(axis=0)
        explained = (columns > most) & left[:, None]
        place = int(explained.sum(axis=0).argmax())
        beyond = columns[explained[:, place], place]
        if not len(beyond):
            break
        level, above = float((most[place] + beyond.min()) / 2), place < count
        rules.append(EndingThreshold(place % count, above, level if above else -level))
        left &= ~explained[:, place]
    return rules
