"""What a tuning draws its vectors from: CMA-ES, or random directions where there are many numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.cma_es import evolution_strategy
from promptpo.search.tuning.directions import MirroredDirections

if TYPE_CHECKING:
    from promptpo.search.tuning.space import Vector

WIDE_STEP, NARROW_STEP, STEP_LENGTH = 0.25, 0.12, 0.75
"""The first step size, as a share of each parameter's range, lies between two bounds. Between them the step
has the same length whatever the number of parameters: with many of them, wide steps leave nothing of what
the structure does at its own numbers, and the budget does not last until they have become narrower."""

LEAST_STEP = 0.03
"""A search that goes on where an earlier one stood begins no narrower than this; one that was narrower had converged."""

MANY = 100
"""With more parameters no covariance matrix can be learnt in our budgets: these are searched along random directions."""


def first_step(numbers: int) -> float:
    """How wide a search of so many numbers begins, as a share of their ranges."""
    return float(np.clip(STEP_LENGTH / math.sqrt(numbers), NARROW_STEP, WIDE_STEP))


def distribution(
    mean: Vector,
    rng: np.random.Generator,
    population: int | None = None,
    width: float | None = None,
    spread: Sequence[float] = (),
) -> Any:
    """A fresh distribution around a point of the unit cube, with `ask`, `tell`, `popsize`, `stds` and `result` as cma has them.

    Args:
        mean: Its middle.
        rng: Its only source of chance.
        population: Vectors in a generation; by default as many as cma takes.
        width: Its step; by default `first_step`.
        spread: How wide an earlier search was in each number when it ended, if there was one.
    """
    first = first_step(len(mean))
    if len(mean) > MANY:
        usual = 4 + int(3 * math.log(len(mean)))  # as cma has it
        return MirroredDirections(mean, (width or first) / first, population or usual, rng)
    options: dict[str, Any] = {} if population is None else {"popsize": population}
    known = len(spread) == max(2, len(mean))  # a single number has another beside it
    if known and max(spread) < LEAST_STEP:  # it had converged: as after a stall
        width = first / 2
    elif known:
        widths = np.clip(spread, LEAST_STEP, first)
        width = float(widths.max())
        options["CMA_stds"] = widths / width
    return evolution_strategy(mean, width or first, rng, **options)
