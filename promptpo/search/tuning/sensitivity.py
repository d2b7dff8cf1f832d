"""Which parameters moved the return: a small regression on what tuning has tried anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from promptpo.search.tuning.space import Vector

CLEAR = 3.0
"""Standard errors by which a coefficient must differ from nothing; some of many always reach two."""

FEWEST = 3
"""Vectors for each coefficient, at least; with fewer of them nothing is said."""

RIDGE = 1.0
KEPT = 2000
"""The latest vectors are enough, and the early ones the least like the result."""


class Trials:
    """Vectors and how they ranked among those of their generation.

    Only ranks inside a generation are used: its vectors share seeds and horizon, so that neither noise
    between seeds nor a change of the episode length is taken for an effect, and a fall counts no more
    than being last.

    Args:
        size: Numbers of a vector.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._places: list[NDArray[np.float64]] = []
        self._scores: list[float] = []

    def add(self, vectors: Sequence[Vector], means: Sequence[float]) -> None:
        """Take in one generation."""
        if len(vectors) < 2 or min(means) == max(means):  # noqa: PLR2004 - nothing to compare
            return
        points = np.asarray(vectors)[:, : self._size]
        spread = points.std(axis=0)
        values = np.asarray(means)
        ranks = ((values[:, None] > values) + 0.5 * (values[:, None] == values)).sum(axis=1)
        scores = (ranks - ranks.mean()) / ranks.std()
        self._places += list((points - points.mean(axis=0)) / np.where(spread > 0, spread, 1.0))
        self._scores += scores.tolist()
        del self._places[:-KEPT], self._scores[:-KEPT]

    def shares(self) -> list[float]:
        """Share of the variation in rank that each number explains; nothing where too little was tried.

        A parameter may pull one way, or be best in the middle of where it was tried: its value and its
        square go into a ridge regression, the values alone where vectors are few. What noise could have
        given counts as 0.
        """
        n = len(self._scores)
        if n < FEWEST * self._size + 2:
            return []
        places, scores = np.asarray(self._places), np.asarray(self._scores)
        squares = places**2 - (places**2).mean(axis=0)
        curved = n >= 2 * FEWEST * self._size + 2
        features = np.hstack([places, squares]) if curved else places
        inverse = np.linalg.inv(features.T @ features + RIDGE * np.eye(features.shape[1]))
        weights = inverse @ (features.T @ scores)
        left = scores - features @ weights
        noise = float(left @ left) / max(1, n - features.shape[1] - 1)
        errors = np.sqrt(np.maximum(noise, 1e-12) * np.diag(inverse))
        explained = weights**2 * features.var(axis=0) * (np.abs(weights) > CLEAR * errors)
        share = explained.reshape(-1, self._size).sum(axis=0)
        return np.minimum(1.0, share / max(1.0, float(share.sum()))).tolist()  # type: ignore[no-any-return]
