"""The procedure of *Prompted Policy Optimization* (2026), as published, but for three things that are put right everywhere.

Round 1: N policies are drawn from one prompt, which shows the state space, the action space and the reward, not the dynamics. Each is
rolled out on five episodes; a class that the model wrote beforehand turns every one of them into text. The one with the best mean
return is the round's winner, and the model reflects on it.

Round 2 and later: the same prompt for all N, with the code and feedback of the winners of all rounds so far, and the reflections.
Nothing is tuned, compared again or ended early, and equal programs are rolled out each time.

Put right: the result is the best of the run by validation seeds and not the last winner, every episode has a policy of its own, and a
program that does not run loses instead of ending the run. docs/recipes.md says how to set N, rounds and episodes as in the paper.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptpo.core.candidate import Attempt
from promptpo.core.feature import Plan

if TYPE_CHECKING:
    from promptpo.core.feature import SearchContext
    from promptpo.core.history import History


def plan_round(context: SearchContext, history: History, candidates: int) -> list[Plan]:  # noqa: ARG001
    """Plan the requests of the next round: the same for all samples."""
    best = history.best()
    return [
        Plan(
            history.rounds + 1,
            slot,
            "improve" if history.attempts else "first",
            parents=(best,) if best else (),
            winners=_winners(history),
        )
        for slot in range(candidates)
    ]


def _winners(history: History) -> tuple[Attempt, ...]:
    """The best of each round, oldest first."""
    rounds = [history.of_round(n) for n in range(1, history.rounds + 1)]
    return tuple(max(attempts, key=_rank) for attempts in rounds if any(map(history.runs, attempts)))


def _rank(attempt: Attempt) -> tuple[float, ...]:
    """Sort key by training score, larger is better; ties go to the shorter source."""
    return *attempt.evaluation.score(), -len(attempt.candidate.source)
