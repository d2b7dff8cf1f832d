"""Numbers for a world model: least squares on predictions of several steps."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.program import Program
from promptpo.world.data import some_of
from promptpo.world.numbers import quantities, rows
from promptpo.world.replaying import replayed

if TYPE_CHECKING:
    import gymnasium

    from promptpo.rollouts import Executor
    from sandbox import Recorded

Floats = np.ndarray[Any, np.dtype[np.float64]]

AHEAD = 5
"""Steps that the model predicts from its own predictions while its numbers are fitted."""

MOST_STEPS = 1500
MOST_PARAMS = 30
ITERATIONS, SHIFT = 12, 1e-3
FAR = 10.0
"""An error is counted as so many times the usual change at most."""

ENOUGH = 1e-4
"""An iteration that lowers the error by less than this share is the last."""


async def fitted(
    executor: Executor,
    source: str,
    episodes: Sequence[Recorded],
    spaces: tuple[gymnasium.Space[Any], gymnasium.Space[Any]],
) -> dict[str, float] | None:
    """Values for the model's ``PARAMS`` that predict the episodes best, found by Levenberg and Marquardt's method.

    Args:
        executor: Where the model runs.
        source: The module.
        episodes: The fitting part.
        spaces: Of observations and actions.

    Returns:
        Name to value within its range; None where the model declares nothing to fit, or does not run.
    """
    ranges = {name: r for name, r in Program.parse(source).params.items() if r[2] > r[1]}
    chosen = some_of(episodes, MOST_STEPS)
    if not 0 < len(ranges) <= MOST_PARAMS or not chosen or quantities(spaces[0]) is None:
        return None
    fit = _Fit(executor, source, chosen, spaces, ranges)
    return await fit.run()


class _Fit:
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
        self._start = np.array([ranges[name][0] for name in self._names])
        self._low = np.array([ranges[name][1] for name in self._names])
        self._high = np.array([ranges[name][2] for name in self._names])
        seen = [rows(spaces[0], one.observations) for one in episodes]
        self._truth = np.concatenate([one[1:] for one in seen])
        change = np.std(self._truth - np.concatenate([one[:-1] for one in seen]), axis=0)
        self._size = np.where(change > 0, change, 1.0)
        self._rewards = np.concatenate([one.rewards for one in episodes])
        self._spread = max(float(np.std(self._rewards)), 1e-9)

    async def _errors(self, values: Floats) -> Floats | None:
        """All prediction errors in units of what usually changes; None where the model fails."""
        params = {**self._fixed, **dict(zip(self._names, values.tolist(), strict=True))}
        found = await replayed(
            self._executor, self._source, params, self._episodes, self._spaces, every=AHEAD
        )
        if found.failure is not None:
            return None
        off = (rows(self._spaces[0], found.observations) - self._truth) / self._size
        earned = (found.rewards - self._rewards) / self._spread
        errors: Floats = np.clip(np.concatenate([off.ravel(), earned]), -FAR, FAR)
        return errors

    async def run(self) -> dict[str, float] | None:
        """The fitted values."""
        values = np.clip(self._start, self._low, self._high)
        errors = await self._errors(values)
        if errors is None:
            return None
        damping, loss = 1e-3, float(errors @ errors)
        for _ in range(ITERATIONS):
            slopes = await self._slopes(values, errors)
            if slopes is None:
                break
            better = await self._step(values, errors, slopes, damping, loss)
            if better is None:
                break
            values, errors, damping = better
            before, loss = loss, float(errors @ errors)
            if before - loss < ENOUGH * before:
                break
        return {name: float(value) for name, value in zip(self._names, values, strict=True)}

    async def _step(
        self, values: Floats, errors: Floats, slopes: Floats, damping: float, loss: float
    ) -> tuple[Floats, Floats, float] | None:
        """Better values, their errors and the next damping; None where none are found near by."""
        curve, slope = slopes.T @ slopes, slopes.T @ errors
        span = self._high - self._low
        for _ in range(6):
            moved = np.linalg.solve(curve + damping * np.diag(np.maximum(np.diag(curve), 1e-12)), -slope)
            tried = np.clip(values + moved * span, self._low, self._high)
            found = await self._errors(tried)
            if found is not None and float(found @ found) < loss:
                return tried, found, damping / 5
            damping *= 10
        return None

    async def _slopes(self, values: Floats, errors: Floats) -> Floats | None:
        """How each error changes with each number, in units of the number's range."""
        shifts = np.where(values + SHIFT * (self._high - self._low) > self._high, -SHIFT, SHIFT)
        moved = [
            values + shift * (self._high - self._low) * (np.arange(len(values)) == place)
            for place, shift in enumerate(shifts)
        ]
        found = await asyncio.gather(*(self._errors(one) for one in moved))
        if any(one is None for one in found):
            return None
        return np.stack(
            [(one - errors) / shift for one, shift in zip(found, shifts, strict=True) if one is not None],
            axis=1,
        )
