"""All that is known of a candidate's returns, and paired differences over episodes that two policies share."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from promptpo.core.returns import Estimate, mean_of
from promptpo.rollouts.evaluation import EpisodeRecord, Episodes

SOLVED_EPISODES = 15
"""Episodes after which a mean clearly above a threshold is believed: a policy that falls on one start of ten falls on one of
them four times in five."""

FAR_SHARE = 0.3
"""A return is far below the median where it lies below it by more than this share of the median's size, and by
more than three times the distance from the median to the best."""


@dataclass(frozen=True)
class Evidence(Episodes):
    """The episodes that a candidate is judged by: those of training and of validation, never of the test.

    Attributes:
        episodes: One for each seed, in the order of their seeds.
        estimate: Of its mean return, by the model of all returns of the run; None where it is judged alone.
    """

    episodes: tuple[EpisodeRecord, ...] = ()
    estimate: Estimate | None = None

    @classmethod
    def of(cls, *parts: Iterable[EpisodeRecord]) -> Evidence:
        """The episodes of several evaluations, each seed once: an episode repeats by its seed."""
        by_seed = {episode.seed: episode for part in parts for episode in part}
        return cls(tuple(by_seed[seed] for seed in sorted(by_seed)))

    @property
    def mean_return(self) -> float:
        """Mean return as estimated; NaN where nothing finished."""
        return self._known.mean

    @property
    def standard_error(self) -> float:
        """Of `mean_return`; NaN where nothing tells it."""
        error = self._known.standard_error
        return error if math.isfinite(error) else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of `mean_return`; infinite or NaN where nothing tells it."""
        known = self._known
        return known.mean - known.margin, known.mean + known.margin

    def holds(self, threshold: float) -> bool:
        """Whether the mean is clearly above a threshold, over enough episodes."""
        known = self._known
        return len(self.episodes) >= SOLVED_EPISODES and known.mean - known.margin >= threshold

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

    @property
    def _known(self) -> Estimate:
        return self.estimate or mean_of(self.returns)


def far_below(values: Sequence[float]) -> list[int]:
    """Indices of the returns far below the median, lowest first; none where the low tail is no group apart."""
    if len(values) < 3:  # noqa: PLR2004 - no median to speak of
        return []
    middle, highest = statistics.median(values), max(values)
    far = max(FAR_SHARE * abs(middle), 3 * (highest - middle))
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
        error = mean_of(self.returns).standard_error
        return error if math.isfinite(error) else math.nan

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
        return mean_of(self.successes).verdict or mean_of(self.returns).verdict
