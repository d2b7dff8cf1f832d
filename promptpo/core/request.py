"""The plan of one sample: what is requested, and the status of the run."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from promptpo.core.candidate import Attempt

if TYPE_CHECKING:
    from promptpo.core.evidence import Evidence
    from promptpo.core.history import History

Kind = Literal["first", "level", "part", "starts", "structure", "mend"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What one sample of a round is asked for.

    Attributes:
        round: Counted from 1.
        slot: From 0.
        kind: A "first" policy; one that raises the general "level" of the first parent; one that does better on the
            "starts" on which it does worse than it should; one that does what is better wherever two programs "part"; one of another "structure" than those that were tried; one that
            makes a program last which fell early and was far better per step than the leader ("mend").
        parents: The attempts to build on, best first; of a mending the program that fell and the leader.
        variant: Which request of its kind in the round, from 1.
        stalled: Rounds since the best improved.
        may_end: Whether the model may say that the task is at its ceiling.
        winners: Whether the prompt is that of the published procedure.
        shown: The winners whose code that prompt shows, oldest first.
        reflections: What the model concluded after each round, oldest first; in that prompt too.
    """

    round: int
    slot: int
    kind: Kind
    parents: tuple[Attempt, ...] = ()
    variant: int = 1
    stalled: int = 0
    may_end: bool = False
    winners: bool = False
    shown: tuple[Attempt, ...] = ()
    reflections: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Of the candidate that comes of it."""
        return f"r{self.round}c{self.slot + 1}"


@dataclass(frozen=True, slots=True)
class RunStatus:
    """Where a run is when a round begins.

    Attributes:
        round: Counted from 1.
        rounds: At most so many.
        candidates: Requests of the round.
        starts: Training episodes, the same for all candidates.
        steps: Limit on environment steps; None without one.
        steps_left: Of them.
        calls_left: Model calls; None without a limit.
        tunes: Whether numbers in ``PARAMS`` are tuned in this run at all.
        tuning_steps: About so many steps are planned for tuning this round's numbers.
        length: Steps of an episode, about.
        threshold: Mean return at which the task counts as solved; None without one.
    """

    round: int
    rounds: int
    candidates: int = 1
    starts: int = 1
    steps: int | None = None
    steps_left: int | None = None
    calls_left: int | None = None
    tunes: bool = False
    tuning_steps: int = 0
    length: float = 0.0
    threshold: float | None = None

    @property
    def number_of_episodes(self) -> int:
        """Whole episodes for which the planned steps are enough."""
        return int(self.tuning_steps / self.length) if self.length else 0


def faster(history: History) -> Attempt | None:
    """A program that fell early and yet was far better per step than the leader; of several the best per step.

    It fell early: the environment ended most of its episodes before half of the steps that the leader usually has. It
    was far better: a step of it earned more than the leader's by at least the size of that.
    """
    leader = history.best()
    if leader is None:
        return None
    length, paid = _per_step(history.evidence(leader))
    found: list[tuple[float, Attempt]] = []
    for attempt in history.attempts:
        evidence = history.evidence(attempt)
        ended = sum(e.terminated and not e.success for e in evidence.episodes)
        if attempt is leader or not history.runs(attempt) or 2 * ended <= len(evidence.episodes):
            continue
        steps, each = _per_step(evidence)
        if 2 * steps < length and each - paid > abs(paid):
            found.append((each, attempt))
    return max(found, key=lambda pair: pair[0])[1] if found else None


def _per_step(evidence: Evidence) -> tuple[float, float]:
    """Steps of a usual episode, and what a step earns."""
    steps = [e.steps for e in evidence.episodes]
    return statistics.median(steps), sum(evidence.returns) / max(1, sum(steps))


def per_step(evidence: Evidence) -> float:
    """Mean reward per step."""
    return _per_step(evidence)[1]
