"""What each sample of the next round is asked for, and which attempts it builds on."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from promptpo.program import Program
from promptpo.run.config import Recipe
from promptpo.run.records import Attempt
from promptpo.search.history import History
from promptpo.search.respects import merger, respects
from promptpo.search.strategies import open_strategies, tried_strategies
from promptpo.spec.promises import promises
from promptpo.telling.promises import EARN, to_earn

if TYPE_CHECKING:
    from promptpo.spec import TaskSpec

Direction = Literal["first", "improve", "different", "fresh", "merge"]

DIFFERENT_FROM = 3
"""From so many samples on, one looks elsewhere while the others refine."""

STALLED = 2
"""After so many rounds without gain all samples but one look elsewhere."""


TWO_PROGRAMS = 9000
"""Characters that two programs may have together to be printed in one prompt, for a merger."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What one sample of a round is asked for.

    Attributes:
        round: Counted from 1.
        slot: From 0.
        direction: The kind of request.
        strategy: A strategy named in the prompt; empty when left open.
        unlike: Strategies that were tried, where none is open: the answer is to take another structure.
        parents: The attempts to build on, best first.
        shown: The winners whose code the prompt of the published procedure shows, oldest first.
        lines: Attempts mentioned in one line each, oldest first.
        reflections: What the model concluded after each round, oldest first.
        stalled: Rounds since the best improved.
        aspect: In which respect to improve, or what either program of a merger is better at.
        final: Whether the numbers of this round's programs are final, though programs like these are tuned
            elsewhere: nothing is left to tune them with.
        variant: What sets this request apart from another that asks for the same.
        winners: Whether the prompt is that of the published procedure.
        places: Whether the first prompt says where the run is.
        asks_strategies: Whether the answer is to name strategies that suit the task.
        may_end: Whether the model may say that the task is at its ceiling.
    """

    round: int
    slot: int
    direction: Direction
    strategy: str = ""
    unlike: tuple[str, ...] = ()
    parents: tuple[Attempt, ...] = ()
    shown: tuple[Attempt, ...] = ()
    lines: tuple[Attempt, ...] = ()
    reflections: tuple[str, ...] = ()
    stalled: int = 0
    aspect: str = ""
    final: bool = False
    variant: str = ""
    winners: bool = False
    places: bool = False
    asks_strategies: bool = False
    may_end: bool = False

    @property
    def respect(self) -> str:
        """The respect in which to improve, in one or two words."""
        return self.aspect.partition(":")[0] if self.direction == "improve" else ""


def plan_round(
    history: History,
    recipe: Recipe,
    *,
    candidates: int,
    seed: int,
    spec: TaskSpec | None = None,
    tunable: bool = True,
) -> list[Plan]:
    """What to ask for in each sample of the next round.

    The paper's recipe asks N times for the same thing. In the others no two requests of a round are the
    same: most samples improve the best in a respect that the evidence suggests, one may merge two programs,
    one tries another strategy; after a round without gain every other sample starts afresh, after two all
    but one do. A round whose numbers can no longer be tuned refines what there is instead, and asks at most one sample for
    something new, of a kind that needs no tuning. The evolutionary recipe gives each sample an island and samples its parents by score and shortness
    (FunSearch, Romera-Paredes et al. 2023).

    Args:
        history: What is known.
        recipe: The procedure.
        candidates: Samples of the round.
        seed: Of the run.
        spec: The task, which decides what respects and strategies suit it.
        tunable: Whether steps are left to tune the numbers of this round's programs.
    """
    round_ = history.rounds + 1
    if recipe.history == "winners":
        return [_as_published(history, round_, slot) for slot in range(candidates)]
    rng = random.Random(f"{seed} {round_}")  # noqa: S311 - no secret
    ranked = [a for a in history.ranked() if a.id not in history.alike]
    final = not tunable and any(Program.parse(a.candidate.source).params for a in history.attempts)
    plans = []
    for slot in range(candidates):
        if recipe.history == "parents" and ranked:
            parents = _parents(ranked, recipe, slot, round_, rng)
        else:
            parents = tuple(ranked[: recipe.best_k])
        direction = _direction(history, recipe, slot, candidates, parents)
        if final and direction in {"different", "fresh"} and (slot < candidates - 1 or candidates == 1):
            direction = "improve"
        plans.append(
            Plan(
                round_,
                slot,
                direction,
                parents=parents,
                lines=history.attempts_but(parents[:1])[-recipe.last_m :] if recipe.losers else (),
                stalled=history.stalled,
                final=final,
                places=True,
                may_end=recipe.directions and bool(parents),
            )
        )
    if recipe.directions:
        plans = _dealt(plans, history, spec)
    first = plans[0]
    plans[0] = replace(
        first,
        asks_strategies=recipe.directions and first.direction == "first",
    )
    return _apart(plans)


def _as_published(history: History, round_: int, slot: int) -> Plan:
    """The published procedure's request: the same for all samples."""
    winners = _winners(history)
    best = history.best()
    return Plan(
        round_,
        slot,
        "improve" if history.attempts else "first",
        parents=(best,) if best else (),
        shown=winners,
        reflections=tuple(history.reflections),
        stalled=history.stalled,
        winners=True,
    )


