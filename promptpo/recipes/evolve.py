"""The evolutionary recipe: parents from islands, favouring better and shorter programs (FunSearch, Romera-Paredes et al. 2023).

Samples are assigned to islands in turn. Each draws its parents from the programs of its own island; every few rounds the best of
the run may migrate to all islands.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from promptpo.core.candidate import CandidateId
from promptpo.core.feature import Plan, RequestKind

if TYPE_CHECKING:
    from promptpo.core.candidate import Attempt
    from promptpo.core.feature import SearchContext
    from promptpo.core.history import History

ISLANDS, PARENTS, MIGRATION_ROUNDS = 3, 2, 3
"""Number of populations, number of parents per sample, and rounds between migrations."""


def plan_round(context: SearchContext, history: History, candidates: int) -> list[Plan]:
    """Plan the request of each sample of the next round.

    Args:
        context: Context of the run.
        history: History of the run.
        candidates: Number of samples in the round.
    """
    round_, ranked = history.rounds + 1, history.ranking()
    rng = random.Random(f"{context.config.seed} {round_}")  # noqa: S311 - no secret
    plans = []
    for slot in range(candidates):
        parents = _draw_parents(ranked, slot, round_, rng) if ranked else ()
        kind: RequestKind = "improve" if history.attempts else "first"
        plans.append(Plan(round_, slot, kind, parents, slot + 1))
    return plans


def island_of(attempt: Attempt) -> int:
    """Return the island of a candidate."""
    place = CandidateId.parse(attempt.id)
    return (place.slot - 1) % ISLANDS if place else 0


def _draw_parents(
    ranked: Sequence[Attempt], slot: int, round_: int, rng: random.Random
) -> tuple[Attempt, ...]:
    """Draw the parents of one sample."""
    pool = [attempt for attempt in ranked if island_of(attempt) == slot % ISLANDS] or list(ranked)
    if round_ % MIGRATION_ROUNDS == 0 and ranked[0] not in pool:
        pool = [ranked[0], *pool]
    chosen: list[Attempt] = []
    while pool and len(chosen) < PARENTS:
        longest = max(len(attempt.candidate.source) for attempt in pool)
        weights = [
            math.exp(-1.5 * place) * math.exp(-0.5 * len(attempt.candidate.source) / longest)
            for place, attempt in enumerate(pool)
        ]
        picked = rng.choices(pool, weights)[0]
        chosen.append(picked)
        pool = [attempt for attempt in pool if attempt is not picked]
    return tuple(sorted(chosen, key=ranked.index))
