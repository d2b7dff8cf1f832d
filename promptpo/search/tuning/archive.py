"""The best parameter vectors so far, with everything that is known about each of them."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo.search.tuning.space import Vector

SIZE = 6


@dataclass
class Elite:
    """One vector and its returns at the current horizon."""

    vector: Vector
    returns: list[float] = field(default_factory=list)

    @property
    def mean(self) -> float:
        """Mean return; minus infinity where an episode failed or nothing is known."""
        return mean_or_worst(self.returns)


@dataclass
class Archive:
    """A handful of elites. A lucky vector is found out by re-evaluation on fresh seeds.

    The score of an entry is its mean return less one standard error, with the spread pooled over all
    entries: a single lucky episode does not beat a good mean of many.
    """

    entries: list[Elite] = field(default_factory=list)

    def offer(self, vector: Vector, returns: Sequence[float]) -> None:
        """Remember a vector if it may be one of the best."""
        self.entries.append(Elite(vector, list(returns)))
        self.trim()

    def trim(self) -> None:
        """Keep the best few."""
        spread = self.spread()
        self.entries.sort(key=lambda entry: self._score(entry, spread), reverse=True)
        del self.entries[SIZE:]

    def best(self) -> Elite | None:
        """The entry with the best score; None where nothing finite is known."""
        if not self.entries:
            return None
        spread = self.spread()
        best = max(self.entries, key=lambda entry: self._score(entry, spread))
        return best if math.isfinite(best.mean) else None

    def score(self) -> float:
        """The best score; minus infinity where nothing finite is known."""
        best = self.best()
        return -math.inf if best is None else self._score(best, self.spread())

    def spread(self) -> float:
        """Standard deviation of the return of one vector over seeds, pooled."""
        variances = [
            statistics.variance(entry.returns)
            for entry in self.entries
            if len(entry.returns) > 1 and math.isfinite(entry.mean)
        ]
        return math.sqrt(statistics.fmean(variances)) if variances else 0.0

    def forget_returns(self) -> list[Elite]:
        """Start afresh at another horizon, where old returns do not compare; keeps the vectors' order."""
        entries = self.entries
        self.entries = []
        return entries

    def _score(self, entry: Elite, spread: float) -> float:
        return entry.mean - spread / math.sqrt(len(entry.returns)) if entry.returns else -math.inf


def mean_or_worst(returns: Sequence[float]) -> float:
    """Mean; minus infinity for no returns or any that is not finite."""
    if not returns or not all(map(math.isfinite, returns)):
        return -math.inf
    return statistics.fmean(returns)
