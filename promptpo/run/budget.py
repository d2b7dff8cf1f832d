"""What environment steps go into: the one table by which a run's step budget is divided."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Purpose = Literal["training", "validation", "tuning", "experiments", "references", "teacher", "goal", "world"]


@dataclass(frozen=True, slots=True)
class Allotment:
    """One purpose's part of the step budget, in the whole run.

    Attributes:
        what: What the steps do, as a clause.
        share: Of the budget, at most, where the floor does not say more.
        floor: So many units in any case; where `optional`, nothing at all below it.
        cap: No more units than this.
        unit: What floor and cap count.
        optional: Whether a part below its floor is not spent.
    """

    what: str
    share: float
    floor: int
    cap: int
    unit: str
    optional: bool = False


TABLE: Mapping[Purpose, Allotment] = {
    "training": Allotment("try every policy", 0.2, 3, 10, "episodes of each"),
    "validation": Allotment("choose the best", 0.2, 5, 20, "episodes of each contender"),
    "tuning": Allotment(
        "tune numbers, with what the others leave", 1.0, 30, 40_000, "episodes a round", optional=True
    ),
    "experiments": Allotment("try things out", 0.05, 100, 1000, "steps of each", optional=True),
    "references": Allotment(
        "random actions and none, as marks", 0.02, 0, 20, "episodes of each", optional=True
    ),
    "teacher": Allotment("watch the trained agent", 0.1, 1, 10, "episodes"),
    "goal": Allotment("try a reward for the goal", 0.02, 50, 10_000, "steps of an episode"),
    "world": Allotment("learn a world model", 0.1, 0, 100_000, "steps", optional=True),
}
"""Test episodes are outside the budget. Training, validation and tuning are what a run is for; the shares of the others are
small enough that a run without them would not notice."""

TEST_SECONDS = 600.0
"""About how long the final test may take where nobody says of how many episodes it is to be: a planner may think for a
minute in each."""

TINY_EPISODE, MANY = 10.0, {"training": 100, "validation": 1000}
"""Where no horizon is set and episodes last fewer steps than this on average, as a hand of cards does, they cost next to
nothing and each tells next to nothing, so there are so many."""

UNLIMITED_STEPS = 100_000
"""Steps of one round's tuning where the run has no step limit."""

SHORT_EPISODE = 100
"""Steps that an episode without a horizon is taken to last, at least."""

UNBOUNDED_HORIZON = 10_000
"""Longest episode of an environment without a time limit of its own."""

LOOKS = {10: 100, 2: 25}
"""Episodes of an environment without a time limit may last so many times as long as those of random actions, where so many
of them are paid for."""


def units(purpose: Purpose, steps: int | None, each: int, cap: int | None = None) -> int:
    """How many units of a purpose the budget pays for.

    Args:
        purpose: Which row.
        steps: Of the whole budget; None without a limit.
        each: Steps that one unit costs in the worst case, in all the places where it is spent.
        cap: In place of the table's.
    """
    part = TABLE[purpose]
    most = part.cap if cap is None else cap
    if steps is None:
        return most
    paid = min(most, int(part.share * steps) // max(1, each))
    if part.optional:
        return paid if paid >= part.floor else 0
    return max(paid, min(part.floor, most))


def allotted(purpose: Purpose, steps: int | None) -> int | None:
    """Steps that a purpose may take in the whole run beside its floor; None without a limit."""
    return None if steps is None else int(TABLE[purpose].share * steps)


def affordable(left: int | None, candidates: int, *, each: int, look: int) -> int:
    """How many of a round's candidates the steps pay for: an answer that no steps are left to play is paid for nothing.

    Args:
        left: Steps of the run; None without a limit.
        candidates: That are wanted.
        each: Steps that one takes in training.
        look: Steps of a look at one on fresh starts, which the leader and another need besides.
    """
    return candidates if left is None else max(1, min(candidates, (left - 2 * look) // max(1, each)))


def tuning_steps(
    left: int | None, *, rounds: int, coming: int, length: float, learns: bool, looks: int = 0
) -> int:
    """Steps for tuning one round's candidates.

    Rounds get even parts of what later candidates and their judging do not need, the last at least half of what is there; a part
    that is too small to find anything stays for later rounds. Where nothing learns from the rounds, each gets all that is
    left: going on is worth more than beginning again.

    Args:
        left: Of the run; None without a limit.
        rounds: That are left, this one included.
        coming: Steps that the candidates of a round need in training and validation.
        length: Steps of an episode, about.
        learns: Whether a language model learns from the rounds.
        looks: Steps that are kept back to look at what comes out, of a quarter of what is left at most.
    """
    most = round(TABLE["tuning"].cap * length)
    if left is None:
        return min(most, UNLIMITED_STEPS)
    left -= min(left // 4, looks)
    if not learns:
        return min(most, left)
    paid = left // max(1, rounds) - coming
    if rounds <= 1:
        paid = max(paid, left // 2)
    return min(most, paid) if paid >= TABLE["tuning"].floor * length > 0 else 0


def longest_episode(steps: int | None, episodes: int, sampled: float) -> int:
    """Steps after which episodes of an environment without a time limit are cut.

    Args:
        steps: Of the whole budget; None without a limit.
        episodes: In which all policies are tried.
        sampled: Steps of an episode of random actions; infinite where none ended.
    """
    if steps is None:
        return UNBOUNDED_HORIZON
    found = [int(TABLE["training"].share * steps) // max(1, episodes), SHORT_EPISODE]
    if math.isfinite(sampled):
        found += [min(math.ceil(times * sampled), steps // paid) for times, paid in LOOKS.items()]
    return min(UNBOUNDED_HORIZON, max(found))


def in_words(steps: int | None, purposes: Mapping[Purpose, int]) -> str:
    """How the budget is divided, as one sentence, for people and for the model.

    Args:
        steps: Of the whole budget; None without a limit.
        purposes: That this run has, with the steps of each in the worst case.
    """
    if steps is None:
        return "Steps: no limit."
    others = {purpose: most for purpose, most in purposes.items() if most and purpose != "tuning"}
    said = [f"{most:,} ({most / steps:.0%}) {TABLE[purpose].what}" for purpose, most in others.items()]
    rest = steps - sum(others.values())
    if rest < 0:
        text = f"{steps:,} pay for {steps / sum(others.values()):.0%} of that if episodes are as long as they can be"
        return f"Steps: at most {', '.join(said)}; {text}."
    said += ["the others tune numbers"] if purposes.get("tuning") else []
    return f"Steps: of {steps:,} at most {', '.join(said)}."
