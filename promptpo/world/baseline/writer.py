"""A world model of short formulas: how each number of an observation changes, fitted to recorded steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from promptpo.world.baseline.curiosity import cells_of
from promptpo.world.baseline.endings import find_ending
from promptpo.world.baseline.steps import Floats, Names, Steps, angle_of, names_of, reading, steps_of
from promptpo.world.baseline.terms import Library, candidates
from promptpo_sandbox import Recorded

MOST_NUMBERS = 60
FEWEST, MOST_ROWS = 20, 4000
"""Steps that formulas are fitted to, at least and at most; more are sampled evenly."""

MARGIN = 0.5
"""Predictions may leave what was observed by this share of its span."""

MOSTLY, NEAR = 0.3, 1e-6
"""Steps that end at a bound of the space, within this share of it, are not fitted to where so many at least end elsewhere."""


def suits_formulas(observation_space: spaces.Space[Any], action_space: spaces.Space[Any]) -> bool:
    """Whether observations are a list of not too many numbers, and actions become numbers too."""
    if not isinstance(observation_space, spaces.Box) or len(observation_space.shape) != 1:
        return False
    floats = isinstance(action_space, spaces.Box) and np.issubdtype(action_space.dtype or float, np.floating)
    few = isinstance(action_space, spaces.Discrete) and action_space.n <= MOST_NUMBERS
    return observation_space.shape[0] <= MOST_NUMBERS and (floats or few)


def write_world(
    observation_space: spaces.Space[Any],
    action_space: spaces.Space[Any],
    episodes: Sequence[Recorded],
    *,
    curious: bool = False,
) -> str:
    """The source of a world model of formulas that is fitted to episodes; empty where this cannot write one.

    Args:
        observation_space: Of the task.
        action_space: Of the task.
        episodes: What it is fitted to.
        curious: Give a reward of 1 for what the episodes have not shown yet, instead of the task's reward.
    """
    if not suits_formulas(observation_space, action_space) or sum(map(len, episodes)) < FEWEST:
        return ""
    steps = steps_of(action_space, episodes)
    names = names_of(steps, action_space)
    seen = np.concatenate([steps.before, steps.after])
    low, high = seen.min(axis=0), seen.max(axis=0)
    span = MARGIN * np.maximum(high - low, 1e-9)
    space: Any = observation_space
    low, high = np.maximum(low - span, space.low), np.minimum(high + span, space.high)
    even = np.linspace(0, len(steps.before) - 1, MOST_ROWS).round().astype(int)
    chosen = np.union1d(even, np.flatnonzero(steps.ended))
    after = [f"y{i}" for i in range(len(names.seen))]
    rules = find_ending(steps.after, steps.ended)
    cells = cells_of(steps, names, low, high) if curious else None
    lines = [
        "x = self.x",
        f"{_listed(names.seen)} = x",
        *reading(action_space, names),
        *_moves(steps, names, space, chosen, low, high),
        f"terminated = {' or '.join(rule.code(after) for rule in rules) or 'False'}",
        *(["reward = 0.0"] if curious else _reward(steps, names, chosen)),
        *(cells.code() if cells else ()),
        f"self.x = x = ({_listed(after)})",
    ]
    return _MODULE.format(
        constants=f"\nSEEN = {sorted(cells.seen)}\n" if cells else "",
        body="\n".join(f"        {line}" for line in lines),
        kind=np.dtype(space.dtype).name,
        visited="\n        self.visited = set(SEEN)" if cells else "",
    )


def _moves(steps: Steps, names: Names, space: Any, chosen: Any, low: Floats, high: Floats) -> Iterator[str]:
    """Lines that assign the next observation to y0, y1 and so on.

    Args:
        steps: What they are fitted to.
        names: What numbers are called.
        space: Of observations; steps that end at a bound of it are not fitted to, where most end elsewhere.
        chosen: Places of the steps.
        low: Least of each number that is predicted.
        high: The most.
    """
    at_bounds = np.isclose(steps.after, space.low, rtol=NEAR) | np.isclose(steps.after, space.high, rtol=NEAR)
    free = ~at_bounds.any(axis=1)
    rows = np.concatenate([steps.before, steps.action], axis=1)[chosen]
    library = Library(rows, candidates(rows.shape[1], names.switches))
    called = [*names.seen, *names.actions]

    def moved(first: str, change: Floats) -> str:
        formula = library.fit(change[chosen], free[chosen] if free.mean() > MOSTLY else None)
        return f"{first} + {formula.code(called)}".replace("+ -", "- ")

    for (i, j), angle in names.angles.items():
        turned = angle_of(steps.after, i, j) - angle_of(steps.before, i, j)
        yield f"{angle} = math.atan2(x{j}, x{i})"
        yield f"turned = {moved(angle, (turned + np.pi) % (2 * np.pi) - np.pi)}"
        yield f"y{i} = math.cos(turned)"
        yield f"y{j} = math.sin(turned)"
    paired = {place for pair in names.angles for place in pair}
    for i, name in enumerate(names.seen):
        change = steps.after[:, i] - steps.before[:, i]
        if i not in paired:
            said = moved(name, change) if np.any(change[chosen]) else name
            yield f"y{i} = min({high[i]:.7g}, max({low[i]:.7g}, {said}))"


def _reward(steps: Steps, names: Names, chosen: Any) -> list[str]:
    """Lines that assign the reward: a formula of what was before, the action, the angles and what is after."""
    angles = [angle_of(steps.before, i, j)[:, None] for i, j in names.angles]
    rows = np.concatenate([steps.before, steps.action, *angles, steps.after], axis=1)
    called = [*names.seen, *names.actions, *names.angles.values(), *(f"y{i}" for i in range(len(names.seen)))]
    going = chosen[~steps.ended[chosen]]
    going = going if len(going) else chosen
    library = Library(rows[going], candidates(rows.shape[1], names.switches))
    formula = library.fit(steps.rewards[going])
    low, high = float(steps.rewards.min()), float(steps.rewards.max())
    least = low - MARGIN * (high - low)
    lines = [f"reward = min({high:.9g}, max({least:.9g}, {formula.code(called)}))"]
    if steps.ended.any():
        extra = float((steps.rewards - formula(rows))[steps.ended].mean())
        lines += ["if terminated:", f"    reward += {extra:.9g}"]
    return lines


def _listed(names: Sequence[str]) -> str:
    """A tuple of names."""
    return "".join(f"{name}, " for name in names).strip()


_MODULE = '''"""How each number of the observation changes in one step: formulas fitted to recorded steps."""

import math

import numpy as np
{constants}

class World:
    """One episode; x is what was last observed or predicted."""

    def __init__(self, obs, rng):
        self.sync(obs){visited}

    def sync(self, obs):
        """Put the world in step with an observation."""
        self.x = tuple([float(value) for value in obs])

    def step(self, action):
        """One step: the next observation, the reward, and whether the episode ends."""
{body}
        return np.array(x, dtype=np.{kind}), reward, terminated
'''
