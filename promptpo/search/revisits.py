"""The leader's bad starts, played by those who may replace it: what became of what a request asked for.

A request says on which starts the leader does badly. Such starts are chosen for their outcome: whoever plays them again
does better there by regression to the mean alone. So what they earn there is no part of the score of who plays them.
It is told, start by start, and where the paired starts leave the order open it counts for as much as bad starts are
among all that the leader has played (post-stratification, see `promptpo.run.evidence.stratified`).
"""

from __future__ import annotations

import asyncio
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from promptpo.errors import BudgetSpentError
from promptpo.run.evidence import bad_starts
from promptpo.search.measuring import subject_of

if TYPE_CHECKING:
    from promptpo.rollouts.evaluation import EpisodeRecord
    from promptpo.run.records import Attempt
    from promptpo.run.spender import Spender
    from promptpo.search.history import History

MOST = 6
"""Bad starts that are played again at most: as many as a request names."""

SHARE = 0.15
"""Share of the steps that are left which one round may take for them: whoever is not played there was written in vain."""


ABOUT_STARTS = frozenset(["Robustness", "Success", "Lasting longer"])
"""Respects in which a request asks for better episodes on some starts."""


async def revisit(
    history: History,
    attempts: Sequence[Attempt],
    spender: Spender,
    *,
    horizon: int,
    round_: str,
) -> None:
    """Have candidates play the bad starts of the leader that they have not played, once in a run.

    Where the steps do not pay for all of them, those who were asked to come first, and of these the better ones.

    Args:
        history: All that is known; what they earn goes into its `revisits`.
        attempts: The candidates.
        spender: Rolls out.
        horizon: Longest episode, in steps.
        round_: Name of the round, in which it is decided who does: that depends on the steps that are left.
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
        left = spender.ledger.steps_left()
        found = _paid(history, [a for a in attempts if a.id in wanted], leader, wanted, left)
        spender.journal.add("decision", key, found)
    if isinstance(found, bool):  # of an earlier version: all or none
        found = list(wanted) if found else []

    async def play(attempt: Attempt, seeds: tuple[int, ...]) -> tuple[EpisodeRecord, ...]:
        name = f"{attempt.id}.{round_}"
        program = subject_of(attempt.candidate)
        played = await spender.roll_out("revisit", name, program, seeds, horizon=horizon)
        return played.evaluation.episodes if played.evaluation.outcome == "ok" else ()

    chosen = [attempt for attempt in attempts if attempt.id in wanted and attempt.id in found]
    done = await asyncio.gather(*(play(a, wanted[a.id]) for a in chosen), return_exceptions=True)
    for attempt, episodes in zip(chosen, done, strict=True):
        if not isinstance(episodes, BaseException):
            history.revisits[attempt.id] = (*history.revisits.get(attempt.id, ()), *episodes)
        elif not isinstance(episodes, BudgetSpentError):
            raise episodes


def _paid(
    history: History,
    attempts: Sequence[Attempt],
    leader: Attempt,
    wanted: Mapping[str, Sequence[int]],
    left: int | None,
) -> list[str]:
    """Who plays: as many as a share of the steps that are left pays for."""
    lengths = [episode.steps for episode in history.evidence(leader).episodes]
    room, paid = math.inf if left is None else SHARE * left, []
    for attempt in _most_promising_first(history, attempts, leader):
        cost = statistics.fmean(lengths) * len(wanted[attempt.id])
        if cost <= room:
            paid.append(attempt.id)
            room -= cost
    return paid


def _concerned(history: History, attempt: Attempt, leader: Attempt) -> bool:
    """Whether a candidate was asked for better bad starts, or may replace the leader.

    Whoever is behind on the starts that both played, but not behind what the leader earns on all its starts, may too.
    """
    if attempt is leader or attempt.candidate.duplicate_of or not history.runs(attempt):
        return False
    mine, best = history.evidence(attempt), history.evidence(leader)
    level = mine.mean_return >= best.mean_return
    return _asked(history, attempt, leader) or level or history.against(attempt, leader).verdict >= 0


def _asked(history: History, attempt: Attempt, leader: Attempt) -> bool:
    names = (attempt.id, *attempt.candidate.parents) if attempt.candidate.tuned else (attempt.id,)
    asked = [history.asked[name] for name in names if name in history.asked]
    return any(one.respect in ABOUT_STARTS and one.base == leader.id for one in asked)


def _most_promising_first(history: History, attempts: Sequence[Attempt], leader: Attempt) -> list[Attempt]:
    def promise(attempt: Attempt) -> tuple[bool, float]:
        return _asked(history, attempt, leader), history.evidence(attempt).mean_return

    return sorted(attempts, key=promise, reverse=True)
