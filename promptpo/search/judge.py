"""Who is best, and what it costs to know.

Candidates share seeds, so they are compared in pairs, and episodes go where the order is open. All play
the run's training episodes; contenders then play fresh validation seeds, a block at a time, and whoever is
clearly worse than the one in front drops out: successive elimination (Even-Dar, Mannor and Mansour, "Action
Elimination and Stopping Conditions for the Multi-Armed Bandit and Reinforcement Learning Problems", 2006),
with paired differences in place of independent arms. The seeds of one round are not used in the next: a
candidate that was lucky on them has to be good on others to stay in front.
"""

from __future__ import annotations

import asyncio
import contextlib
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from promptpo.errors import BudgetSpentError
from promptpo.program import Program
from promptpo.run.evidence import CLEAR
from promptpo.run.records import Attempt, Seeds
from promptpo.search.measuring import subject_of
from promptpo.search.revisits import revisit

if TYPE_CHECKING:
    from promptpo.rollouts.evaluation import Evaluation
    from promptpo.run.config import Config
    from promptpo.run.evidence import Difference, Evidence
    from promptpo.run.spender import Spender
    from promptpo.search.history import History

BLOCKS = 4
"""Fresh episodes of a round come in so many blocks; after each the clearly worse drop out."""

CONTENDERS = 4
"""So many candidates at most are looked at again in a round, the leader included."""

NEAR = 0.02
"""Programs that differ in numbers only, and on no shared start by more than this share of the returns' size, behave
alike: a step spent on telling them apart buys nothing."""

CLOSE, CLOSE_ONES = 0.1, 2
"""At the end, so many others whose mean is below the leader's by less than this share of the returns' size, or by no more
than noise, are looked at once more beside it."""

LAST_START = 1_000_000
"""The last looks use validation seeds from here on, which no round does."""

ENOUGH = 15
"""Episodes after which a mean return that lies two standard errors above the threshold is believed, and as many as the
last looks give those that are close, where steps are left: what falls in one episode of three may not in the first five."""

APART, APART_SEEDS = 60, 10_000
"""Episodes that the last looks give in all where the order is still open, as steps that nobody else needs tell it; they use
seeds of their own for each number of rounds."""

SURE, SURE_START = 30, 2_000_000
"""Episodes that a leader plays before it ends a run in which a language model writes, on seeds of their own: a policy that
falls on one start of ten reaches eight episodes without a fall twice in five."""

SHARE = 0.2
"""Share of the steps that are left which one round's looks may take, beyond the first block."""


