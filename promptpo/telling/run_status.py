"""Where a run is, in words: what is left, whether numbers will be tuned, what knows-nothing policies earn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptpo.telling import feedback, scores
from promptpo.telling.feedback import number
from promptpo.telling.limits import QUICK
from promptpo_sandbox import Limits

if TYPE_CHECKING:
    from promptpo.run.evidence import Evidence
    from promptpo.run.records import Attempt

LIMITS = Limits()
"""What the sandbox gives a call of `act`, the building of a policy, and an episode."""

REFERENCES = {
    "random": "random actions earn",
    "zero": "always the zero action (or what is nearest to it) earns",
    "teacher": "the trained agent earns",
}


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

    def in_words(self) -> str:
        """One paragraph."""
        parts = [
            f"Round {self.round} of {self.rounds}"
            + (f", with {self.candidates} different requests." if self.candidates > 1 else ".")
        ]
        left = []
        if self.steps is not None and self.steps_left is not None:
            left.append(f"{self.steps_left:,} of {self.steps:,} environment steps")
        if self.calls_left is not None:
            left.append(f"{self.calls_left} model calls")
        if left:
            parts.append(f"Left: {' and '.join(left)}.")
        if self.tunes:
            parts.append(self._tuning())
        if self.starts > 1:
            parts.append(f"All programs play training starts 1 to {self.starts}.")
        if self.threshold is not None:
            parts.append(f"The task counts as solved from a mean return of {number(self.threshold)}.")
        return " ".join(parts)

    def _tuning(self) -> str:
        if not self.number_of_episodes:
            return (
                "No steps are planned for tuning this round's PARAMS: write the values that you believe in."
            )
        too = " and of the best so far" if self.round > 1 else ""
        each = "1 step" if round(self.length) == 1 else f"{round(self.length):,} steps"
        solved = ", unless one solves the task as written" if self.threshold is not None else ""
        return (
            f"About {self.tuning_steps:,} steps ({feedback.episodes_in_words(self.number_of_episodes)} of {each}) are planned "
            f"for tuning the PARAMS of this round's programs{too}, together{solved}."
        )


def references_in_words(references: Mapping[str, Evidence]) -> str:
    """What policies that know nothing earn; empty where that is not known."""
    known = [
        f"{REFERENCES.get(name, f'{name} earns')} {scores.score(evidence)}"
        for name, evidence in references.items()
        if evidence.episodes
    ]
    text = "; ".join(known)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def seconds_in_words(attempt: Attempt) -> str:
    """How long a program took to act, against its limit."""
    evaluation = attempt.evaluation
    if not evaluation.steps:
        return ""
    each = 1000 * evaluation.policy_seconds / evaluation.steps
    if each < QUICK:
        return ""
    took = f"about {number(float(f'{each:.1g}'))} ms"
    return f"A call of `act` took {took} (allowed: {LIMITS.step_seconds:g} s, and {LIMITS.episode_seconds:g} s an episode)."
