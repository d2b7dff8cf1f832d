"""The candidates of a run so far: which is best, and which the next prompt builds on."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from promptpo.run.config import Recipe
from promptpo.run.records import Attempt, Evaluation

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
        reflection: What the model concluded from the last attempt.
        stalled: Rounds since the best improved.
    """

    round: int
    slot: int
    direction: Direction
    strategy: str = ""
    parents: tuple[Attempt, ...] = ()
    shown: tuple[Attempt, ...] = ()
    lines: tuple[Attempt, ...] = ()
    reflection: str = ""
    stalled: int = 0


@dataclass
class History:
    """All attempts, their validation scores, and the rounds.

    Attributes:
        attempts: Oldest first; inside a round by slot, so that arrival order never matters.
        validations: Candidate id to its evaluation on validation seeds.
        rounds: How many rounds are complete.
        stalled: Rounds since the best improved.
        reflection: What the model concluded from the last attempt.
        arrived: Attempts of the round in progress by slot; they join `attempts` when it is complete, so
            that nothing depends on the order in which answers come.
    """

    attempts: list[Attempt] = field(default_factory=list)
    arrived: dict[int, Attempt] = field(default_factory=dict)
    validations: dict[str, Evaluation] = field(default_factory=dict)
    rounds: int = 0
    stalled: int = 0
    reflection: str = ""

    def absorb(self) -> list[Attempt]:
        """Move what has arrived into `attempts`, by slot, and return it."""
        arrived = [self.arrived[slot] for slot in sorted(self.arrived)]
        self.attempts.extend(arrived)
        self.arrived.clear()
        return arrived

    def by_id(self) -> Mapping[str, Attempt]:
        """Attempts by candidate id."""
        return {attempt.id: attempt for attempt in self.attempts}

    def of_round(self, n: int) -> list[Attempt]:
        """The attempts of one round."""
        return [attempt for attempt in self.attempts if attempt.candidate.round == n]

    def ranked(self) -> list[Attempt]:
        """Attempts that ran, best on training seeds first, each source once."""
        ranked = sorted(filter(runs, self.attempts), key=Attempt.rank, reverse=True)
        return list({a.candidate.digest or a.id: a for a in reversed(ranked)}.values())[::-1]

    def best(self) -> Attempt | None:
        """The best of the run by validation; None while nothing is validated."""
        validated = [
            a for a in self.attempts if a.id in self.validations and is_number(self.validations[a.id])
        ]
        if not validated:
            return None
        return max(
            validated,
            key=lambda a: (*self.validations[a.id].score(), -len(a.candidate.source)),
        )

    def best_validation(self) -> Evaluation | None:
        """The validation evaluation of `best`."""
        best = self.best()
        return None if best is None else self.validations[best.id]


def runs(attempt: Attempt) -> bool:
    """Whether the candidate ran to the end with a finite mean return."""
    return is_number(attempt.evaluation)


def is_number(evaluation: Evaluation) -> bool:
    """Whether an evaluation may win anything."""
    return evaluation.outcome == "ok" and math.isfinite(evaluation.mean_return)


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
        direction = _direction(history, recipe, slot, candidates, len(ranked))
        strategy = ""
        if recipe.directions and direction in {"first", "fresh", "different"}:
            strategy = STRATEGIES[(slot + (round_ - 1) * 3) % len(STRATEGIES)]
        if direction == "first" and slot == 0:
            strategy = ""  # one sample is always left to the model's own judgement
        if recipe.history == "parents" and ranked:
            parents = _parents(history, recipe, slot, round_, rng)
            shown = parents
        elif recipe.history == "winners":
            parents = shown = _winners(history)
        else:
            shown = tuple(ranked[: recipe.best_k])
            parents = shown[: 2 if direction == "merge" else 1]
        lines = _lines(history, recipe, shown)
        plans.append(
            Plan(
                round_, slot, direction, strategy, parents, shown, lines, history.reflection, history.stalled
            )
        )
    return plans


def _direction(history: History, recipe: Recipe, slot: int, candidates: int, ran: int) -> Direction:
    if history.rounds == 0 or not history.attempts:
        return "first"
    if not recipe.directions or ran == 0:
        return "improve"
    if history.stalled and ran > 1 and slot % 2 == 0:
        return "merge"
    if history.stalled:
        return "fresh"
    return "different" if candidates > 2 and slot == candidates - 1 else "improve"  # noqa: PLR2004


def _winners(history: History) -> tuple[Attempt, ...]:
    winners = [max(attempts, key=Attempt.rank) for attempts in _rounds(history) if any(map(runs, attempts))]
    return tuple(reversed(winners))


def _rounds(history: History) -> list[list[Attempt]]:
    return [history.of_round(n) for n in range(1, history.rounds + 1)]


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
    history: History, recipe: Recipe, slot: int, round_: int, rng: random.Random
) -> tuple[Attempt, ...]:
    """Parents for one sample: from its island, likelier when better and shorter; migrants now and then."""
    ranked = history.ranked()
    island = slot % recipe.islands
    pool = [a for a in ranked if island_of(a, recipe.islands) == island] or ranked
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
    return tuple(sorted(chosen, key=Attempt.rank, reverse=True))
