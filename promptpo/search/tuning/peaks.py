"""The whole episodes that tuning has played, by parameter values: the best single one, and what its values gave else."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

MOST = 4000
"""Vectors that are remembered; the peak's is always one of them."""


@dataclass(frozen=True, slots=True)
class Peak:
    """The best single whole episode.

    Attributes:
        return_: Its return; minus infinity where no episode was rolled out.
        values: The parameter values that had it.
        others: Returns of the other whole episodes with the same values.
    """

    return_: float = -math.inf
    values: Mapping[str, float] = field(default_factory=dict)
    others: tuple[float, ...] = ()


class Peaks:
    """Remembers returns of whole episodes."""

    def __init__(self) -> None:
        self._returns: dict[tuple[float, ...], tuple[Mapping[str, float], list[float]]] = {}

    def add(self, values: Mapping[str, float], returns: Sequence[float]) -> None:
        """Whole episodes with some parameter values; those that failed say nothing."""
        finite = [one for one in returns if math.isfinite(one)]
        if not finite:
            return
        self._returns.setdefault(tuple(values.values()), (values, []))[1].extend(finite)
        if len(self._returns) > MOST:
            worst = min(self._returns, key=lambda key: max(self._returns[key][1]))
            del self._returns[worst]

    def steady(self) -> Mapping[str, float] | None:
        """The values whose whole episodes, two at least, have the highest mean less its standard error."""
        several = [(values, returns) for values, returns in self._returns.values() if len(returns) > 1]
        found = max(several, key=lambda one: _surely(one[1]), default=None)
        return found[0] if found is not None else None

    def best(self) -> Peak:
        """The best single episode so far."""
        found = max(self._returns.values(), key=lambda one: max(one[1]), default=None)
        if found is None:
            return Peak()
        values, returns = found
        ordered = sorted(returns, reverse=True)
        return Peak(ordered[0], values, tuple(ordered[1:]))


def _surely(returns: Sequence[float]) -> float:
    return statistics.fmean(returns) - statistics.stdev(returns) / math.sqrt(len(returns))
