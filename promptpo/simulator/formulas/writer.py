"""Write a simulator of short formulas for the change of each observed number, fitted to recorded steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from promptpo.simulator.formulas.rows import (
    NumberNames,
    StepRows,
    angle_of,
    choices,
    find_endings,
    number_names,
    step_rows,
)
from promptpo.simulator.formulas.terms import Floats, TermLibrary, candidates
from promptpo_sandbox import Recorded

MAX_NUMBERS = 60
MIN_STEPS = 20
"""Minimum number of steps to fit."""

MARGIN_SHARE = 0.5
"""Share of the observed range by which predictions may exceed it."""

FREE_SHARE, BOUND_TOLERANCE = 0.3, 1e-6
"""Share of steps that must end away from the space's bounds for steps that end at a bound to be excluded from the fit;
relative tolerance of a bound."""

_MODULE = '''"""How each number of the observation changes in one step: formulas fitted to recorded steps."""
import numpy as np

LOW, HIGH = np.array({low}), np.array({high})  # of initial states, an angle in the place of its cosine


class Simulator:
    def __init__(self, params, rng):
        self.rng = rng

    def reset(self, n):
        self.x = self.rng.uniform(LOW, HIGH, (n, len(LOW)))
        for i, j in {angles}:
            self.x[:, i], self.x[:, j] = np.cos(self.x[:, i]), np.sin(self.x[:, i])
        return self.x.astype(np.{kind})

    def set(self, obs):
        self.x = obs.astype(float)

    def step(self, actions):
        nought = np.zeros(len(actions))
{body}
        return self.x.astype(np.{kind}), reward, terminated
'''


def suits_formulas(observation_space: spaces.Space[Any], action_space: spaces.Space[Any]) -> bool:
    """Return whether observations are a short vector, and actions are real-valued or one of few choices."""
    if not isinstance(observation_space, spaces.Box) or len(observation_space.shape) != 1:
        return False
    floats = isinstance(action_space, spaces.Box) and np.issubdtype(action_space.dtype or float, np.floating)
    few = isinstance(action_space, spaces.Discrete) and action_space.n <= MAX_NUMBERS
    return observation_space.shape[0] <= MAX_NUMBERS and (floats or few)


def write_formulas(
    episodes: Sequence[Recorded], observation_space: spaces.Space[Any], action_space: spaces.Space[Any]
) -> str:
    """Return a simulator's module with formulas fitted to episodes; empty if the task does not suit them."""
    if not suits_formulas(observation_space, action_space) or sum(map(len, episodes)) < MIN_STEPS:
        return ""
    rows = step_rows(action_space, episodes)
    names = number_names(rows, action_space)
    after = [f"y{i}" for i in range(len(names.seen))]
    rules = [rule.code(after) for rule in find_endings(rows.after, rows.ended)]
    lines = [
        f"{_list_names(names.seen)} = self.x.T",
        *_read_actions(action_space, names),
        *_write_observation(rows, names, observation_space),
        f"terminated = {' | '.join(rules) or 'nought > 0'}",
        *_write_reward(rows, names),
        f"self.x = np.stack([{_list_names(after)}], axis=1)",
    ]
    low, high = _initial_ranges(episodes, names, observation_space)
    return _MODULE.format(
        low=low,
        high=high,
        angles=list(names.angles),
        body="\n".join(f"        {line}" for line in lines),
        kind=np.dtype(observation_space.dtype or float).name,
    )


