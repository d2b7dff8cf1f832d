"""The leader's worst start, looked at where training has shown nothing like it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from promptpo.errors import BudgetSpentError
from promptpo.program import Program
from promptpo.run.evidence import far_below
from promptpo.run.journal import from_json, to_json
from promptpo.run.records import Diagnosis

if TYPE_CHECKING:
    from promptpo.run.records import Attempt
    from promptpo.run.spender import Spender, Subject
    from promptpo.search.history import History
    from promptpo.telling.summaries import Summariser


def unseen(history: History, attempt: Attempt) -> int | None:
    """Seed of the worst validation episode that is far worse than the rest; None where training shows one like it."""
    episodes = history.evidence(attempt).episodes
    low = [episodes[i].seed for i in far_below([e.return_ for e in episodes])]
    trained = {e.seed for e in attempt.evaluation.episodes}
    if not low or 2 * len(low) >= len(episodes) or trained & set(low):
        return None
    return low[0]


async def show(
    history: History,
    program: Subject,
    spender: Spender,
    summariser: Summariser,
    *,
    horizon: int,
    needed: int = 0,
) -> None:
    """Play the leader's unseen bad start once more, and put what happened there first in its diagnosis.

    Costs one episode, once for each leader and start; nothing where steps are short.

    Args:
        history: Its leader is looked at.
        program: That of the leader.
        spender: Rolls out.
        summariser: Says what happened.
        horizon: Longest episode, in steps.
        needed: Episodes that the round's own programs are to play, for which steps are kept back.
    """
    best = history.best()
    seed = unseen(history, best) if best is not None else None
    told = best.diagnosis.of("worst", "typical") if best is not None else None
    if best is None or seed is None or (told is not None and told.seed == seed):
        return
    key = f"{Program.parse(best.candidate.source).digest}.start{seed}"
    found: Mapping[str, Any] | None = spender.journal.find("feedback", key)
    if found is None:
        left = spender.ledger.steps_left()
        if left is not None and left < (2 + needed) * horizon:
            return
        try:
            played = await spender.roll_out(
                "validation", key, program, [seed], horizon=horizon, record=summariser.record
            )
        except BudgetSpentError:
            return
        rollout = played.rollout or await spender.again(
            key, program, [seed], horizon=horizon, record=summariser.record
        )
        text, diagnosis = await summariser.summarise(rollout, played.evaluation)
        found = {"text": text, "diagnosis": to_json(diagnosis)}
        spender.journal.add("feedback", key, found)
        spender.told(key)
    seen = from_json(Diagnosis, found["diagnosis"])
    place = history.attempts.index(best)
    history.attempts[place] = replace(best, diagnosis=_merged(seen, best.diagnosis))


def _merged(seen: Diagnosis, before: Diagnosis) -> Diagnosis:
    """What was seen as the worst episode, and the others that training has shown."""
    worst = tuple(replace(told, role="worst") for told in seen.episodes[:1])
    others = tuple(told for told in before.episodes if told.role not in {"worst", "low"})
    every = (*seen.rewards, *before.rewards)
    rewards = (min(every), max(every)) if every else ()
    return replace(seen, episodes=(*worst, *others), rewards=rewards) if worst else before