class Judge:
    """Decides which candidate is best.

    Args:
        spender: Rolls out.
        config: Numbers of episodes and seeds.
        horizon: Longest episode, in steps.
        threshold: Mean return at which the search may end, which wants all of a round's fresh episodes unless
            the mean is clearly above it before.
    """

    def __init__(
        self,
        spender: Spender,
        config: Config,
        horizon: int,
        threshold: float | None = None,
    ) -> None:
        self._spender, self._config = spender, config
        self._seeds, self._horizon = Seeds(config.seed), horizon
        self._most = config.switches.validate
        self._threshold = threshold

    async def judge(
        self, history: History, attempts: Sequence[Attempt], round_: int, *, part: str = ""
    ) -> None:
        """Compare a round's candidates with the leader on fresh seeds; the best becomes the leader.

        What it finds goes into `history`, also where the budget ends it in the middle.

        Args:
            history: All that is known.
            attempts: The round's candidates.
            round_: Its number; each round has validation seeds of its own.
            part: Names a judgement that does not close the round, as when only some samples were answered.
        """
        if self._config.switches.directions:  # else no request names a start
            await revisit(
                history,
                attempts,
                self._spender,
                horizon=self._horizon,
                round_=f"r{round_}{part}",
            )
        history.find_alike()
        alive = self._without_the_worse(history, self._contenders(history, attempts))
        turn = len(self._config.task.family)  # a block plays each variant of a family equally often
        block = -(-self._config.score_episodes // (BLOCKS * turn)) * turn
        try:
            for n in range(BLOCKS):
                key = f"r{round_}{part}.look{n + 1}"
                size = min(block, self._config.score_episodes - n * block)
                if size <= 0 or not self._worth_it(history, alive, key, size, first=n == 0):
                    break
                start = self._config.score_episodes * (round_ - 1) + n * block
                await self.look(history, alive, self._seeds.validation(size, start=start))
                alive = self._without_the_worse(history, alive)
        finally:
            front = self._front(history, alive)
            if front is not None:
                history.leader_id = front.id
            history.find_alike()
        await self._believe(history, round_, part)

    async def _believe(self, history: History, round_: int, part: str) -> None:
        """Play on with a leader that would end the run, as far as a share of the steps that are left pays for it."""
        if not (self._config.switches.stop_when_solved and self._spender.llm.language_model):
            return
        block = self._config.score_episodes
        for n in range(-(-SURE // block)):
            leader = history.best()
            if leader is None or not history.reaches(self._threshold):
                return
            known = len(history.evidence(leader).episodes)
            key = f"r{round_}{part}.sure{n + 1}"
            if known >= SURE or not self._last_look(history, [leader], key, block, share=SHARE):
                return
            start = SURE_START + APART_SEEDS * round_ + n * block
            await self.look(history, [leader], self._seeds.validation(block, start=start))

    async def confirm(self, history: History) -> None:
        """Look once more at the leader and who comes close to it, with steps that nothing else needs any more.

        A few episodes put candidates in order and still hide what happens in one episode of ten, such as a fall. So
        the order that few episodes gave is looked at again, on fresh seeds, as far as the steps last.

        Args:
            history: All that is known; its leader may change.
        """
        leader = history.best()
        if leader is None or self._most < CLOSE_ONES or self._spender.ledger.steps_left() is None:
            return
        close = [
            one for one in history.ranked() if one is not leader and self._is_close(history, one, leader)
        ]
        alive = [leader, *close[:CLOSE_ONES]]
        fewest = min(len(history.evidence(one).episodes) for one in alive)
        wanted = max(self._config.score_episodes, ENOUGH) - fewest
        most = max(wanted, APART - fewest)
        turn = len(self._config.task.family)
        block = -(-self._config.score_episodes // (BLOCKS * turn)) * turn
        start = LAST_START + self._config.score_episodes * history.rounds
        with contextlib.suppress(BudgetSpentError):
            for n in range(-(-most // block) if close else 0):
                if n * block >= wanted and not self._is_open(history, alive, first=False):
                    break
                if not self._last_look(history, alive, f"r{history.rounds}.last{n + 1}", block):
                    break
                if n * block >= wanted:  # the seeds of the next round's last looks come before
                    start = LAST_START + APART_SEEDS * (1 + history.rounds)
                await self.look(history, alive, self._seeds.validation(block, start=start + n * block))
                alive = self._without_the_worse(history, alive)
                if len(alive) == 1:
                    break
        front = self._front(history, alive)
        history.leader_id = front.id if front is not None else history.leader_id

    def _is_close(self, history: History, attempt: Attempt, leader: Attempt) -> bool:
        if not history.runs(attempt) or attempt.id in history.alike or attempt.candidate.duplicate_of:
            return False
        best, mine = history.evidence(leader), history.evidence(attempt)
        behind, size = best.mean_return - mine.mean_return, max(map(abs, best.returns))
        apart = behind > CLOSE * size and not history.against(attempt, leader).open(size)
        return not apart and not _copy(history, attempt, leader)

    def _last_look(
        self, history: History, alive: Sequence[Attempt], key: str, block: int, *, share: float = 1.0
    ) -> bool:
        """Whether what is left, or a share of it, pays for a block; decided once in a run."""
        found = self._spender.journal.find("decision", key)
        if found is None:
            left = self._spender.ledger.steps_left()
            lengths = [e.steps for attempt in alive for e in history.evidence(attempt).episodes]
            cost = len(alive) * block * statistics.fmean(lengths)
            paid = left is None or cost <= share * left
            found = self._spender.journal.add("decision", key, paid).data
        return bool(found)

    async def look(self, history: History, attempts: Sequence[Attempt], seeds: Sequence[int]) -> None:
        """Roll some candidates out on validation seeds and put what came out into the history."""
        looks = await asyncio.gather(
            *(self._looked(attempt, seeds) for attempt in attempts), return_exceptions=True
        )
        for attempt, look in zip(attempts, looks, strict=True):
            if not isinstance(look, BaseException):
                history.looks.setdefault(attempt.id, []).append(look)
        for look in looks:
            if isinstance(look, BaseException):
                raise look

    async def _looked(self, attempt: Attempt, seeds: Sequence[int]) -> Evaluation:
        program = subject_of(attempt.candidate)
        key = f"{attempt.candidate.digest}.{seeds[0]}+{len(seeds)}"
        played = await self._spender.roll_out("validation", key, program, seeds, horizon=self._horizon)
        return played.evaluation

    def _contenders(self, history: History, attempts: Sequence[Attempt]) -> list[Attempt]:
        """The leader and the round's candidates that may be better, the most promising first."""
        leader = history.find(history.leader_id)
        new = [
            attempt
            for attempt in attempts
            if history.runs(attempt)
            and attempt.id not in history.alike
            and not attempt.candidate.duplicate_of
            and attempt is not leader
            and not _outgrown(history, attempt, attempts)
        ]
        kept: list[Attempt] = []
        while new:  # best first
            front = self._front(history, new)
            if front is None:
                break
            kept.append(front)
            new = [a for a in new if a is not front and not _copy(history, a, front)]
        if leader is not None:
            kept = [a for a in kept if not history.clearly_worse(a, leader) and not _copy(history, a, leader)]
            return [leader, *kept[: min(self._most, CONTENDERS - 1)]] if kept else [leader]
        if not kept:
            return []
        rest = [a for a in kept[1:] if not history.clearly_worse(a, kept[0])]
        return [kept[0], *rest][: min(self._most, CONTENDERS)]

    @staticmethod
    def _front(history: History, attempts: Sequence[Attempt]) -> Attempt | None:
        front: Attempt | None = None
        for attempt in attempts:
            if history.runs(attempt) and (front is None or history.better(attempt, front)):
                front = attempt
        return front

    def _without_the_worse(self, history: History, alive: Sequence[Attempt]) -> list[Attempt]:
        """Those that run and are not clearly worse than the one in front."""
        front = self._front(history, alive)
        if front is None:
            return []
        return [
            attempt
            for attempt in alive
            if attempt is front or (history.runs(attempt) and not history.clearly_worse(attempt, front))
        ]

    def _worth_it(
        self, history: History, alive: Sequence[Attempt], key: str, block: int, *, first: bool
    ) -> bool:
        """Whether another block of episodes can still change something; decided once in a run."""
        found = self._spender.journal.find("decision", key)
        if found is not None:
            return bool(found)
        decision = self._is_open(history, alive, first=first) and self._can_pay(history, alive, block, first)
        self._spender.journal.add("decision", key, decision)
        return decision

    def _is_open(self, history: History, alive: Sequence[Attempt], *, first: bool) -> bool:
        if not alive:
            return False
        if len(alive) == 1:  # a new leader is looked at once; more often where it may end the search
            evidence = history.evidence(alive[0])
            solved = (
                self._threshold is not None
                and evidence.mean_return >= self._threshold
                and alive[0].id != history.leader_id
                and not _with_margin(evidence, self._threshold)
            )
            return solved or (first and not history.looks.get(alive[0].id))
        front = self._front(history, alive)
        if front is None:
            return False
        size = max(map(abs, history.evidence(front).returns), default=0.0)
        return any(history.against(attempt, front).open(size) for attempt in alive if attempt is not front)

    def _can_pay(self, history: History, alive: Sequence[Attempt], block: int, first: bool) -> bool:
        """The first block is what makes a result trustworthy; more is paid from what is left."""
        left = self._spender.ledger.steps_left()
        if left is None:
            return True
        lengths = [e.steps for attempt in alive for e in history.evidence(attempt).episodes]
        cost = len(alive) * block * (statistics.fmean(lengths) if lengths else self._horizon)
        return left > 0 if first else cost <= SHARE * left


def _with_margin(evidence: Evidence, threshold: float) -> bool:
    """Whether the mean is above the threshold beyond noise, over enough episodes."""
    margin = CLEAR * evidence.standard_error
    return len(evidence.episodes) >= ENOUGH and evidence.mean_return - margin >= threshold


def _outgrown(history: History, attempt: Attempt, attempts: Sequence[Attempt]) -> bool:
    """Whether its own structure with tuned numbers is better, so that nobody will return this one.

    Tuning has chosen these numbers on episodes of its own, so here it is enough that nothing speaks against them.
    """
    return any(
        child.candidate.tuned
        and attempt.id in child.candidate.parents
        and history.runs(child)
        and _not_worse(history.against(child, attempt))
        for child in attempts
    )


def _not_worse(difference: Difference) -> bool:
    return difference.verdict > 0 or (
        bool(difference.returns)
        and not difference.tie
        and difference.mean > 0
        and not any(s < 0 for s in difference.successes)
    )


def _copy(history: History, one: Attempt, other: Attempt) -> bool:
    """Whether one program is the other with other numbers, and behaves like it on the starts that both played."""
    mine, theirs = (Program.parse(attempt.candidate.source) for attempt in (one, other))
    if not mine.is_python or mine.skeleton != theirs.skeleton:
        return False
    return history.near(one, other, NEAR)
