"""Search along random directions, for more numbers than a covariance matrix can be learnt for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo.features.tuning.space import Vector

MIN_GENERATION = 16
"""Vectors in a generation: eight directions."""
SIGMA = 0.01
"""How far a vector lies from the middle in each number, as a share of its range."""
STEP = 2 / 3
"""Of that, what the middle moves by where one direction is as much better than its opposite as returns spread."""


@dataclass(frozen=True, slots=True)
class Favorite:
    """The favorite vector, under the name that `cma` gives a result."""

    xfavorite: Vector


class MirroredDirections:
    """Each direction is tried both ways, and the middle moves along those whose better end was among the best.

    Augmented random search (Mania, Guy and Recht, "Simple random search of static linear policies is competitive for
    reinforcement learning", 2018), with ranks in the place of returns. It has the part of the interface of
    ``cma.CMAEvolutionStrategy`` that tuning uses.

    Args:
        mean: Where it begins, in the unit cube.
        width: Of the directions, in units of `SIGMA`.
        population: Vectors in a generation; an odd number becomes the next even one.
        rng: Of the directions.

    Attributes:
        popsize: Vectors in a generation.
        stds: How far they lie from the middle, per number.
        result: Its `xfavorite` is the middle.
    """

    def __init__(self, mean: Vector, width: float, population: int, rng: np.random.Generator) -> None:
        self._mean, self._sigma, self._rng = np.asarray(mean, float), SIGMA * width, rng
        self._directions = np.zeros((0, len(self._mean)))
        self.popsize = max(MIN_GENERATION, population + population % 2)
        self.stds = np.full(len(self._mean), self._sigma)

    @property
    def result(self) -> Favorite:
        """As ``cma`` has it."""
        return Favorite(self._mean)

    def ask(self) -> list[Vector]:
        """The next generation: pairs of opposites."""
        self._directions = self._rng.standard_normal((self.popsize // 2, len(self._mean)))
        ends = [self._mean + sign * self._sigma * d for d in self._directions for sign in (1, -1)]
        return [np.clip(end, 0.0, 1.0) for end in ends]

    def tell(self, vectors: Sequence[Vector], costs: Sequence[float]) -> None:
        """Move along the better half of the directions.

        Args:
            vectors: The generation, as `ask` gave it.
            costs: What each costs; only differences count.
        """
        spread = float(np.std(costs))
        if spread == 0.0:
            return
        worth = -np.asarray(costs, float) / spread
        there, back = worth[0::2], worth[1::2]
        best = np.argsort(-np.maximum(there, back), kind="stable")[: max(2, len(vectors) // 4)]
        way = ((there - back)[best, None] * self._directions[best]).mean(0)
        self._mean = np.clip(self._mean + STEP * self._sigma * way, 0.0, 1.0)
