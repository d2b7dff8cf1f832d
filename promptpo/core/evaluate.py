"""Evaluating a candidate: rollouts on training seeds, once per program, and feedback in words."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from promptpo.core.candidate import Attempt, Candidate, Diagnosis, RolloutResult
from promptpo.core.feature import SearchContext
from promptpo.core.history import History
from promptpo.envs.pictures import pictures_in
from promptpo.program import Program
from promptpo.rollouts.evaluation import Evaluation
from promptpo_sandbox import Record

ANSWER_PROBLEMS = {
    "empty": "was empty",
    "thought": "had no text: the token limit was reached in the middle of thinking",
    "refused": "was a refusal: the model declines",
    "cut": "was cut off before the code was complete",
    "no_code": "had no Python module with a class Policy in it",
    "too_long": "had a module of more than 100,000 bytes",
    "unreadable": "had code that takes too long to read",
}

RACING = 3
"""Episodes after which a candidate is given up if its best return is below the leader's worst."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """Payload of a "feedback" event: what happened as one text, and in single episodes."""

    text: str
    diagnosis: Diagnosis


class Measurer:
    """Evaluates candidates, which makes them attempts."""

    def __init__(self, context: SearchContext) -> None:
        self._context, self._work, self._journal = context, context.work, context.journal
        self._follows_paper, self._narrator = context.config.follows_paper, context.narrator
        pictures = bool(pictures_in(context.spec.observation_space))
        self._record: Record = "seen" if pictures else True  # for images, what the policy saw in them
        self._locks: dict[str, asyncio.Lock] = {}

    async def measure(
        self,
        candidate: Candidate,
        history: History,
        *,
        prose: str = "",
        problem: str | None = None,
        notes: tuple[str, ...] = (),
    ) -> Attempt:
        """Roll out a candidate on training seeds and describe what happened, unless it has a `problem` or is a duplicate.

        All candidates of a run play the same seeds, so that they are compared in pairs. A candidate whose first episodes all return
        less than the worst episode of the best candidate is not rolled out further. Tuned programs always are: they were chosen on
        more episodes than these. Raises as `RecordedWork.roll_out` does.
        """
        if problem:
            evaluation = Evaluation("rejected", (), 0, error=f"the answer {ANSWER_PROBLEMS[problem]}.")
            return Attempt(candidate, evaluation, self._narrator.sum_up(evaluation), prose, notes)
        digest = Program.from_source(candidate.source).digest
        candidate = replace(candidate, digest=digest)
        name = f"{candidate.id}.{candidate.repairs}"
        if not self._follows_paper:
            name = f"{digest}.r{candidate.round}"
            same = next((a for a in history.attempts if a.candidate.digest == digest), None)
            if same is not None:
                candidate = replace(candidate, duplicate_of=same.candidate.duplicate_of or same.id)
                return Attempt(candidate, same.evaluation, same.feedback, prose, notes, same.diagnosis)
        best = history.best()
        races = not self._follows_paper and not candidate.tuned
        bar = best.evaluation.returns if best is not None and races else ()
        race = (RACING, lambda first: first.outcome == "ok" and not _hopeless(first, bar)) if bar else None
        # Under a lock, since duplicates in one round are rolled out once.
        async with self._locks.setdefault(name, asyncio.Lock()):
            played = await self._work.roll_out(
                "evaluation",
                name,
                candidate,
                self._context.seeds.train(self._context.config.train_episodes),
                horizon=self._context.horizon,
                early=race,
                record=self._record,
            )
            feedback = await self._feedback(name, candidate, played)
        return Attempt(candidate, played.evaluation, feedback.text, prose, notes, feedback.diagnosis)

    async def _feedback(self, name: str, program: Candidate, played: RolloutResult) -> Feedback:
        """Return feedback on rollouts, recorded once, in an event after theirs."""

        async def say() -> Feedback:
            rollout = played.rollout
            if rollout is None:  # a process was killed between rollout and feedback
                seeds = [episode.seed for episode in played.evaluation.episodes]
                rollout = await self._work.replay_trajectories(
                    name, program, seeds, horizon=self._context.horizon, record=self._record
                )
            return Feedback(*await self._narrator.summarise(rollout, played.evaluation))

        found: Feedback = await self._journal.once_async("feedback", name, say, Feedback)
        self._work.drop_trajectories(name)
        return found

    def record(self, attempt: Attempt) -> Attempt:
        """Record an attempt in the journal and return it."""
        self._journal.once("attempt", attempt.id, lambda: attempt)
        return attempt


def _hopeless(early: Evaluation, bar: Sequence[float]) -> bool:
    return not early.success_rate and max(early.returns) < min(bar)
