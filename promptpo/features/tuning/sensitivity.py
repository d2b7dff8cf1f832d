"""Sensitivity of the return to parameters: a small regression on the vectors tried in tuning."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from promptpo.core.candidate import Sensitivity
from promptpo.program.param_arrays import bound_of_block, group_by_array

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from promptpo.features.tuning.space import ParamSpace, Vector
    from promptpo.program import Program

CLEAR_STDERR = 3.0
"""Standard errors by which a coefficient must differ from zero; among many, some always reach two."""

FEWEST = 6
"""Minimum number of vectors per number for an estimate."""


class Trials:
    """Vectors and their ranks within their generations, which share an initial state and a length.

    Args:
        size: Length of a vector.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._places: list[NDArray[np.float64]] = []
        self._ranks: list[float] = []

    def add(self, vectors: Sequence[Vector], costs: Sequence[float]) -> None:
        """Add a generation; one in which all ranks are equal is ignored."""
        if min(costs) == max(costs):
            return
        points, ranks = np.asarray(vectors)[:, : self._size], -np.asarray(costs)
        spread = points.std(axis=0)
        self._places += list((points - points.mean(axis=0)) / np.where(spread > 0, spread, 1.0))
        self._ranks += ((ranks - ranks.mean()) / ranks.std()).tolist()

    def shares(self) -> list[float]:
        """Return the share of the variance in rank that each number explains; empty if too few vectors were tried.

        A number may act linearly or be best in the middle, so it and its square enter one ridge regression. Coefficients within
        noise count as 0.
        """
        n = len(self._ranks)
        if n < FEWEST * self._size + 2:
            return []
        places, ranks = np.asarray(self._places), np.asarray(self._ranks)
        features = np.hstack([places, places**2 - (places**2).mean(axis=0)])
        inverse = np.linalg.inv(features.T @ features + np.eye(features.shape[1]))
        weights = inverse @ (features.T @ ranks)
        noise = float(np.sum((ranks - features @ weights) ** 2)) / (n - features.shape[1])
        clear = np.abs(weights) > CLEAR_STDERR * np.sqrt(max(noise, 1e-12) * np.diag(inverse))
        share = (weights**2 * features.var(axis=0) * clear).reshape(2, self._size).sum(axis=0)
        return (share / max(1.0, float(share.sum()))).tolist()  # type: ignore[no-any-return]


def sensitivities(
    program: Program, space: ParamSpace, shares: Iterable[float], values: Mapping[str, float], episodes: int
) -> dict[str, Sensitivity]:
    """Return how much each parameter, an array as a whole, moved the return.

    Args:
        program: The program that declares the parameters.
        space: The parameters' ranges.
        shares: Share of each number, in the space's order; empty if too few vectors were tried.
        values: The chosen values.
        episodes: Number of episodes behind the shares.
    """
    known = dict(zip(space.names, shares, strict=False))
    bounds = space.bounds_of(values)
    return {
        block: Sensitivity(
            round(min(1.0, sum(known[n] for n in names)), 3),
            bound_of_block([bounds[n] for n in names]),
            episodes,
        )
        for block, names in group_by_array(known, program.arrays).items()
    }
