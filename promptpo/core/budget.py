"""The table that divides a run's step budget among the kinds of its events."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from promptpo.core.config import MOST_TRAINED, MOST_VALIDATED, Config

if TYPE_CHECKING:
    from promptpo.core.candidate import StepPurpose
    from promptpo.llm.base import LLM


Demand: TypeAlias = tuple[int | None, int, str]


@dataclass(frozen=True, slots=True)
class Allotment:
    """The part of the step budget that one kind of event has, in the whole run.

    Attributes:
        counted: What its steps are called in results.
        what: What the steps do, as a clause.
        share: Of the budget, at most, where the floor does not say more.
        floor: So many units in any case, in what its row says; where `optional`, nothing at all below it.
        cap: No more units than this.
        optional: Whether a part below its floor is not spent.
        demand: Steps that a run has for it, None without a limit, calls of the model that it takes at most, and a line of
            ``--estimate``, by the configuration, the model and the longest episode; None where it has no part. It begins nothing
            more once the steps are taken. What a run is for, training, validation and tuning, has none.
    """

    counted: StepPurpose
    what: str
    share: float
    floor: int
    cap: int
    optional: bool = False
    demand: Callable[[Config, LLM, int], Demand | None] = lambda *_: None


ALLOTMENTS: dict[str, Allotment] = {
    "evaluation": Allotment("train", "try each policy", 0.2, 3, MOST_TRAINED),  # episodes of each
    "validation": Allotment(
        "validation", "choose the best", 0.2, 5, MOST_VALIDATED
    ),  # episodes of each contender
    "tuning": Allotment(
        "tune", "tune parameters", 1.0, 30, 40_000, optional=True
    ),  # episodes a round, of what the others leave
}
"""By kind of event; features add their own. Events of kinds without one, as those of tests, are outside the budget. The shares of
features are small enough that a run without them would not notice."""

TEST_SECONDS = 600.0
"""About how long the final test may take where nobody says of how many episodes it is to be, by how long the first ones
took: a planner may think for a minute in each."""

TINY_EPISODE, MANY = 10.0, {"evaluation": 100, "validation": 1000}
"""Where no horizon is set and episodes last fewer steps than this on average, as a hand of cards does, they cost next to
nothing and each tells next to nothing, so there are so many."""

UNLIMITED_STEPS = 100_000
"""Steps of one round's tuning where the run has no step limit."""

SHORT_EPISODE = 100
"""Steps that an episode without a horizon is taken to last, at least."""

UNBOUNDED_HORIZON = 10_000
"""Longest episode of an environment without a time limit of its own."""

EPISODES_BY_LENGTH_RATIO = {10: 100, 2: 25}
"""Episodes of an environment without a time limit may last so many times as long as those of random actions, where so many
of them are paid for."""


SPEC_SHARE = 0.1
"""Of the steps, at most, for random actions that find out about the task before anything is asked."""


def spec_steps(steps: int | None) -> int | None:
    """Steps that finding out about the task may take; None without a limit."""
    return None if steps is None else int(SPEC_SHARE * steps)


