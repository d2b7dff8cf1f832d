"""The procedure of *Prompted Policy Optimization* (2026), as published except for three corrections.

Round 1: N policies are sampled from one prompt, which shows the state space, the action space and the reward, but not the dynamics.
Each is rolled out on five episodes, and a class written beforehand by the model turns each episode into text. The policy with the
best mean return wins the round, and the model reflects on it.

Round 2 and later: all N policies are sampled from the same prompt with the code and feedback of the winners of all rounds so far, and
the reflections. Nothing is tuned, validated again or stopped early, and equal programs are rolled out each time.

Corrections: the result is the best of the run on validation seeds instead of the last winner; every episode has its own policy object;
and a program that does not run loses instead of ending the run. docs/recipes.md says how to set N, rounds and episodes as in the paper.
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
    """Return the best of each round, oldest first."""
    rounds = [history.of_round(n) for n in range(1, history.rounds + 1)]
    return tuple(max(attempts, key=_rank) for attempts in rounds if any(map(history.runs, attempts)))


def _rank(attempt: Attempt) -> tuple[float, ...]:
    """Return a sort key by training score, larger is better; ties go to the shorter source."""
    return *attempt.evaluation.score(), -len(attempt.candidate.source)
