"""A world model of short formulas: how each number of an observation changes, fitted to recorded steps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from promptpo.world.baseline import actions
from promptpo.world.baseline.curiosity import cells_of
from promptpo.world.baseline.endings import Ending, find_ending
from promptpo.world.baseline.steps import Floats, Names, Steps, angle_of, names_of, steps_of
from promptpo.world.baseline.terms import Formula, Library, candidates
from promptpo.world.numbers import quantities
from promptpo.world.space_text import assembled, flat_bounds, flattened
from sandbox import Recorded

MOST_NUMBERS = 60
MOST_ROWS = 4000
"""Steps that formulas are fitted to; more are sampled evenly."""

MARGIN = 0.5
"""Predictions may leave what was observed by this share of its span."""

REACH = 1.5
"""Beyond that they change by so many times the largest change that was seen at most."""

SURE = 0.2
"""Beyond this share of the span the model is taken to know nothing, and its rewards are lowered."""

MOSTLY = 0.3
"""Steps that end at a bound of the space are not fitted to, where at least this share ends elsewhere."""

FEW = 3
"""So many steps at least must have reached a bound to show what happens there."""

WIDTH = 100


def suits_formulas(observation_space: spaces.Space[Any], action_space: spaces.Space[Any]) -> bool:
    """Whether observations are not too many numbers, some of which move, and actions become numbers too."""
    known = quantities(observation_space)
    moves = known is not None and any(not quantity.discrete for quantity in known)
    return known is not None and moves and len(known) <= MOST_NUMBERS and actions.suits(action_space)


def write_formulas(
    observation_space: spaces.Space[Any],
    action_space: spaces.Space[Any],
    episodes: Sequence[Recorded],
    *,
    curious: bool = False,
) -> str:
    """The source of a model of formulas; empty where observations are no list of numbers."""
    if not suits_formulas(observation_space, action_space) or sum(map(len, episodes)) < 20:  # noqa: PLR2004
        return ""
    steps = steps_of(observation_space, action_space, episodes)
    names = names_of(steps, action_space)
    return _Writer(observation_space, action_space, names, steps).module(curious=curious)


class _Writer:
    """Fits the formulas of one model and writes them down.

    Args:
        observation_space: Of the task.
        action_space: Of the task.
        names: What numbers are called.
        steps: What it is fitted to.
    """

    def __init__(self, observation_space: Any, action_space: Any, names: Names, steps: Steps) -> None:
        self._space, self._actions, self._names, self._steps = observation_space, action_space, names, steps
        self._least, self._most = flat_bounds(observation_space)
        self._whole = [quantity.discrete for quantity in quantities(observation_space) or ()]
        places = np.unique(np.linspace(0, len(steps.before) - 1, MOST_ROWS).round().astype(int))
        extra = np.flatnonzero(steps.ended)
        self._chosen = np.union1d(places, extra)
        free = np.ones(len(steps.after), bool)
        for i, side, at in self._bounds():
            free &= steps.after[:, i] > at if side == "<=" else steps.after[:, i] < at
        self._free = free[self._chosen] if free.mean() > MOSTLY else None
        low, high = steps.after.min(axis=0), steps.after.max(axis=0)
        low, high = np.minimum(low, steps.before.min(axis=0)), np.maximum(high, steps.before.max(axis=0))
        span = np.maximum(high - low, 1e-9)
        self._sure = low - SURE * span, high + SURE * span
        self._low = np.maximum(low - MARGIN * span, self._least)
        self._high = np.minimum(high + MARGIN * span, self._most)

    def module(self, *, curious: bool) -> str:
        """The source."""
        moves = self._moves()
        reward = ["reward = 0.0"] if curious else self._reward()
        ending = self._ending()
        cells = cells_of(self._steps, self._names, self._low, self._high) if curious else None
        lines = [
            *self._read_action(),
            *moves,
            *_assigned("terminated", ending.code([f"y{i}" for i in range(len(self._names.seen))])),
            *reward,
            *(cells.code() if cells else ()),
            *(() if curious else self._caution()),
            self._assign(),
        ]
        body = "\n".join(f"        {line}" for line in lines)
        constants = f"\nSEEN = {sorted(cells.seen)}\n" if cells else ""
        return _MODULE.format(
            constants=constants,
            body=body,
            observation=assembled(self._space, "x"),
            numbers=flattened(self._space, "obs"),
            visited="\n        self.visited = set(SEEN)" if cells else "",
        )

    # How numbers move

    def _rows(self) -> Floats:
        rows: Floats = np.concatenate([self._steps.before, self._steps.action], axis=1)[self._chosen]
        return rows

    def _library(self) -> Library:
        rows = self._rows()
        return Library(rows, candidates(rows.shape[1], self._names.switches))

    def _moves(self) -> list[str]:
        """Lines that assign the next observation to y0, y1 and so on."""
        names, steps, chosen = self._names, self._steps, self._chosen
        library = self._library()
        called = [*names.seen, *names.actions]
        lines = []
        for (i, j), angle in names.angles.items():
            turned = angle_of(steps.after, i, j) - angle_of(steps.before, i, j)
            turned = (turned + np.pi) % (2 * np.pi) - np.pi
            formula = library.fit(turned[chosen], self._free)
            lines.append(f"{angle} = math.atan2(x{j}, x{i})")
            lines += _assigned("turned", f"{angle} + {formula.code(called)}".replace("+ -", "- "))
            lines += [f"y{i} = math.cos(turned)", f"y{j} = math.sin(turned)"]
        paired = {place for pair in names.angles for place in pair}
        for i, name in enumerate(names.seen):
            if i in paired:
                continue
            change = steps.after[chosen, i] - steps.before[chosen, i]
            if not np.any(change):
                lines.append(f"y{i} = {name}")
                continue
            formula = library.fit(change, self._free)
            moved = f"{name} + {formula.code(called)}".replace("+ -", "- ")
            lines += _assigned("moved", moved)
            lines.append(f"y{i} = {self._kept_near(i, change)}")
        return lines + self._stops()

    def _kept_near(self, place: int, change: Floats) -> str:
        """The predicted number, kept near what was observed, or near where it is already where that lies outside."""
        reach = REACH * float(np.abs(change).max())
        name, low, high = self._names.seen[place], float(self._low[place]), float(self._high[place])
        least = f"{low:.7g}" if low <= self._least[place] else f"min({low:.7g}, {name} - {reach:.7g})"
        most = f"{high:.7g}" if high >= self._most[place] else f"max({high:.7g}, {name} + {reach:.7g})"
        kept = f"min({most}, max({least}, moved))"
        return f"float(round({kept}))" if self._whole[place] else kept

    def _stops(self) -> list[str]:
        """Lines for what a number becomes where another reaches its bound, as a speed does at a wall."""
        after, lines = self._steps.after, []
        for i, side, at in self._bounds():
            reached = after[:, i] <= at if side == "<=" else after[:, i] >= at
            if reached.sum() < FEW:
                continue
            for j in range(after.shape[1]):
                values = after[reached, j]
                if j != i and np.ptp(values) == 0 and np.ptp(after[:, j]) > 0:
                    lines += [f"if y{i} {side} {at:.9g}:", f"    y{j} = {float(values[0]):.7g}"]
        return lines

    def _bounds(self) -> list[tuple[int, str, float]]:
        """(place, comparison, value) of the finite bounds of the space, a little inside them."""
        found = []
        for i in range(len(self._names.seen)):
            low, high = self._inner(i)
            found += [(i, "<=", low)] if np.isfinite(low) else []
            found += [(i, ">=", high)] if np.isfinite(high) else []
        return found

    def _inner(self, place: int) -> tuple[float, float]:
        """Bounds of what counts as not stopped by the space's own bounds."""
        low, high = float(self._least[place]), float(self._most[place])
        room = 1e-6 * max(1.0, abs(low) if np.isfinite(low) else 0.0, abs(high) if np.isfinite(high) else 0.0)
        return low + room, high - room

    # What is earned, and when it ends

    def _ending(self) -> Ending:
        return find_ending(self._steps.after, self._steps.ended)

    def _reward(self) -> list[str]:
        """Lines that assign the reward."""
        steps = self._steps
        ended, rewards = steps.ended, steps.rewards
        going, last = rewards[~ended], rewards[ended]
        if not len(going):
            return [f"reward = {float(rewards.mean()):.9g}"]
        if np.ptp(going) == 0:
            first = f"reward = {float(going[0]):.9g}"
            if not len(last) or np.all(last == going[0]):
                return [first]
            return [first, "if terminated:", f"    reward = {float(last.mean()):.9g}"]
        formula, names = self._reward_formula()
        lines = _assigned("reward", formula.code(names))
        low, high = float(rewards.min()), float(rewards.max())
        lines.append(f"reward = min({high:.9g}, max({low - MARGIN * (high - low):.9g}, reward))")
        if len(last):
            extra = float((last - formula(self._reward_rows()[ended])).mean())
            lines += ["if terminated:", f"    reward += {extra:.9g}"]
        return lines

    def _reward_rows(self) -> Floats:
        """Numbers that rewards may depend on: before, action, angles, after."""
        steps = self._steps
        angles = [angle_of(steps.before, i, j)[:, None] for i, j in self._names.angles]
        return np.concatenate([steps.before, steps.action, *angles, steps.after], axis=1)

    def _reward_formula(self) -> tuple[Formula, list[str]]:
        names, rows = self._names, self._reward_rows()
        called = [*names.seen, *names.actions, *names.angles.values()]
        called += [f"y{i}" for i in range(len(names.seen))]
        going = self._chosen[~self._steps.ended[self._chosen]]
        library = Library(rows[going], candidates(rows.shape[1], names.switches))
        return library.fit(self._steps.rewards[going]), called

    def _caution(self) -> list[str]:
        """Lines that lower the reward outside what was recorded, so that nothing is gained by what nobody knows."""
        rewards = self._steps.rewards
        loss = max(float(np.ptp(rewards)), float(np.abs(rewards).mean()))
        low, high = self._sure
        checks = [
            f"not {low[i]:.7g} <= y{i} <= {high[i]:.7g}"
            for i in range(len(low))
            if low[i] > self._least[i] or high[i] < self._most[i]
        ]
        if not checks or not loss:
            return []
        return [*_assigned("unknown", " or ".join(checks)), "if unknown:", f"    reward -= {loss:.7g}"]

    # Python around the formulas

    def _read_action(self) -> list[str]:
        names = self._names
        lines = ["x = self.x", f"{''.join(f'{name}, ' for name in names.seen).strip()} = x"]
        return [*lines, *actions.reading(self._actions, names.actions)]

    def _assign(self) -> str:
        return f"self.x = x = ({''.join(f'y{i}, ' for i in range(len(self._names.seen))).strip()})"


def _assigned(name: str, expression: str) -> list[str]:
    """Lines that assign a long sum to a name."""
    line, lines = f"{name} = (", []
    parts = re.split(r" (?=[+-] |or )", expression)
    if len(expression) <= WIDTH:
        return [f"{name} = {expression}"]
    for part in parts:
        if len(line) + len(part) > WIDTH:
            lines.append(line.rstrip())
            line = "    "
        line += f"{part} "
    return [*lines, line.rstrip(), ")"]


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
        self.x = tuple([float(value) for value in {numbers}])

    def step(self, action):
        """One step: the next observation, the reward, and whether the episode ends."""
{body}
        return {observation}, reward, terminated
'''
