"""All that is known of a candidate's returns, and how two candidates differ over the episodes they share."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from promptpo.rollouts.evaluation import EpisodeRecord, Episodes

CLEAR = 2.0
"""Standard errors by which two candidates must differ before one of them is called better."""

ENOUGH = 15
"""Episodes after which a mean that lies so many standard errors above a threshold is believed: a policy that falls on one
start of ten falls on one of them four times in five."""

FAR = 0.3
"""A return is far below the median where it lies below it by more than this share of the median's size, and by
more than three times the distance from the median to the best."""

SMALL = 0.005
"""A difference below this share of the returns' size is not worth a step: the order may stay open."""


@dataclass(frozen=True)
class Evidence(Episodes):
    """The episodes that a candidate is judged by: those of training and of validation, never of the test.

    Attributes:
        episodes: One for each seed, in the order of their seeds.
    """

    episodes: tuple[EpisodeRecord, ...] = ()

    @classmethod
    def of(cls, *parts: Iterable[EpisodeRecord]) -> Evidence:
        """The episodes of several evaluations, each seed once: an episode repeats by its seed."""
        by_seed = {episode.seed: episode for part in parts for episode in part}
        return cls(tuple(by_seed[seed] for seed in sorted(by_seed)))

    @property
    def standard_error(self) -> float:
        """Of the mean return; NaN for fewer than two episodes."""
        return _standard_error(self.returns)

    def holds(self, threshold: float) -> bool:
        """Whether the mean is above a threshold beyond noise, over enough episodes."""
        margin = CLEAR * self.standard_error
        return len(self.episodes) >= ENOUGH and self.mean_return - margin >= threshold

    def lead(self, other: Evidence) -> float:
        """More than 0 where this is put before another, less where after it.

        The same starts decide where both have played them; where noise could explain the difference, its mean
        does, or that of all episodes where they share none.
        """
        difference = self.against(other)
        if difference.verdict:
            return difference.verdict
        return difference.mean if difference.returns else self.mean_return - other.mean_return

    def against(self, other: Evidence) -> Difference:
        """How this differs from another over the episodes that both have played."""
        theirs = {episode.seed: episode for episode in other.episodes}
        shared = [(mine, theirs[mine.seed]) for mine in self.episodes if mine.seed in theirs]
        returns = tuple(mine.return_ - their.return_ for mine, their in shared)
        successes = tuple(
            float(mine.success) - float(their.success)
            for mine, their in shared
            if mine.success is not None and their.success is not None
        )
        return Difference(returns, successes)


def far_below(values: Sequence[float]) -> list[int]:
    """Indices of the returns far below the median, lowest first; none where the low tail is no group apart."""
    if len(values) < 3:  # noqa: PLR2004 - no median to speak of
        return []
    middle, highest = statistics.median(values), max(values)
    far = max(FAR * abs(middle), 3 * (highest - middle))
    low = [i for i, value in enumerate(values) if middle - value > far > 0]
    return sorted(low, key=lambda i: values[i])


@dataclass(frozen=True)
class Difference:
    """Paired differences: the same seed is the same start, so most of the noise cancels.

    Attributes:
        returns: Of the returns, one for each shared episode.
        successes: Of the successes (1 or 0), where the environment reports success.
    """

    returns: tuple[float, ...]
    successes: tuple[float, ...] = ()

    @property
    def mean(self) -> float:
        """Mean difference of the returns; NaN without shared episodes."""
        return statistics.fmean(self.returns) if self.returns else math.nan

    @property
    def standard_error(self) -> float:
        """Of `mean`; NaN for fewer than two episodes."""
        return _standard_error(self.returns)

    @property
    def tie(self) -> bool:
        """Whether the two cannot be told apart: the same in every shared episode."""
        return bool(self.returns) and not any(self.returns) and not any(self.successes)

    @property
    def verdict(self) -> int:
        """1 for better, -1 for worse, 0 where noise could explain the difference.

        Success comes first where it differs clearly; otherwise the return decides. One episode in ten
        that fails must not outweigh a tenfold return.
        """
        return self.beyond(CLEAR)

    def beyond(self, errors: float) -> int:
        """As `verdict`, by so many standard errors."""
        return _sign(self.successes, errors) or _sign(self.returns, errors)

    def open(self, size: float) -> bool:
        """Whether more shared episodes may show a difference that is worth having.

        Args:
            size: Of the returns, as the largest of their absolute values.
        """
        if not self.returns or self.tie:
            return not self.tie
        if self.verdict:
            return False
        error = self.standard_error
        return math.isnan(error) or abs(self.mean) + CLEAR * error > SMALL * size or any(self.successes)


def _sign(differences: Sequence[float], errors: float) -> int:
    """The sign of the mean where it is more than so many standard errors from 0, else 0."""
    if not any(differences):
        return 0
    mean, error = statistics.fmean(differences), _standard_error(differences)
    if math.isnan(error) or abs(mean) <= errors * error:
        return 0
    return 1 if mean > 0 else -1


def _standard_error(values: Sequence[float]) -> float:
    if len(values) < 2 or not all(map(math.isfinite, values)):  # noqa: PLR2004 - one value has no spread
        return math.nan
    return statistics.stdev(values) / math.sqrt(len(values))


@dataclass(frozen=True, slots=True)
class Change:
    """Another arm than before is in front.

    Attributes:
        old: The one that was; empty where none was.
        new: The one that is.
        difference: New less old, over the starts that both played.
    """

    old: str
    new: str
    difference: Difference

    def __str__(self) -> str:
        if not self.old:
            return f"{self.new} leads"
        one, n = self.difference, len(self.difference.returns)
        error = "" if math.isnan(one.standard_error) else f" ± {one.standard_error:.3g}"
        return f"{self.new} takes the lead from {self.old}: {one.mean:+.4g}{error} on the {n} starts that both played"