def _initial_ranges(
    episodes: Sequence[Recorded], names: NumberNames, space: Any
) -> tuple[list[float], list[float]]:
    """Estimate the ranges of initial states, assumed to be uniform, from a few of them."""
    seen = np.stack([episode.observations[0] for episode in episodes]).astype(float)
    least, most = space.low.astype(float), space.high.astype(float)
    for i, j in names.angles:
        mean = np.arctan2(seen[:, j].mean(), seen[:, i].mean())
        seen[:, i] = mean + (angle_of(seen, i, j) - mean + np.pi) % (2 * np.pi) - np.pi
        least[i], most[i] = mean - np.pi, mean + np.pi
    room = np.ptp(seen, axis=0) / max(1, len(seen) - 1)
    low, high = np.maximum(seen.min(axis=0) - room, least), np.minimum(seen.max(axis=0) + room, most)
    return np.round(low, 6).tolist(), np.round(high, 6).tolist()


def _read_actions(space: Any, names: NumberNames) -> list[str]:
    """Return code that assigns the actions' names."""
    if not isinstance(space, spaces.Box):
        pairs = zip(names.actions, choices(space), strict=True)
        return [f"{name} = (actions == {value}).astype(float)" for name, value in pairs]
    return [f"{_list_names(names.actions)} = actions.reshape(len(actions), -1).T.astype(float)"]


def _write_observation(rows: StepRows, names: NumberNames, space: Any) -> Iterator[str]:
    """Yield code that assigns the next observation to y0, y1 and so on."""
    seen = np.concatenate([rows.before, rows.after])
    low, high = seen.min(axis=0), seen.max(axis=0)
    room = MARGIN_SHARE * np.maximum(high - low, 1e-9)
    low, high = np.maximum(low - room, space.low), np.minimum(high + room, space.high)
    bounds = (np.isclose(rows.after, bound, rtol=BOUND_TOLERANCE) for bound in (space.low, space.high))
    free = ~np.logical_or(*bounds).any(axis=1)
    table = np.concatenate([rows.before, rows.action], axis=1)
    library = TermLibrary(table, candidates(table.shape[1], names.switches))
    called = [*names.seen, *names.actions]

    def write_change(first: str, change: Floats) -> str:
        formula = library.fit(change, free if free.mean() > FREE_SHARE else None)
        return f"{first} + {formula.code(called)}".replace("+ -", "- ")

    for (i, j), angle in names.angles.items():
        turned = angle_of(rows.after, i, j) - angle_of(rows.before, i, j)
        yield f"{angle} = np.arctan2(x{j}, x{i})"
        yield f"turned = {write_change(angle, (turned + np.pi) % (2 * np.pi) - np.pi)}"
        yield f"y{i}, y{j} = np.cos(turned), np.sin(turned)"
    paired = {place for pair in names.angles for place in pair}
    for i, name in enumerate(names.seen):
        if i not in paired:
            change = rows.after[:, i] - rows.before[:, i]
            formula = write_change(name, change) if np.any(change) else name
            yield f"y{i} = np.clip({formula}, {low[i]:.7g}, {high[i]:.7g})"


def _write_reward(rows: StepRows, names: NumberNames) -> list[str]:
    """Return code that assigns the reward, a formula of both observations, the action and the angles."""
    angles = [angle_of(rows.before, i, j)[:, None] for i, j in names.angles]
    table = np.concatenate([rows.before, rows.action, *angles, rows.after], axis=1)
    after = [f"y{i}" for i in range(len(names.seen))]
    called = [*names.seen, *names.actions, *names.angles.values(), *after]
    library = TermLibrary(table, candidates(table.shape[1], names.switches))
    formula = library.fit(rows.rewards, None if rows.ended.all() else ~rows.ended)
    low, high = float(rows.rewards.min()), float(rows.rewards.max())
    least = low - MARGIN_SHARE * (high - low)
    lines = [
        f"reward = np.clip(nought + {formula.code(called)}, {least:.9g}, {high:.9g})".replace("+ -", "- ")
    ]
    if rows.ended.any():
        extra = float((rows.rewards - formula(table))[rows.ended].mean())
        lines.append(f"reward = reward + {extra:.9g} * terminated")
    return lines


def _list_names(names: Sequence[str]) -> str:
    """Join names, each followed by a comma."""
    return "".join(f"{name}, " for name in names).strip()
