"""The leader's bad starts, played by those who may replace it: what became of what a request asked for.

A request says on which starts the leader does badly. Such starts are chosen for their outcome: whoever plays them again
does better there by regression to the mean alone. So what they earn there is no part of the score of who plays them.
It is told, start by start, and where the paired starts leave the order open it counts for as much as bad starts are
among all that the leader has played (post-stratification, see `promptpo.run.evidence.stratified`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from promptpo.errors import BudgetSpentError
from promptpo.run.evidence import bad_starts

if TYPE_CHECKING:
    from promptpo.rollouts.evaluation import EpisodeRecord
    from promptpo.run.records import Attempt
    from promptpo.run.spender import Spender
    from promptpo.search.history import History
    from promptpo.search.sampler import Sampler

MOST = 6
"""Bad starts that are played again at most: as many as a request names."""

SHARE = 0.05
"""Share of the steps that are left which one round may take for them."""


ABOUT_STARTS = frozenset(["Robustness", "Success", "Lasting longer"])
"""Respects in which a request asks for better episodes on some starts."""


async def revisit(
    history: History,
    attempts: Sequence[Attempt],
    sampler: Sampler,
    spender: Spender,
    *,
    horizon: int,
    round_: str,
) -> None:
    """Have candidates play the bad starts of the leader that they have not played, once in a run; all of them or none.

    Args:
        history: All that is known; what they earn goes into its `revisits`.
        attempts: The candidates.
        sampler: Knows their programs.
        spender: Rolls out.
        horizon: Longest episode, in steps.
        round_: Name of the round, in which it is decided whether they do: that depends on the steps that are left.
    """
    key = f"{round_}.again"
    leader = history.find(history.leader_id)
    bad = bad_starts(history.evidence(leader)) if leader is not None else ()
    wanted = {
        attempt.id: tuple(s for s in bad if s not in history.seeds_of(attempt))
        for attempt in attempts
        if leader is not None and _concerned(history, attempt, leader)
    }
    wanted = {id_: seeds for id_, seeds in wanted.items() if seeds}
    if leader is None or not wanted or len(bad) > MOST:
        return
    found = spender.journal.find("decision", key)
    if found is None and spender.journal.find("round", round_) is not None:
        return  # a round of an earlier version
    if found is None:
        left, steps = spender.ledger.steps_left(), sum(e.steps for e in history.evidence(leader).episodes)
        length = steps / max(1, len(history.evidence(leader).episodes))
        cost = length * sum(map(len, wanted.values()))
        found = spender.journal.add("decision", key, left is None or cost <= SHARE * left).data
    if not found:
        return

    async def play(attempt: Attempt, seeds: tuple[int, ...]) -> tuple[EpisodeRecord, ...]:
        name = f"{attempt.id}.{round_}"
        program = sampler.subject(attempt.candidate)
        played = await spender.roll_out("revisit", name, program, seeds, horizon=horizon)
        return played.evaluation.episodes if played.evaluation.outcome == "ok" else ()

    chosen = [attempt for attempt in attempts if attempt.id in wanted]
    done = await asyncio.gather(*(play(a, wanted[a.id]) for a in chosen), return_exceptions=True)
    for attempt, episodes in zip(chosen, done, strict=True):
        if not isinstance(episodes, BaseException):
            history.revisits[attempt.id] = (*history.revisits.get(attempt.id, ()), *episodes)
        elif not isinstance(episodes, BudgetSpentError):
            raise episodes


def _concerned(history: History, attempt: Attempt, leader: Attempt) -> bool:
    """Whether a candidate was asked for better bad starts, or may replace the leader."""
    if attempt is leader or attempt.candidate.duplicate_of or not history.runs(attempt):
        return False
    names = (attempt.id, *attempt.candidate.parents) if attempt.candidate.tuned else (attempt.id,)
    asked = [history.asked[name] for name in names if name in history.asked]
    wanted = any(one.respect in ABOUT_STARTS and one.base == leader.id for one in asked)
    return wanted or history.against(attempt, leader).verdict >= 0
