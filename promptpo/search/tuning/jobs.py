"""What goes into tuning, what it asks for, and what comes out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from sandbox import Episode, Trial


@dataclass(frozen=True, slots=True)
class Job:
    """One source and the episodes to roll it out for; a failed episode never stops the others.

    Attributes:
        source: The policy module.
        trials: Seeds, parameter values and horizons.
        record: Whether trajectories must come back.
    """

    source: str
    trials: tuple[Trial, ...]
    record: bool = False


@dataclass(frozen=True, slots=True)
class Start:
    """A candidate to tune.

    Attributes:
        id: The candidate's id.
        source: Its policy module, with ``PARAMS`` or ``TABLE``.
        score: Mean training return with the values it came with; NaN when unknown.
    """

    id: str
    source: str
    score: float


@dataclass(frozen=True, slots=True)
class Tuned:
    """What tuning made of a candidate.

    Attributes:
        id: The candidate's id.
        source: The module with the tuned literal; the original where nothing better was found.
        changes: Parameter name to (value before, value after), where it changed.
        score: Mean training return on the seeds of the final choice; NaN when nothing was tried.
        steps: Environment steps this candidate took.
        notes: Remarks for the next prompt.
    """

    id: str
    source: str
    changes: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    score: float = float("nan")
    steps: int = 0
    notes: tuple[str, ...] = ()


SeedSource: TypeAlias = Callable[[int, int], tuple[int, ...]]
"""(start, n) to n training seeds, from the start-th on."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What one structure wants rolled out next; `tune` cuts it into jobs."""

    source: str
    trials: tuple[Trial, ...]
    record: bool = False


@dataclass(frozen=True, slots=True)
class Finalist:
    """A source and parameter values that may become a structure's result."""

    source: str
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
