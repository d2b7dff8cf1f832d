"""Choosing the best candidate: which programs play validation episodes, and how many.

All candidates play the run's training seeds. Then the candidate with the best estimate and the rival whose evaluation most raises
the expected return of the final choice play validation seeds, in one order for the whole run and a block at a time: the linear loss
of Chick and Inoue ("New Two-Stage and Sequential Procedures for Selecting the Best Simulated System", 2001). The comparison ends
when less than a thousandth could be gained.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from typing import TypeAlias

from promptpo.core.budget import challengers, validation_block_size
from promptpo.core.candidate import Attempt
from promptpo.core.feature import SearchContext
from promptpo.core.history import History
from promptpo.core.returns import SOLVED_EPISODES
from promptpo.errors import BudgetSpentError
from promptpo.rollouts.evaluation import Evaluation

FINAL_STARTS = 100
"""Maximum number of validation seeds in the last comparison of a run, which spends steps left over."""

MIN_EXPECTED_GAIN_SHARE = 0.001
"""Minimum expected gain of a comparison, as a share of the best candidate's returns."""


Wanted: TypeAlias = list[tuple[Attempt, tuple[int, ...]]]
"""Candidates with the validation seeds that they are to play."""


class CandidateSelector:
    """Chooses which candidates play validation episodes, and announces the leader."""

    def __init__(self, context: SearchContext) -> None:
        self._context, self._threshold = context, context.threshold
        self._work, self._config = context.work, context.config

    async def validate_round(
        self, history: History, attempts: Sequence[Attempt], round_: int, *, part: str = ""
    ) -> None:
        """Compare a round's candidates with the others; `part` names a comparison that does not close the round."""
        left = self._work.ledger.steps_left_for("validation", max(1, self._config.budget.rounds - round_ + 1))
        steps = self._work.journal.once("decision", f"r{round_}{part}.looks", lambda: left)
        await self._compare(history, attempts, self._config.score_episodes, steps)

    async def validate_best(self, history: History, key: str) -> None:
        """Compare the best candidates of the run with the steps that are left; `key` names the comparison in the journal."""
        left = self._work.ledger.steps_left()
        if self._config.published or left is None:
            return
        steps = self._work.journal.once("decision", key, lambda: left)
        with contextlib.suppress(BudgetSpentError):
            await self._compare(history, history.attempts, FINAL_STARTS, steps)

    async def _compare(
        self, history: History, attempts: Sequence[Attempt], starts: int, steps: int | None
    ) -> None:
        """Validate until no evaluation is worth its steps. A candidate that plays its first block alone does so whatever the cost."""
        taken, eligible = 0, self._eligible_ids(history, attempts)
        before: Wanted = []
        try:
            while (wanted := self._next(history, eligible, starts)) and wanted != before:
                cost = sum(len(seeds) * history.evidence(attempt).mean_steps for attempt, seeds in wanted)
                first, _ = wanted[0]
                if history.validations_of(first) and steps is not None and taken + cost > steps:
                    break
                taken, before = taken + await self._play(wanted), wanted
        finally:
            history.announce_leader(self._work.journal)

    def _eligible_ids(self, history: History, attempts: Sequence[Attempt]) -> set[str]:
        """Return ids of candidates that may play: those already validated, and the most promising others."""
        ranked, best = history.ranking(), history.best()
        seen = {attempt.id for attempt in ranked if history.validations_of(attempt)}
        new = [attempt for attempt in ranked if attempt.id not in seen and attempt in attempts]
        new.sort(key=lambda attempt: -history.value_difference(attempt, best or attempt).gain)
        return {*seen, *(attempt.id for attempt in new[: challengers(self._config)])}

    def _next(self, history: History, eligible: set[str], starts: int) -> Wanted:
        """Return which candidates play which validation seeds next; empty if no step is worth taking."""
        leader = history.best()
        if leader is None:
            return []
        if not history.validations_of(leader):
            return self._missing(history, [leader], starts)
        size = max(map(abs, history.evidence(leader).returns), default=0.0)
        rivals = [
            attempt for attempt in history.ranking() if attempt is not leader and attempt.id in eligible
        ]
        gains = {attempt.id: history.value_difference(attempt, leader).gain for attempt in rivals}
        rival = max(rivals, key=lambda attempt: gains[attempt.id], default=None)
        if rival is not None and gains[rival.id] > MIN_EXPECTED_GAIN_SHARE * size:
            wanted = self._missing(history, [leader, rival], starts)
            if wanted:
                return wanted
        known, solved = history.evidence(leader), self._threshold
        if solved is not None and known.mean_return >= solved and not known.exceeds(solved):
            return self._missing(history, [leader], max(SOLVED_EPISODES, self._config.score_episodes))
        return []

    def _missing(self, history: History, attempts: Sequence[Attempt], starts: int) -> Wanted:
        """Return the first block of validation seeds that some of the candidates lack, each with the seeds it lacks."""
        known = [{e.seed for e in history.evidence(attempt).episodes} for attempt in attempts]
        lacking = [s for s in self._context.seeds.validation(starts) if any(s not in seen for seen in known)]
        block = lacking[: validation_block_size(self._config)]
        wanted = [
            (attempt, tuple(s for s in block if s not in seen))
            for attempt, seen in zip(attempts, known, strict=True)
        ]
        return [(attempt, seeds) for attempt, seeds in wanted if seeds]

    async def _play(self, wanted: Wanted) -> int:
        """Roll out candidates on validation seeds; return the number of steps taken."""
        played = await asyncio.gather(*(self._validate(*pair) for pair in wanted), return_exceptions=True)
        for result in played:
            if isinstance(result, BaseException):
                raise result
        return sum(result.steps for result in played if not isinstance(result, BaseException))

    async def _validate(self, attempt: Attempt, seeds: Sequence[int]) -> Evaluation:
        program = attempt.candidate
        key = f"{program.digest}.{seeds[0]}+{len(seeds)}"
        played = await self._work.roll_out("validation", key, program, seeds, horizon=self._context.horizon)
        return played.evaluation
