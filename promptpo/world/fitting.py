"""Numbers for a world model: least squares on predictions of several steps, and CMA-ES where that is not enough."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.cma_es import evolution_strategy
from promptpo.program import Program
from promptpo.world.data import some_of
from promptpo.world.mismatches import TINY, Transitions
from promptpo.world.numbers import quantities, rows
from promptpo.world.replaying import replayed

if TYPE_CHECKING:
    import gymnasium

    from promptpo.rollouts import Executor
    from sandbox import Recorded

Floats = np.ndarray[Any, np.dtype[np.float64]]

AHEAD = (5, 25)
"""Steps that the model predicts from its own predictions while its numbers are fitted."""

MOST_STEPS = 1500
"""Recorded steps that numbers are fitted to."""

MOST_PREDICTED = 1_000_000
"""Steps that the model predicts in all while it is fitted, which bounds the time: some seconds for a plain model."""

MOST_PARAMS = 30
ITERATIONS, SHIFT = 12, 1e-3
FAR = 3.0
"""An error is counted as so many times that of saying that nothing changes at most: what has gone astray is astray."""

ENOUGH = 1e-4
"""An iteration that lowers the error by less than this share is the last."""

EXPLAINED = 0.02
"""Numbers that leave more than this share of what saying that nothing changes leaves are looked for far off, too."""

WIDTH, GENERATIONS = 0.25, 60
"""Of the search far off: its first width as a share of the numbers' ranges, and its length."""


async def fitted(
    executor: Executor,
    source: str,
    episodes: Sequence[Recorded],
    spaces: tuple[gymnasium.Space[Any], gymnasium.Space[Any]],
    seed: int = 0,
) -> dict[str, float] | None:
    """Values for the model's ``PARAMS`` that predict the episodes best, 5 and 25 steps ahead.

    They are found by Levenberg and Marquardt's method, which sees no further than a slope leads; where much is
    left unexplained, CMA-ES looks for others in the whole of their ranges, and the better ones are taken.

    Args:
        executor: Where the model runs.
        source: The module.
        episodes: The fitting part.
        spaces: Of observations and actions.
        seed: Of the search.

    Returns:
        Name to value within its range; None where the model declares nothing to fit, or does not run.
    """
    ranges = {name: r for name, r in Program.parse(source).params.items() if r[2] > r[1]}
    chosen = some_of(episodes, MOST_STEPS)
    if not 0 < len(ranges) <= MOST_PARAMS or not chosen or quantities(spaces[0]) is None:
        return None
    errors = _Errors(executor, source, chosen, spaces, ranges)
    values = np.clip(errors.start, errors.low, errors.high)
    found = await _Slopes(errors).run(values)
    if found is None:
        return None
    values, left = found
    if left > EXPLAINED:
        values = await _far_off(errors, values, left, seed)
    return {name: float(value) for name, value in zip(ranges, values, strict=True)}


class _Errors:
    """How far off a model's predictions are for some values of its numbers.

    Args:
        executor: Where the model runs.
        source: The module.
        episodes: What is predicted.
        spaces: Of observations and actions.
        ranges: Name to (value, low, high) of the numbers.
    """

    def __init__(
        self,
        executor: Executor,
        source: str,
        episodes: Sequence[Recorded],
        spaces: tuple[gymnasium.Space[Any], gymnasium.Space[Any]],
        ranges: Mapping[str, tuple[float, float, float]],
    ) -> None:
        self._executor, self._source, self._episodes, self._spaces = executor, source, episodes, spaces
        self._names = list(ranges)
        self._fixed = Program.parse(source).values or {}
        self.start = np.array([ranges[name][0] for name in self._names])
        self.low = np.array([ranges[name][1] for name in self._names])
        self.high = np.array([ranges[name][2] for name in self._names])
        self._steps = steps = Transitions.of(episodes, spaces[0])
        self._sizes = [self._plain(ahead) for ahead in AHEAD]
        self._spread = max(float(np.std(steps.rewards)), 1e-9)
        self.predicted = 0

    @property
    def span(self) -> Floats:
        """Widths of the ranges."""
        width: Floats = self.high - self.low
        return width

    @property
    def spent(self) -> bool:
        """Whether as many steps were predicted as may be."""
        return self.predicted >= MOST_PREDICTED

    def _plain(self, ahead: int) -> Floats:
        """What saying that nothing changes is wrong by, for each number."""
        first = np.arange(len(self._steps.at)) - self._steps.at % ahead
        size: Floats = np.sqrt(np.mean((self._steps.after - self._steps.before[first]) ** 2, axis=0))
        return np.where(size > TINY, size, 1.0)

    async def __call__(self, values: Floats) -> Floats | None:
        """All errors in units of what saying that nothing changes leaves; None where the model fails."""
        params = {**self._fixed, **dict(zip(self._names, values.tolist(), strict=True))}
        errors = []
        for ahead, size in zip(AHEAD, self._sizes, strict=True):
            self.predicted += len(self._steps.at)
            found = await replayed(
                self._executor, self._source, params, self._episodes, self._spaces, every=ahead
            )
            if found.failure is not None:
                return None
            off = (rows(self._spaces[0], found.observations) - self._steps.after) / size
            earned = (found.rewards - self._steps.rewards) / self._spread
            errors += [off.ravel(), earned]
        together: Floats = np.clip(np.concatenate(errors), -FAR, FAR)
        return together


