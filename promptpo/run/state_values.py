"""What a run's state is made of: candidates with their evidence, what was spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.evidence import Evidence
from promptpo.run.records import Attempt


@dataclass(frozen=True, slots=True)
class Spent:
    """What the run had spent at some moment; steps leave out the final test."""

    steps: int
    tokens: int
    usd: float
    seconds: float
    calls: int = 0


@dataclass(frozen=True, slots=True)
class CandidateState:
    """All that is known of one candidate.

    Attributes:
        attempt: The candidate, its training evaluation and the feedback on it.
        validation: All its episodes on validation seeds as one evaluation; None where it had none.
        evidence: What it is judged by: its training and validation episodes; none where it failed.
        calls: The answers that led to it, by key, in their order.
        spent: What the run had spent when the attempt was complete.
    """

    attempt: Attempt
    validation: Evaluation | None
    evidence: Evidence
    calls: Mapping[str, Any]
    spent: Spent

    @property
    def id(self) -> str:
        """The candidate's id."""
        return self.attempt.id

    @property
    def round(self) -> int:
        """The round it was written in, from 1."""
        return self.attempt.candidate.round

    @property
    def ran(self) -> bool:
        """Whether it finished every episode that it was given."""
        return bool(self.evidence.episodes)
