"""Inputs, requests and results of tuning."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from promptpo.program import Program

if TYPE_CHECKING:
    from promptpo_sandbox import Episode, Trial


@dataclass(frozen=True, slots=True)
class Batch:
    """One program and the episodes to roll it out for; a failed episode never stops the others.

    Attributes:
        program: The policy.
        trials: Seeds, parameter values and horizons.
        record: Whether trajectories must come back.
    """

    program: Program
    trials: tuple[Trial, ...]
    record: bool = False

    @property
    def source(self) -> str:
        """The policy module's text."""
        return self.program.source

    def split(self, most: int) -> Iterator[Batch]:
        """The same in batches of at most so many trials."""
        for i in range(0, len(self.trials), most):
            yield replace(self, trials=self.trials[i : i + most])


@dataclass(frozen=True, slots=True)
class Start:
    """A candidate to tune.

    Attributes:
        id: The candidate's id.
        program: Its policy, with ``PARAMS`` or ``TABLE``.
        arbitrary: Whether nobody chose its numbers, so that the best mean may replace them, proven or not.
    """

    id: str
    program: Program
    arbitrary: bool = False


@dataclass(frozen=True, slots=True)
class Finalist:
    """A program and parameter values that may become a structure's result."""

    program: Program
    params: Mapping[str, float]


SeedSource: TypeAlias = Callable[[int, int], tuple[int, ...]]
"""(start, n) to n training seeds, from the start-th on."""

Episodes: TypeAlias = "Sequence[Episode | None]"
"""One entry per trial; None where a trial gave no episode, as when the source was rejected."""

Score: TypeAlias = tuple[float, float]
"""Success rate, then mean return: what a run reports first counts first."""

WORST: Score = (-math.inf, -math.inf)


def is_failed(episode: Episode | None) -> bool:
    """Whether an episode is missing, failed or has no finite return."""
    return episode is None or episode.failure is not None or not math.isfinite(episode.return_)


def score(episodes: Episodes) -> Score:
    """Of some episodes with the same numbers; the worst where one failed."""
    ran = [episode for episode in episodes if episode is not None and not is_failed(episode)]
    if not ran or len(ran) < len(episodes):
        return WORST
    return (
        statistics.fmean(episode.success is True for episode in ran),
        statistics.fmean(episode.return_ for episode in ran),
    )


@dataclass
class Purse:
    """The steps of a tuning.

    Attributes:
        steps: That it may take in all.
        horizon: Longest episode, in steps.
        spent: Taken so far.
        longest: The longest episode so far; one that was cut may last as long as any.
        kept: Steps that are kept for later.
    """

    steps: int
    horizon: int
    spent: int = 0
    longest: int = 0
    kept: int = 0

    @property
    def left(self) -> int:
        """Steps that are left."""
        return max(0, self.steps - self.kept - self.spent)

    def cost(self, episodes: int, length: int | None = None) -> int:
        """The most that some episodes are likely to take."""
        length = length or self.horizon
        return episodes * max(1, min(length, 2 * self.longest or length))

    def pay(self, batch: Batch, episodes: Episodes) -> None:
        """Count what was rolled out."""
        for trial, episode in zip(batch.trials, episodes, strict=True):
            steps = episode.steps if episode is not None else 0
            self.spent += steps
            cut = steps == trial.horizon and not (episode and episode.terminated)
            self.longest = max(self.longest, self.horizon if cut else steps)