def units(kind: str, steps: int | None, each: int, cap: int | None = None) -> int:
    """How many units of a kind of event the budget pays for.

    Args:
        kind: Of event.
        steps: Of the whole budget; None without a limit.
        each: Steps that one unit costs in the worst case, in all the places where it is spent.
        cap: In place of the table's.
    """
    part = ALLOTMENTS[kind]
    most = part.cap if cap is None else cap
    if steps is None:
        return most
    paid = min(most, int(part.share * steps) // max(1, each))
    if part.optional:
        return paid if paid >= part.floor else 0
    return max(paid, min(part.floor, most))


def step_allotment(kind: str, steps: int | None, each: int = 1, parts: int = 1) -> int | None:
    """Steps that a kind of event may take in the whole run, by its share or, where that is more, by its floor.

    Args:
        kind: Of event.
        steps: Of the whole budget; None without a limit, which gives None.
        each: As for `units`.
        parts: Into how many even ones they are divided.
    """
    if steps is None:
        return None
    return max(int(ALLOTMENTS[kind].share * steps), units(kind, steps, each) * each) // parts


def affordable(left: int | None, candidates: int, *, each: int, validation: int) -> int:
    """How many of a round's candidates the steps pay for: an answer that no steps are left to play is paid for nothing.

    Args:
        left: Steps of the run; None without a limit.
        candidates: That are wanted.
        each: Steps that one takes in training.
        validation: Steps of one on fresh starts, which the leader and another need besides.
    """
    return candidates if left is None else max(1, min(candidates, (left - 2 * validation) // max(1, each)))


def tuning_steps(
    left: int | None, *, rounds: int, coming: int, length: float, learns: bool, reserved: int = 0
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
        reserved: Steps that are kept back to evaluate what comes out, of a quarter of what is left at most.
    """
    most = round(ALLOTMENTS["tuning"].cap * length)
    if left is None:
        return min(most, UNLIMITED_STEPS)
    left -= min(left // 4, reserved)
    if not learns:
        return min(most, left)
    paid = left // max(1, rounds) - coming
    if rounds <= 1:
        paid = max(paid, left // 2)
    return min(most, paid) if paid >= ALLOTMENTS["tuning"].floor * length > 0 else 0


def division_rows(steps: int, division: Mapping[str, int], *, tunes: bool) -> list[str]:
    """How a budget of so many steps is divided, a line for each kind of event, with its steps in the worst case."""
    rows = [
        (f"{most:,}", f"{most / steps:.0%}", ALLOTMENTS[kind].what) for kind, most in division.items() if most
    ]
    rows += [("the rest", "", ALLOTMENTS["tuning"].what)] * tunes
    return [f"  {count:>10} {share:>5}  {what}" for count, share, what in rows]


PAPER_EPISODES = 5
"""Training episodes in the published procedure."""

IDENTICAL_EPISODES = 2
"""Episodes for each purpose where all are the same."""


def challengers(config: Config) -> int:
    """How many of a round's candidates may play validation starts."""
    return 1 if config.published else 2


def with_episodes(
    config: Config,
    horizon: int | None,
    sampled: float = math.inf,
    *,
    one_episode: bool = False,
    learns: bool = True,
) -> Config:
    """Decide how many episodes judge a candidate, where the user did not: as many as the budget's table pays for.

    A family of variants takes as many more as let every variant be played equally often.

    Args:
        config: As the user gave it.
        horizon: Longest episode in steps; None where the environment sets none, which are short ones.
        sampled: Mean steps of a few episodes of random actions.
        one_episode: Whether seeds change nothing, so that more episodes tell nothing more.
        learns: Whether a language model learns from them; what a library writes is tried once before it is tuned,
            since its programs do the same as long as their numbers are all zero.
    """
    if one_episode:
        return replace(
            config,
            episodes=IDENTICAL_EPISODES,
            validation_episodes=IDENTICAL_EPISODES,
            test_episodes=min(config.most_tested, IDENTICAL_EPISODES),
        )
    tiny = horizon is None and sampled < TINY_EPISODE
    if horizon is None:
        horizon = SHORT_EPISODE
        if math.isfinite(sampled):
            horizon = math.ceil(2 * sampled) if tiny else max(SHORT_EPISODE, math.ceil(sampled))
    rounds, steps = config.budget.rounds, config.budget.steps

    def episodes_for(kind: str, policies: int) -> int:
        return units(kind, steps, rounds * policies * horizon, MANY[kind] if tiny else None)

    train = PAPER_EPISODES if config.published else episodes_for("evaluation", config.candidates)
    validation = episodes_for("validation", challengers(config))
    turn = max(1, len(config.task.family))
    return replace(
        config,
        episodes=config.episodes or -(-(train if learns else 1) // turn) * turn,
        validation_episodes=config.validation_episodes or -(-validation // turn) * turn,
    )


def horizon_within(config: Config, horizon: int | None, sampled: float = math.inf) -> int:
    """Longest episode in steps: the environment's, or, where it has none, what the budget can pay for.

    Args:
        config: With its numbers of episodes decided.
        horizon: The environment's limit, or the user's; None where there is none.
        sampled: Steps of an episode of random actions; infinite where none ended.
    """
    steps = config.budget.steps
    if horizon is not None or steps is None:
        return horizon or UNBOUNDED_HORIZON
    episodes = config.budget.rounds * config.candidates * config.train_episodes
    found = [int(ALLOTMENTS["evaluation"].share * steps) // episodes, SHORT_EPISODE]
    if math.isfinite(sampled):
        found += [
            min(math.ceil(times * sampled), steps // paid) for times, paid in EPISODES_BY_LENGTH_RATIO.items()
        ]
    return min(UNBOUNDED_HORIZON, max(found))
