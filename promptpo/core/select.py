"""Choosing the best candidate: which programs play validation episodes, and how many.

All candidates play the run's training seeds. A comparison has them play validation seeds, in one order for the whole run, and a block
at a time, after which leader and rival are chosen anew:

1. Candidates that have played validation seeds before, and the most promising new ones, are eligible.
2. The leader, the candidate with the best estimate, plays a first block.
3. The leader and its most promising rival play the next block, as long as evaluating the rival is expected to raise the return of
   the final choice by more than a thousandth (the linear loss of Chick and Inoue, "New Two-Stage and Sequential Procedures for
   Selecting the Best Simulated System", 2001).
4. A leader whose mean return reaches the threshold, but not clearly, plays on alone.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from itertools import starmap
from typing import TypeAlias

from promptpo.core.budget import challengers, validation_block_size
from promptpo.core.candidate import Attempt
from promptpo.core.feature import SearchContext
from promptpo.core.history import History
from promptpo.core.returns import SOLVED_EPISODES
from promptpo.errors import BudgetSpentError
from promptpo.rollouts.evaluation import Evaluation

FINAL_EPISODES = 100
"""Maximum number of validation episodes of a candidate in the last comparison of a run, which spends steps left over."""

MIN_EXPECTED_GAIN_SHARE = 0.001
"""Minimum expected gain of a comparison, as a share of the best candidate's returns."""

Block: TypeAlias = list[tuple[Attempt, tuple[int, ...]]]
"""Validation seeds to be played next, by each candidate that lacks some of them."""


class CandidateSelector:
    """Chooses which candidates play validation episodes, and announces the leader."""

    def __init__(self, context: SearchContext) -> None:
        self._context, self._work, self._config = context, context.work, context.config

    async def validate_round(
        self, history: History, attempts: Sequence[Attempt], round_: int, *, part: str = ""
    ) -> None:
        """Compare a round's candidates with the others; `part` names a comparison that does not close the round."""
        left = self._work.ledger.steps_left_for("validation", max(1, self._config.budget.rounds - round_ + 1))
        steps = self._work.journal.once("decision", f"r{round_}{part}.looks", lambda: left)
        await self._compare(history, attempts, self._config.score_episodes, steps)

    async def validate_run(self, history: History, key: str) -> None:
        """Compare all candidates of the run with the steps that are left; `key` names the comparison in the journal."""
        left = self._work.ledger.steps_left()
        if self._config.follows_paper or left is None:
            return
        steps = self._work.journal.once("decision", key, lambda: left)
        with contextlib.suppress(BudgetSpentError):
            await self._compare(history, history.attempts, FINAL_EPISODES, steps)

    async def _compare(
        self, history: History, attempts: Sequence[Attempt], episodes: int, steps: int | None
    ) -> None:
        """Play blocks until none is worth its steps, up to a number of episodes of each candidate and of steps of all.

        The first block of a candidate that plays alone is not limited: without it, a new leader would stay unvalidated.
        """
        taken, eligible = 0, self._eligible_ids(history, attempts)
        before: Block = []
        try:
            while (block := self._next_block(history, eligible, episodes)) and block != before:
                cost = sum(len(seeds) * history.evidence(attempt).mean_steps for attempt, seeds in block)
                is_first = not history.validations_of(block[0][0])
                if not is_first and steps is not None and taken + cost > steps:
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

    def _next_block(self, history: History, eligible: set[str], episodes: int) -> Block:
        """Return what to play next: a block of the leader, or of the leader and a rival; empty if no step is worth taking."""
        leader = history.best()
        if leader is None:
            return []
        if not history.validations_of(leader):
            return self._missing_seeds(history, [leader], episodes)
        rival = self._most_promising_rival(history, leader, eligible)
        if rival is not None and (block := self._missing_seeds(history, [leader, rival], episodes)):
            return block
        evidence, threshold = history.evidence(leader), self._context.threshold
        if threshold is not None and evidence.mean_return >= threshold and not evidence.exceeds(threshold):
            return self._missing_seeds(history, [leader], max(SOLVED_EPISODES, self._config.score_episodes))
        return []

    def _most_promising_rival(self, history: History, leader: Attempt, eligible: set[str]) -> Attempt | None:
        """Return the rival whose evaluation has the highest expected gain; None if that is negligible."""

        def gain(rival: Attempt) -> float:
            return history.value_difference(rival, leader).gain

        size = max(map(abs, history.evidence(leader).returns), default=0.0)
        rivals = [a for a in history.ranking() if a is not leader and a.id in eligible]
        best = max(rivals, key=gain, default=None)
        return best if best and gain(best) > MIN_EXPECTED_GAIN_SHARE * size else None

    def _missing_seeds(self, history: History, attempts: Sequence[Attempt], episodes: int) -> Block:
        """Return the first validation seeds that some of the candidates lack, each with those it lacks."""
        seeds = self._context.seeds.validation(episodes)
        missing = [(a, {*seeds} - {e.seed for e in history.evidence(a).episodes}) for a in attempts]
        lacking = [seed for seed in seeds if any(seed in lacks for _, lacks in missing)]
        first = lacking[: validation_block_size(self._config)]
        block = [(attempt, tuple(seed for seed in first if seed in lacks)) for attempt, lacks in missing]
        return [(attempt, seeds) for attempt, seeds in block if seeds]

    async def _play(self, block: Block) -> int:
        """Play a block; return the number of steps taken. What one candidate has played is recorded even if the other fails."""
        played = await asyncio.gather(*starmap(self._validate, block), return_exceptions=True)
        steps = 0
        for result in played:
            if isinstance(result, BaseException):
                raise result
            steps += result.steps
        return steps

    async def _validate(self, attempt: Attempt, seeds: Sequence[int]) -> Evaluation:
        program = attempt.candidate
        key = f"{program.digest}.{seeds[0]}+{len(seeds)}"
        played = await self._work.roll_out("validation", key, program, seeds, horizon=self._context.horizon)
        return played.evaluation
