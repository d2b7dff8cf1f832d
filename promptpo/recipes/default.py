"""The default recipe: diverse requests.

At least half of a round's requests refine: the first refines the leader, each other one a program drawn by its probability of
being the best. One request explores a new structure; two do if the leader came from exploring.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from promptpo.core.candidate import CandidateId
from promptpo.core.feature import Plan, RequestKind

if TYPE_CHECKING:
    from promptpo.core.candidate import Attempt
    from promptpo.core.feature import SearchContext
    from promptpo.core.history import History


def plan_round(context: SearchContext, history: History, candidates: int) -> list[Plan]:
    """Plan the request of each sample of the next round.

    Args:
        context: Context of the run.
        history: History of the run.
        candidates: Number of samples in the round.
    """
    round_, ranked = history.rounds + 1, history.ranking()
    rng = random.Random(f"{context.config.seed} {round_}")  # noqa: S311 - no secret
    seen: Counter[RequestKind] = Counter()
    plans = []
    for slot, kind in enumerate(_kinds(history, candidates, ranked)):
        parents = tuple(ranked[:1])
        if slot and ranked and kind in {"improve", "merge"}:
            parents = _draw_parent(history, kind, rng)
        seen[kind] += 1
        plans.append(Plan(round_, slot, kind, parents, seen[kind]))
    return plans


def _kinds(history: History, candidates: int, ranked: Sequence[Attempt]) -> list[RequestKind]:
    """Return the kinds of request in a round, by slot: at least half refine."""
    if not history.attempts:
        return ["first"] * candidates
    if not ranked:
        return ["improve"] * candidates
    explore = min(candidates // 2, 1 + _is_new_structure(history, ranked[0], candidates)) or min(
        1, history.stalled
    )
    refine: list[RequestKind] = ["improve", "merge"] if history.runner_up() else ["improve"]
    if history.unlucky(ranked[0]):
        refine.insert(1, "worst_initial_states")
    elsewhere: list[RequestKind] = ["new_structure"] * explore
    return [*(refine * candidates)[: candidates - explore], *elsewhere]


def _is_new_structure(history: History, leader: Attempt, candidates: int) -> bool:
    """Whether the leader comes from the last round's request for a new structure, which has the last slot."""
    written = (
        leader.candidate.parents[0] if leader.candidate.tuned and leader.candidate.parents else leader.id
    )
    return history.rounds > 1 and written == str(CandidateId(history.rounds, candidates))


def _draw_parent(history: History, kind: RequestKind, rng: random.Random) -> tuple[Attempt, ...]:
    """Return the parents of a request: leader and runner-up for "merge", otherwise one by its probability of being the best."""
    best, second = history.best(), history.runner_up()
    if kind == "merge" and best is not None and second is not None:
        return best, second
    likely = history.chances
    id_ = rng.choices(list(likely), list(likely.values()))[0]
    return tuple(attempt for attempt in history.attempts if attempt.id == id_)
