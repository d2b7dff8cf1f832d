"""What each sample of the next round is asked for, and which attempts it builds on."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from promptpo.run.config import Recipe
from promptpo.run.records import Attempt
from promptpo.search.history import History

Direction = Literal["first", "improve", "different", "fresh", "merge"]

STRATEGIES = (
    "the simplest rule that could work, with few numbers",
    "feedback control: errors, gains and limits on named quantities",
    "phases: a small state machine that remembers within the episode what has been achieved",
    "planning: predict a few steps ahead with a model of your own and choose the best action",
    "physics: energy, momentum or geometry worked out from the quantities observed",
    "a rhythm or schedule in time, corrected by the observation",
    "a table or decision list over a few well-chosen features",
)
"""Ways of solving a control task, asked for by name so that samples differ in kind."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What one sample of a round is asked for.

    Attributes:
        round: Counted from 1.
        slot: From 0.
        direction: The kind of request.
        strategy: A strategy named in the prompt; empty when left open.
        parents: The attempts to build on, best first.
        shown: The attempts whose code the prompt shows, best first.
        lines: Attempts mentioned in one line each, oldest first.
        reflections: What the model concluded after each round, oldest first.
        stalled: Rounds since the best improved.
        heading: What `shown` is, and in which order.
    """

    round: int
    slot: int
    direction: Direction
    strategy: str = ""
    parents: tuple[Attempt, ...] = ()
    shown: tuple[Attempt, ...] = ()
    lines: tuple[Attempt, ...] = ()
    reflections: tuple[str, ...] = ()
    stalled: int = 0
    heading: str = "Attempts so far, best first"


def plan_round(history: History, recipe: Recipe, *, candidates: int, seed: int) -> list[Plan]:
    """What to ask for in each sample of the next round.

    The paper's recipe asks N times for the same thing. The default recipe asks for improvements of the
    best in most samples and for another strategy in one; after a round without improvement half of the
    samples merge the two best and the others start afresh. The evolutionary recipe gives each sample an
    island and samples its parents by score and shortness (FunSearch, Romera-Paredes et al. 2023).
    """
    round_ = history.rounds + 1
    rng = random.Random(f"{seed} {round_}")  # noqa: S311 - no secret
    ranked = history.ranked()
    plans = []
    for slot in range(candidates):
        if recipe.history == "parents" and ranked:
            parents = shown = _parents(ranked, recipe, slot, round_, rng)
        elif recipe.history == "winners":
            shown = _winners(history)
            best = history.best()
            parents = (best,) if best else shown[-1:]
        else:
            shown = tuple(ranked[: recipe.best_k])
            parents = shown[:2]
        direction = _direction(history, recipe, slot, candidates, len(parents))
        if direction != "merge":
            parents = parents[:1] if recipe.history != "parents" else parents
        strategy = ""
        if recipe.directions and direction in {"first", "fresh", "different"}:
            strategy = STRATEGIES[(slot + (round_ - 1) * 3) % len(STRATEGIES)]
        if direction == "first" and slot == 0:
            strategy = ""  # one sample is always left to the model's own judgement
        plans.append(
            Plan(
                round_,
                slot,
                direction,
                strategy,
                parents,
                shown,
                _lines(history, recipe, shown),
                tuple(history.reflections),
                history.stalled,
                "The best of each round, oldest first"
                if recipe.history == "winners"
                else "Attempts so far, best first",
            )
        )
    return plans


def _direction(history: History, recipe: Recipe, slot: int, candidates: int, parents: int) -> Direction:
    if not history.attempts:
        return "first"
    if not recipe.directions or parents == 0:
        return "improve"
    if history.stalled and parents > 1 and slot % 2 == 0:
        return "merge"
    if history.stalled:
        return "fresh"
    return "different" if candidates > 2 and slot == candidates - 1 else "improve"  # noqa: PLR2004


def _winners(history: History) -> tuple[Attempt, ...]:
    """The best of each round, oldest first."""
    rounds = [history.of_round(n) for n in range(1, history.rounds + 1)]
    return tuple(max(attempts, key=Attempt.rank) for attempts in rounds if any(map(history.runs, attempts)))


def _lines(history: History, recipe: Recipe, shown: Sequence[Attempt]) -> tuple[Attempt, ...]:
    if not recipe.losers:
        return ()
    in_full = {attempt.id for attempt in shown}
    return tuple(a for a in history.attempts if a.id not in in_full)[-recipe.last_m :]


def island_of(attempt: Attempt, islands: int) -> int:
    """The island a candidate was born on: samples are dealt to islands in turn."""
    digits = attempt.id.split("c")[-1].rstrip("t") or "1"
    return (int(digits) - 1) % islands


def _parents(
    ranked: Sequence[Attempt], recipe: Recipe, slot: int, round_: int, rng: random.Random
) -> tuple[Attempt, ...]:
    """Parents for one sample: from its island, likelier when better and shorter; migrants now and then."""
    island = slot % recipe.islands
    pool = [a for a in ranked if island_of(a, recipe.islands) == island] or list(ranked)
    if recipe.islands > 1 and round_ % recipe.migrate_every == 0 and ranked[0] not in pool:
        pool = [ranked[0], *pool]
    chosen: list[Attempt] = []
    while pool and len(chosen) < recipe.best_k:
        longest = max(len(a.candidate.source) for a in pool)
        weights = [
            math.exp(-1.5 * place) * math.exp(-0.5 * len(a.candidate.source) / longest)
            for place, a in enumerate(pool)
        ]
        picked = rng.choices(pool, weights)[0]
        chosen.append(picked)
        pool = [a for a in pool if a is not picked]
    return tuple(sorted(chosen, key=ranked.index))