class _Slopes:
    """Least squares by Levenberg and Marquardt's method, with slopes from small shifts."""

    def __init__(self, errors: _Errors) -> None:
        self._errors = errors

    async def run(self, values: Floats) -> tuple[Floats, float] | None:
        """The fitted values and the mean squared error that is left; None where the model fails."""
        errors = await self._errors(values)
        if errors is None:
            return None
        damping, loss = 1e-3, float(errors @ errors)
        for _ in range(ITERATIONS):
            slopes = None if self._errors.spent else await self._slopes(values, errors)
            if slopes is None:
                break
            better = await self._step(values, errors, slopes, damping, loss)
            if better is None:
                break
            values, errors, damping = better
            before, loss = loss, float(errors @ errors)
            if before - loss < ENOUGH * before:
                break
        return values, loss / len(errors)

    async def _step(
        self, values: Floats, errors: Floats, slopes: Floats, damping: float, loss: float
    ) -> tuple[Floats, Floats, float] | None:
        """Better values, their errors and the next damping; None where none are found near by."""
        curve, slope = slopes.T @ slopes, slopes.T @ errors
        for _ in range(6):
            moved = np.linalg.solve(curve + damping * np.diag(np.maximum(np.diag(curve), 1e-12)), -slope)
            tried = np.clip(values + moved * self._errors.span, self._errors.low, self._errors.high)
            found = await self._errors(tried)
            if found is not None and float(found @ found) < loss:
                return tried, found, damping / 5
            damping *= 10
        return None

    async def _slopes(self, values: Floats, errors: Floats) -> Floats | None:
        """How each error changes with each number, in units of the number's range."""
        span = self._errors.span
        shifts = np.where(values + SHIFT * span > self._errors.high, -SHIFT, SHIFT)
        moved = [
            values + shift * span * (np.arange(len(values)) == place) for place, shift in enumerate(shifts)
        ]
        found = await asyncio.gather(*(self._errors(one) for one in moved))
        if any(one is None for one in found):
            return None
        return np.stack(
            [(one - errors) / shift for one, shift in zip(found, shifts, strict=True) if one is not None],
            axis=1,
        )


async def _far_off(errors: _Errors, values: Floats, left: float, seed: int) -> Floats:
    """The best values that CMA-ES finds in the whole of their ranges, or those that there are.

    Args:
        errors: What is to be small.
        values: Where to begin.
        left: The mean squared error there.
        seed: Of the search.
    """
    begin = (values - errors.low) / errors.span
    search = evolution_strategy(begin, WIDTH, np.random.default_rng(seed), maxiter=GENERATIONS)
    best, least = values, left
    while least > EXPLAINED and not search.stop() and not errors.spent:
        places = search.ask()
        tried = [errors.low + np.asarray(place)[: len(values)] * errors.span for place in places]
        found = await asyncio.gather(*(errors(one) for one in tried))
        losses = [FAR**2 if one is None else float(one @ one) / len(one) for one in found]
        search.tell(places, losses)
        if min(losses) < least:
            least = min(losses)
            best = tried[losses.index(least)]
    again = await _Slopes(errors).run(best)
    return best if again is None else again[0]
