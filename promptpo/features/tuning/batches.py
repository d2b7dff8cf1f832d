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
    """One program and its episodes; a failed episode does not stop the others.

    Attributes:
        program: The policy.
        trials: Seeds, parameter values and horizons.
        record: Whether to return trajectories.
    """

    program: Program
    trials: tuple[Trial, ...]
    record: bool = False

    @property
    def source(self) -> str:
        """Text of the policy module."""
        return self.program.source

    def split(self, most: int) -> Iterator[Batch]:
        """Yield the batch in parts of at most that many trials."""
        for i in range(0, len(self.trials), most):
            yield replace(self, trials=self.trials[i : i + most])


@dataclass(frozen=True, slots=True)
class Finalist:
    """A program and parameter values that may become a candidate's result."""

    program: Program
    params: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Start:
    """A candidate to tune.

    Attributes:
        id: The candidate's id.
        program: Its policy, with ``PARAMS`` or ``TABLE``.
        arbitrary: Whether its numbers are arbitrary, so that the best mean may replace them even if the gain is not proven.
    """

    id: str
    program: Program
    arbitrary: bool = False

    @property
    def original(self) -> Finalist:
        """The program with its own numbers."""
        return Finalist(self.program, self.program.values or {})


SeedSource: TypeAlias = Callable[[int, int], tuple[int, ...]]
"""Function of (start, n) that returns n training seeds, from the start-th on."""

Episodes: TypeAlias = "Sequence[Episode | None]"
"""One entry per trial; None for a trial without an episode, as when the source was rejected."""

Score: TypeAlias = tuple[float, float]
"""Success rate, then mean return, in order of importance."""

WORST: Score = (-math.inf, -math.inf)


def is_failed(episode: Episode | None) -> bool:
    """Whether an episode is missing, failed or has no finite return."""
    return episode is None or episode.failure is not None or not math.isfinite(episode.return_)


def score(episodes: Episodes) -> Score:
    """Return the score of episodes with the same numbers; the worst score if one failed."""
    ran = [episode for episode in episodes if episode is not None and not is_failed(episode)]
    if not ran or len(ran) < len(episodes):
        return WORST
    return (
        statistics.fmean(episode.success is True for episode in ran),
        statistics.fmean(episode.return_ for episode in ran),
    )


@dataclass
class StepBudget:
    """The step budget of a tuning.

    Attributes:
        steps: Total number of steps.
        horizon: Maximum episode length, in steps.
        spent: Steps taken so far.
        longest: Length of the longest episode so far; one that was cut counts as `horizon`.
        kept: Steps kept for later.
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
        """Return the most steps that some episodes are likely to take."""
        length = length or self.horizon
        return episodes * max(1, min(length, 2 * self.longest or length))

    def pay(self, batch: Batch, episodes: Episodes) -> None:
        """Count the steps of a batch."""
        for trial, episode in zip(batch.trials, episodes, strict=True):
            steps = episode.steps if episode is not None else 0
            self.spent += steps
            cut = steps == trial.horizon and not (episode and episode.terminated)
            self.longest = max(self.longest, self.horizon if cut else steps)
