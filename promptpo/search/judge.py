"""Who is best, and what it costs to know: one race of the leader and a round's contenders.

All candidates play the run's training starts; contenders then play validation starts, which have one order for the whole
run, so that whoever challenges the leader plays the starts that it has played, and the leader only what is new to both.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from promptpo.errors import BudgetSpentError
from promptpo.program import Program
from promptpo.run.evidence import ENOUGH
from promptpo.run.records import Attempt
from promptpo.search.planning import block_of
from promptpo.search.racing import Course, Race, race

if TYPE_CHECKING:
    from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
    from promptpo.run.history import History
    from promptpo.search.context import SearchContext

LAST = 60
"""Validation starts that the last race of a run may go to, with steps that nobody else needs: a few episodes put candidates
in order and still hide what happens in one episode of ten, such as a fall."""


class Judge:
    """Decides which candidate is best.

    Args:
        context: Of the run; its threshold wants more episodes unless the best is clearly above it.
    """

    def __init__(self, context: SearchContext) -> None:
        self._context, self._threshold = context, context.threshold
        self._spender, self._config = context.spender, context.config

    async def judge(
        self, history: History, attempts: Sequence[Attempt], round_: int, *, part: str = ""
    ) -> None:
        """Race a round's candidates against the leader; who is in front then leads.

        Args:
            history: All that is known.
            attempts: The round's candidates.
            round_: Its number.
            part: Names a judgement that does not close the round, as when only some samples were answered.
        """
        room = self._spender.ledger.room("validation", max(1, self._config.budget.rounds - round_ + 1))
        steps = self._spender.journal.once("decision", f"r{round_}{part}.looks", lambda: room)
        await self._race(history, self._contenders(history, attempts), self._config.score_episodes, steps)
        leader = history.best()
        if leader is not None and history.reaches(self._threshold):
            await self._race(history, [leader], max(ENOUGH, self._config.score_episodes), steps)

    async def confirm(self, history: History) -> None:
        """The last race: the leader and who comes close to it, with the steps that are left.

        Args:
            history: All that is known; its leader may change.
        """
        left = self._spender.ledger.steps_left()
        if self._config.switches.validate < 2 or left is None:  # noqa: PLR2004 - the published procedure looks at one
            return
        contenders = self._contenders(history, history.attempts)
        steps = self._spender.journal.once("decision", f"r{history.rounds}.last", lambda: left)
        if len(contenders) > 1:
            with contextlib.suppress(BudgetSpentError):
                await self._race(history, contenders, LAST, steps)

    async def _race(self, history: History, arms: Sequence[Attempt], starts: int, steps: int | None) -> None:
        """Race some candidates on validation starts; who is in front leads, and a change of it is told."""
        known = {attempt.id: history.evidence(attempt) for attempt in arms}
        course = Course(
            self._context.seeds.validation(starts), block_of(self._config), steps, first=starts < LAST
        )
        running = Race(known, course, champion=history.leader_id, target=self._threshold)

        async def play(wanted: Mapping[str, Sequence[int]]) -> dict[str, Sequence[EpisodeRecord]]:
            return await self._played([one for one in arms if one.id in wanted], wanted)

        try:
            await race(running, play)
        finally:
            left = {one.id: history.evidence(one) for one in arms if history.runs(one)}
            ended = Race(left, Course((), 1), champion=history.leader_id)
            if ended.change is not None:
                history.take_lead(ended.change, self._spender.journal)

    async def _played(
        self, attempts: Sequence[Attempt], wanted: Mapping[str, Sequence[int]]
    ) -> dict[str, Sequence[EpisodeRecord]]:
        """Roll some candidates out on validation seeds."""
        looks = await asyncio.gather(
            *(self._looked(attempt, wanted[attempt.id]) for attempt in attempts), return_exceptions=True
        )
        found: dict[str, Sequence[EpisodeRecord]] = {}
        for attempt, look in zip(attempts, looks, strict=True):
            if isinstance(look, BaseException):
                raise look
            found[attempt.id] = look.episodes if look.outcome == "ok" else ()
        return found

    async def _looked(self, attempt: Attempt, seeds: Sequence[int]) -> Evaluation:
        program = attempt.candidate
        key = f"{program.digest}.{seeds[0]}+{len(seeds)}"
        played = await self._spender.roll_out(
            "validation", key, program, seeds, horizon=self._context.horizon
        )
        return played.evaluation

    def _contenders(self, history: History, attempts: Sequence[Attempt]) -> list[Attempt]:
        """The leader and the candidates that may be better, the most promising first; of a structure only the best."""
        leader = history.find(history.leader_id)
        new = [
            one
            for one in attempts
            if history.runs(one)
            and one.id != history.leader_id
            and one.id not in history.alike
            and not one.candidate.duplicate_of
            and (leader is None or history.against(one, leader).verdict >= 0)
        ]

        def order(one: Attempt, other: Attempt) -> int:
            return history.better(other, one) - history.better(one, other)

        structures: dict[str, Attempt] = {}
        for one in sorted(new, key=functools.cmp_to_key(order)):
            structures.setdefault(Program.parse(one.candidate.source).skeleton, one)
        most = self._config.switches.validate
        return [*([leader] if leader else []), *list(structures.values())[: most + (leader is None)]]