def _direction(
    history: History, recipe: Recipe, slot: int, candidates: int, parents: Sequence[Attempt]
) -> Direction:
    if not history.attempts:
        return "first"
    if not recipe.directions or not parents:
        return "improve"
    if history.stalled >= STALLED and (slot or candidates == 1):
        return "fresh"
    partner = _partner(parents, history)
    if history.stalled:
        return "fresh" if slot % 2 else ("merge" if partner and slot == 0 else "improve")
    if candidates < DIFFERENT_FROM:
        return "improve"
    if slot == candidates - 1:
        return "different"
    return "merge" if partner and slot == candidates - 2 else "improve"


def _partner(parents: Sequence[Attempt], history: History) -> Attempt | None:
    """The best of the others that differs from the first in more than its numbers, has something to give, and is short.

    What two programs give together is asked for once.
    """
    mine = parents[0].candidate.source
    merged = [{one.base, one.other} for one in history.asked.values() if one.direction == "merge"]
    return next(
        (
            a
            for a in parents[1:]
            if {parents[0].id, a.id} not in merged
            and merger(history, parents[0], a)
            and Program.parse(a.candidate.source).skeleton != Program.parse(mine).skeleton
            and len(mine) + len(a.candidate.source) <= TWO_PROGRAMS
        ),
        None,
    )


def _dealt(plans: Sequence[Plan], history: History, spec: TaskSpec | None) -> list[Plan]:
    """Give each request its respect or its strategy: one that was not asked for, or not tried, comes first."""
    missing = to_earn(promises(spec.text), history) if spec is not None else ""
    strategies = iter([*([EARN] if missing else []), *open_strategies(history, spec)])
    improving = 0
    dealt = []
    for plan in plans:
        parents, strategy, aspect = plan.parents[:1], "", ""
        unlike: tuple[str, ...] = ()
        if plan.direction == "improve" and parents:
            one_start = spec is not None and spec.one_start
            open_ = _by_novelty(respects(history, parents[0], final=plan.final, one_start=one_start), history)
            open_ = [missing, *open_] if missing else open_
            aspect = open_[improving % len(open_)]
            improving += 1
        elif plan.direction == "merge":
            partner = _partner(plan.parents, history)
            if partner is not None:
                parents, aspect = (parents[0], partner), merger(history, parents[0], partner)
        elif plan.direction != "improve" and not (plan.direction == "first" and plan.slot == 0):
            # One sample of the first round is left to the model's own judgement.
            strategy = next(strategies, "")
            unlike = () if strategy or plan.direction == "first" else tried_strategies(history)
        may_end = plan.may_end and not missing  # what nobody has earned is no ceiling
        dealt.append(
            replace(plan, parents=parents, strategy=strategy, unlike=unlike, aspect=aspect, may_end=may_end)
        )
    return dealt


def _by_novelty(texts: Sequence[str], history: History) -> list[str]:
    """Respects, those that were asked for least often first."""
    asked = Counter(one.respect for one in history.asked.values())
    return sorted(texts, key=lambda text: asked[text.partition(":")[0]])


def _apart(plans: Sequence[Plan]) -> list[Plan]:
    """The plans, those that ask for the same told apart."""
    asked: dict[tuple[object, ...], int] = {}
    apart = []
    for plan in plans:
        what = (plan.direction, plan.strategy, plan.aspect, *(parent.id for parent in plan.parents))
        asked[what] = n = asked.get(what, 0) + 1
        variant = ""
        if n > 1:
            variant = (
                f"This is request {n} of this kind in the round: leave the change that comes to mind first to "
                "the others, and make another one."
                if plan.direction != "first"
                else f"This is program {n} of this kind in the round: leave the version that comes to mind first "
                "to the others, and build it on other quantities or another order of decisions."
            )
        apart.append(replace(plan, variant=variant))
    return apart


def _winners(history: History) -> tuple[Attempt, ...]:
    """The best of each round, oldest first."""
    rounds = [history.of_round(n) for n in range(1, history.rounds + 1)]
    return tuple(max(attempts, key=Attempt.rank) for attempts in rounds if any(map(history.runs, attempts)))


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
