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
from itertools import starmap
from operator import itemgetter
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


Block: TypeAlias = list[tuple[Attempt, tuple[int, ...]]]
"""Validation seeds to be played next, by each candidate that lacks some of them."""


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
        """Validate block by block until nothing is worth its steps. A block is played whatever its cost if it is a candidate's first."""
        taken, eligible = 0, self._eligible_ids(history, attempts)
        before: Block = []
        try:
            while (block := self._next_block(history, eligible, starts)) and block != before:
                cost = sum(len(seeds) * history.evidence(attempt).mean_steps for attempt, seeds in block)
                first_of_one = not history.validations_of(block[0][0])
                if not first_of_one and steps is not None and taken + cost > steps:
                    break
                taken, before = taken + await self._play(block), block
        finally:
            history.announce_leader(self._work.journal)

    def _eligible_ids(self, history: History, attempts: Sequence[Attempt]) -> set[str]:
        """Return ids of candidates that may play: those already validated, and the most promising others."""
        ranked, best = history.ranking(), history.best()
        seen = {attempt.id for attempt in ranked if history.validations_of(attempt)}
        new = [attempt for attempt in ranked if attempt.id not in seen and attempt in attempts]
        new.sort(key=lambda attempt: -history.value_difference(attempt, best or attempt).gain)
        return {*seen, *(attempt.id for attempt in new[: challengers(self._config)])}

    def _next_block(self, history: History, eligible: set[str], starts: int) -> Block:
        """Return what to play next: a block of the leader, or of the leader and a rival; empty if no step is worth taking."""
        leader = history.best()
        if leader is None:
            return []
        if not history.validations_of(leader):
            return self._missing(history, [leader], starts)
        rival = self._most_promising_rival(history, leader, eligible)
        if rival is not None and (block := self._missing(history, [leader, rival], starts)):
            return block
        evidence, threshold = history.evidence(leader), self._threshold
        if threshold is not None and evidence.mean_return >= threshold and not evidence.exceeds(threshold):
            return self._missing(history, [leader], max(SOLVED_EPISODES, self._config.score_episodes))
        return []

    def _most_promising_rival(self, history: History, leader: Attempt, eligible: set[str]) -> Attempt | None:
        """Return the rival whose evaluation has the highest expected gain; None if that is negligible."""
        size = max(map(abs, history.evidence(leader).returns), default=0.0)
        gains = [
            (history.value_difference(rival, leader).gain, rival)
            for rival in history.ranking()
            if rival is not leader and rival.id in eligible
        ]
        gain, rival = max(gains, key=itemgetter(0), default=(0.0, None))
        return rival if gain > MIN_EXPECTED_GAIN_SHARE * size else None

    def _missing(self, history: History, attempts: Sequence[Attempt], starts: int) -> Block:
        """Return the first validation seeds that some of the candidates lack, each with those it lacks."""
        known = [{e.seed for e in history.evidence(attempt).episodes} for attempt in attempts]
        lacking = [s for s in self._context.seeds.validation(starts) if any(s not in seen for seen in known)]
        next_seeds = lacking[: validation_block_size(self._config)]
        block = [
            (attempt, tuple(s for s in next_seeds if s not in seen))
            for attempt, seen in zip(attempts, known, strict=True)
        ]
        return [(attempt, seeds) for attempt, seeds in block if seeds]

    async def _play(self, block: Block) -> int:
        """Play a block; return the number of steps taken. What one candidate has played is recorded even if the other fails."""
        played = await asyncio.gather(*starmap(self._validate, block), return_exceptions=True)
        for result in played:
            if isinstance(result, BaseException):
                raise result
        return sum(result.steps for result in played if not isinstance(result, BaseException))

    async def _validate(self, attempt: Attempt, seeds: Sequence[int]) -> Evaluation:
        program = attempt.candidate
        key = f"{program.digest}.{seeds[0]}+{len(seeds)}"
        played = await self._work.roll_out("validation", key, program, seeds, horizon=self._context.horizon)
        return played.evaluation
