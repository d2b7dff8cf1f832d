"""Search along random directions, for more numbers than a covariance matrix can be learned for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo.features.tuning.space import Vector

MIN_GENERATION = 16
"""Minimum number of vectors in a generation: eight directions."""
SIGMA = 0.01
"""Distance of a vector from the mean in each number, as a share of its range."""
STEP = 2 / 3
"""Step of the mean in units of `SIGMA`, per standard deviation of returns between the ends of one direction."""


@dataclass(frozen=True, slots=True)
class Favorite:
    """The favourite vector, under the name that `cma` uses in its results."""

    xfavorite: Vector


class MirroredDirections:
    """Tries each direction both ways and moves the mean along those whose better end was among the best.

    This is augmented random search (Mania, Guy and Recht, "Simple random search of static linear policies is competitive for
    reinforcement learning", 2018) with ranks instead of returns. It implements the part of the interface of
    ``cma.CMAEvolutionStrategy`` that tuning uses.

    Args:
        mean: Initial mean, in the unit cube.
        width: Length of the directions, in units of `SIGMA`.
        population: Number of vectors in a generation; an odd number is rounded up.
        rng: Source of the directions.

    Attributes:
        popsize: Number of vectors in a generation.
        stds: Distance of the vectors from the mean, per number.
        result: Its `xfavorite` is the mean.
    """

    def __init__(self, mean: Vector, width: float, population: int, rng: np.random.Generator) -> None:
        self._mean, self._sigma, self._rng = np.asarray(mean, float), SIGMA * width, rng
        self._directions = np.zeros((0, len(self._mean)))
        self.popsize = max(MIN_GENERATION, population + population % 2)
        self.stds = np.full(len(self._mean), self._sigma)

    @property
    def result(self) -> Favorite:
        """The result, as in ``cma``."""
        return Favorite(self._mean)

    def ask(self) -> list[Vector]:
        """Return the next generation: pairs of opposite vectors."""
        self._directions = self._rng.standard_normal((self.popsize // 2, len(self._mean)))
        ends = [self._mean + sign * self._sigma * d for d in self._directions for sign in (1, -1)]
        return [np.clip(end, 0.0, 1.0) for end in ends]

    def tell(self, vectors: Sequence[Vector], costs: Sequence[float]) -> None:
        """Move along the better half of the directions.

        Args:
            vectors: The generation, as returned by `ask`.
            costs: Cost of each vector; only differences count.
        """
        spread = float(np.std(costs))
        if spread == 0.0:
            return
        worth = -np.asarray(costs, float) / spread
        there, back = worth[0::2], worth[1::2]
        best = np.argsort(-np.maximum(there, back), kind="stable")[: max(2, len(vectors) // 4)]
        way = ((there - back)[best, None] * self._directions[best]).mean(0)
        self._mean = np.clip(self._mean + STEP * self._sigma * way, 0.0, 1.0)
