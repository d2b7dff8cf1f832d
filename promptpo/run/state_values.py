"""What a run's state is made of: calls, prompts, candidates with their evidence, rounds, tuning."""

from __future__ import annotations

import math
from dataclasses import dataclass

from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.evidence import Evidence
from promptpo.run.records import Attempt


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One answer of the language model.

    Attributes:
        key: Its name in the run, for example "r2.c3.repair1".
        purpose: What the answer was for.
        prompt: Digest of the prompt; many samples may share one.
        answer: The raw text.
        model: Who answered.
        finish: How the answer ended.
        tokens: (input, output).
        cost_usd: None where the price is unknown.
        seconds: From sending to the last token.
        candidate: Id of the candidate that it was made for; empty where it was for none, or is not recorded.
        provider: Name of the provider that was asked, where there were several; else empty.
    """

    key: str
    purpose: str
    prompt: str
    answer: str
    model: str
    finish: str
    tokens: tuple[int, int]
    cost_usd: float | None
    seconds: float
    candidate: str = ""
    provider: str = ""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt.

    Attributes:
        digest: Its name in the journal.
        messages: (role, text) of each turn.
        system: The system prompt; all requests for policies share one.
    """

    digest: str
    messages: tuple[tuple[str, str], ...]
    system: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """What the run had spent at some moment; steps leave out the final test."""

    steps: int
    tokens: int
    usd: float
    seconds: float
    calls: int = 0


@dataclass(frozen=True, slots=True)
class BestSoFar:
    """What was known of the best candidate at some moment.

    Attributes:
        spent: By the run until then.
        mean_return: Over its training and validation episodes.
        success_rate: Over the same; None where the environment does not report success.
    """

    spent: Spent
    mean_return: float
    success_rate: float | None


@dataclass(frozen=True, slots=True)
class CandidateState:
    """All that is known of one candidate.

    Attributes:
        attempt: The candidate, its training evaluation and the feedback on it.
        validation: All its episodes on validation seeds as one evaluation; None where it had none.
        evidence: What it is judged by: its training and validation episodes; none where it failed.
        calls: The calls that led to it, in their order.
        spent: What the run had spent when the attempt was complete.
    """

    attempt: Attempt
    validation: Evaluation | None
    evidence: Evidence
    calls: tuple[ModelCall, ...]
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


@dataclass(frozen=True, slots=True)
class Stopped:
    """A program that the sandbox stopped.

    Attributes:
        candidate: Whose program it was.
        call: The call that wrote it, where a repair replaced it; empty for the candidate's final program.
        evaluation: What happened.
        repairs: How many repairs it had had.
    """

    candidate: str
    call: str
    evaluation: Evaluation
    repairs: int = 0


@dataclass(slots=True)
class TuningState:
    """Tuning in the newest round.

    Attributes:
        round: From 1.
        started: Seconds since the epoch when it was decided on.
        planned_steps: Environment steps that it may take.
        steps: Environment steps that it has taken.
        candidates: Whose numbers are tuned, where that is recorded.
        best_return: The best return of any episode; NaN before the first.
    """

    round: int
    started: float
    planned_steps: int = 0
    steps: int = 0
    candidates: tuple[str, ...] = ()
    best_return: float = math.nan

    @property
    def share(self) -> float:
        """How much of it is done, from 0 to 1."""
        return min(1.0, self.steps / self.planned_steps) if self.planned_steps > 0 else 0.0
