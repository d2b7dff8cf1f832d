"""What goes into tuning, what it asks for, and what comes out."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from promptpo.program import Program
from promptpo.run.records import Sensitivity

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
        score: Mean training return with the values it came with; NaN when unknown.
    """

    id: str
    program: Program
    score: float


Outcome = Literal["better", "none", "alike", "given up", "nothing ran"]


@dataclass(frozen=True, slots=True)
class Tuned:
    """What tuning made of a candidate.

    Attributes:
        id: The candidate's id.
        program: The policy with the tuned literal; the original where nothing better was found.
        changes: Parameter name to (value before, value after), where it changed.
        score: Mean return in the whole episodes of the last comparison; of the candidate as it came where nothing better was found.
        steps: Environment steps this candidate took.
        notes: Remarks for the next prompt.
        sensitivity: Parameter name to how much it moved the return; empty where too little was tried.
        evaluations: Episodes that were rolled out for it, whole or short.
        outcome: "better" values were found; "none" were; all scored "alike"; it was "given up" for another; or
            "nothing ran" to its end.
    """

    id: str
    program: Program
    changes: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    score: float = float("nan")
    steps: int = 0
    notes: tuple[str, ...] = ()
    sensitivity: Mapping[str, Sensitivity] = field(default_factory=dict)
    evaluations: int = 0
    outcome: Outcome = "none"


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


def failed(episode: Episode | None) -> bool:
    """Whether an episode is missing, failed or has no finite return."""
    return episode is None or episode.failure is not None or not math.isfinite(episode.return_)


def score(episodes: Episodes) -> Score:
    """Of some episodes with the same numbers; the worst where one failed."""
    ran = [episode for episode in episodes if episode is not None and not failed(episode)]
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
