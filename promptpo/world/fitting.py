"""Numbers for a world model: CMA-ES on the errors of predictions of several steps."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.cma_es import evolution_strategy
from promptpo.program import Program
from promptpo.world.data import some_of
from promptpo.world.mismatches import TINY, Transitions
from promptpo.world.numbers import quantities, rows
from promptpo_sandbox import Replay

if TYPE_CHECKING:
    import gymnasium

    from promptpo.rollouts import Executor
    from promptpo_sandbox import Recorded

Floats = np.ndarray[Any, np.dtype[np.float64]]

AHEAD = (5, 25)
"""Steps that the model predicts from its own predictions while its numbers are fitted."""

MOST_STEPS, MOST_PREDICTED = 1500, 1_500_000
"""Recorded steps that numbers are fitted to, and steps that the model predicts in all meanwhile, which bounds the time."""

MOST_PARAMS = 30
FAR = 3.0
"""An error is counted as so many times that of saying that nothing changes at most: what has gone astray is astray."""

WIDTH = 0.25
"""First width of the search, as a share of the numbers' ranges."""

EXACT = 1e-10


async def fitted(
    executor: Executor,
    source: str,
    episodes: Sequence[Recorded],
    spaces: tuple[gymnasium.Space[Any], gymnasium.Space[Any]],
) -> dict[str, float] | None:
    """Values for the model's ``PARAMS`` that predict the episodes best, 5 and 25 steps ahead.

    Args:
        executor: Where the model runs.
        source: The module.
        episodes: The fitting part.
        spaces: Of observations and actions.

    Returns:
        Name to value within its range; None where the model declares nothing to fit, or does not run.
    """
    program = Program.parse(source)
    ranges = {name: r for name, r in program.params.items() if r[2] > r[1]}
    chosen = some_of(episodes, MOST_STEPS)
    if not 0 < len(ranges) <= MOST_PARAMS or not chosen or quantities(spaces[0]) is None:
        return None
    value, low, high = np.array(list(ranges.values())).T
    steps = Transitions.of(chosen, spaces[0])
    sizes = {ahead: _plain(steps, ahead) for ahead in AHEAD}
    spread = max(float(np.std(steps.rewards)), 1e-9)

    def named(place: Any) -> dict[str, float]:
        numbers = low + np.clip(np.asarray(place)[: len(low)], 0.0, 1.0) * (high - low)
        return {name: float(number) for name, number in zip(ranges, numbers, strict=True)}

    async def loss(params: dict[str, float]) -> float:
        """The mean squared error in units of what saying that nothing changes leaves."""
        found = []
        for ahead, size in sizes.items():
            values = {**(program.values or {}), **params}
            said = await executor.replay(Replay(source, values, chosen, ahead, 0, *spaces))
            if said.failure is not None:
                return FAR**2
            off = (rows(said.observations) - steps.after) / size
            found += [np.ravel(off), (said.rewards - steps.rewards) / spread]
        errors = np.clip(np.nan_to_num(np.concatenate(found), nan=FAR, posinf=FAR, neginf=-FAR), -FAR, FAR)
        return float(np.mean(errors**2))

    begin = (np.clip(value, low, high) - low) / (high - low)
    best, least = named(begin), await loss(named(begin))
    if least >= FAR**2:
        return None
    search = evolution_strategy(begin, WIDTH, np.random.default_rng(0))
    predicted = 0
    while least > EXACT and not search.stop() and predicted < MOST_PREDICTED:
        places = search.ask()
        losses = await asyncio.gather(*(loss(named(place)) for place in places))
        search.tell(places, losses)
        predicted += len(AHEAD) * len(places) * len(steps.at)
        if min(losses) < least:
            least, best = min(losses), named(places[losses.index(min(losses))])
    return best


def _plain(steps: Transitions, ahead: int) -> Floats:
    """What saying that nothing changes is wrong by, for each number."""
    first = np.arange(len(steps.at)) - steps.at % ahead
    size: Floats = np.sqrt(np.mean((steps.after - steps.before[first]) ** 2, axis=0))
    return np.where(size > TINY, size, 1.0)
