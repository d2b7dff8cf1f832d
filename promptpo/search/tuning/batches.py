"""What goes into tuning, what it asks for, and what comes out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from promptpo.program import Program
from promptpo.run.records import Sensitivity
from promptpo.search.tuning.peaks import Peak

if TYPE_CHECKING:
    import gymnasium

    from sandbox import Episode, Trial


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
        warm: Parameter values that did well in a relative, under the names that both declare: other
            places to begin at.
        observation_space: What the policy sees, for methods that make out what it shows.
        earlier: Sources of earlier candidates that such a method may build on.
        again: Whether it is the best of earlier rounds, tuned beside new programs.
        spread: How wide an earlier search for these numbers was when it ended, per number; empty without one.
    """

    id: str
    program: Program
    score: float
    warm: tuple[Mapping[str, float], ...] = ()
    observation_space: gymnasium.Space[Any] | None = None
    earlier: tuple[str, ...] = ()
    again: bool = False
    spread: tuple[float, ...] = ()


NO_PEAK: tuple[float, Mapping[str, float]] = (-math.inf, {})
"""Where no episode was rolled out."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """What tuning made of a candidate.

    Attributes:
        id: The candidate's id.
        program: The policy with the tuned literal; the original where nothing better was found.
        changes: Parameter name to (value before, value after), where it changed.
        score: Mean training return on the seeds of the final choice, or of the search where that was not
            reached; of the candidate as it came where nothing was tried or nothing better was found.
        steps: Environment steps this candidate took.
        notes: Remarks for the next prompt.
        sensitivity: Parameter name to how much it moved the return; empty where too little was tried.
        peak: The best single whole episode of tuning.
        evaluations: Episodes that were rolled out for it, whole or short.
        outcome: "better" values were found; "none" were; all scored "alike"; it was "given up" for another; or
            "nothing ran" to its end.
        spread: How wide its search was when it ended, per number as a share of its range; empty where nobody searched.
    """

    id: str
    program: Program
    changes: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    score: float = float("nan")
    steps: int = 0
    notes: tuple[str, ...] = ()
    sensitivity: Mapping[str, Sensitivity] = field(default_factory=dict)
    peak: Peak = field(default_factory=Peak)
    evaluations: int = 0
    outcome: Literal["better", "none", "alike", "given up", "nothing ran"] = "none"
    spread: tuple[float, ...] = ()


SeedSource: TypeAlias = Callable[[int, int], tuple[int, ...]]
"""(start, n) to n training seeds, from the start-th on."""


@dataclass(frozen=True, slots=True)
class Finalist:
    """A program and parameter values that may become a structure's result."""

    program: Program
    params: Mapping[str, float]


Episodes: TypeAlias = "Sequence[Episode | None]"
"""One entry per trial; None where a trial gave no episode, as when the source was rejected."""


def return_of(episode: Episode | None) -> float:
    """An episode's return; minus infinity for a missing, failed or non-finite one."""
    if episode is None or episode.failure is not None or not math.isfinite(episode.return_):
        return -math.inf
    return float(episode.return_)


def steps_of(episodes: Episodes) -> int:
    """Environment steps of some episodes."""
    return sum(episode.steps for episode in episodes if episode is not None)
