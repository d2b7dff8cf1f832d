"""The table that divides a run's step budget among its purposes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from promptpo.core.config import MOST_TRAINED, MOST_VALIDATED, Config

if TYPE_CHECKING:
    from promptpo.core.candidate import StepPurpose
    from promptpo.core.journal import Kind
    from promptpo.core.recipe import Recipe
    from promptpo.llm.base import LLM


BudgetRow = Literal[
    "training", "validation", "tuning", "experiments", "references", "teacher", "goal", "simulator"
]


@dataclass(frozen=True, slots=True)
class Allotment:
    """One purpose's part of the step budget, in the whole run.

    Attributes:
        kind: Of the journal's events that it pays for.
        counted: What their steps are counted as.
        what: What the steps do, as a clause.
        share: Of the budget, at most, where the floor does not say more.
        floor: So many units in any case, in what its row says; where `optional`, nothing at all below it.
        cap: No more units than this.
        optional: Whether a part below its floor is not spent.
    """

    kind: Kind
    counted: StepPurpose
    what: str
    share: float
    floor: int
    cap: int
    optional: bool = False


TABLE: Mapping[BudgetRow, Allotment] = {
    "training": Allotment("evaluation", "train", "try each policy", 0.2, 3, MOST_TRAINED),  # episodes of each
    "validation": Allotment(
        "validation", "validation", "choose the best", 0.2, 5, MOST_VALIDATED
    ),  # episodes of each contender
    "tuning": Allotment(
        "tuning", "tune", "tune parameters", 1.0, 30, 40_000, optional=True
    ),  # episodes a round, of what the others leave
    "experiments": Allotment(
        "probe", "probe", "run experiments", 0.05, 100, 1000, optional=True
    ),  # steps of each
    "references": Allotment(
        "reference",
        "reference",
        "reference policies: random, zero and constant actions",
        0.05,
        0,
        20,
        optional=True,
    ),  # episodes of each
    "teacher": Allotment("teacher", "reference", "watch the trained agent", 0.1, 1, 10),  # episodes
    "goal": Allotment(
        "reward", "probe", "try a reward for the goal", 0.02, 50, 10_000
    ),  # steps of an episode
    "simulator": Allotment("real", "probe", "fit and verify a simulator", 0.65, 0, 10_000),  # steps
}
"""What goes together: a row of the budget, a kind of event, and what steps are called in a result. Test episodes are outside
the budget. Training, validation and tuning are what a run is for; the shares of the others are small enough that a run
without them would not notice."""

ASIDE: tuple[BudgetRow, ...] = ("experiments", "references", "teacher", "goal", "simulator")
"""Purposes that begin nothing more once their own part is taken."""

GOAL_EPISODES = 10
"""Of policies that know nothing and of a first one, by two rewards that a goal's model may have written."""

TEST_SECONDS = 600.0
"""About how long the final test may take where nobody says of how many episodes it is to be, by how long the first ones
took: a planner may think for a minute in each."""

TINY_EPISODE, MANY = 10.0, {"training": 100, "validation": 1000}
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


def units(purpose: BudgetRow, steps: int | None, each: int, cap: int | None = None) -> int:
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


def step_allotment(purpose: BudgetRow, steps: int | None, each: int = 1, parts: int = 1) -> int | None:
    """Steps that a purpose may take in the whole run, by its share or, where that is more, by its floor.

    Args:
        purpose: Which row.
        steps: Of the whole budget; None without a limit, which gives None.
        each: As for `units`.
        parts: Into how many even ones they are divided.
    """
    if steps is None:
        return None
    return max(int(TABLE[purpose].share * steps), units(purpose, steps, each) * each) // parts


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


def division_rows(steps: int, purposes: Mapping[BudgetRow, int], *, tunes: bool) -> list[str]:
    """How a budget of so many steps is divided, a line for each purpose, with its steps in the worst case."""
    rows = [
        (f"{most:,}", f"{most / steps:.0%}", TABLE[purpose].what)
        for purpose, most in purposes.items()
        if most
    ]
    rows += [("the rest", "", TABLE["tuning"].what)] * tunes
    return [f"  {count:>10} {share:>5}  {what}" for count, share, what in rows]


PAPER_EPISODES = 5
"""Training episodes in the published procedure."""

IDENTICAL_EPISODES = 2
"""Episodes for each purpose where all are the same."""

FIRST_EXPERIMENTS = 3
"""Experiments of one answer, before the first round; later rounds may bring one each."""

LEAST_CALLS = 10
"""Where fewer calls are allowed, all of them go into policies."""


def experiments(rounds: int) -> int:
    """How many experiments there may be in a run: before the first round, and one in each but the first and the last."""
    return FIRST_EXPERIMENTS + max(0, rounds - 2)


def allowance(config: Config, llm: LLM) -> Recipe | None:
    """Limits of a run's experiments, as a recipe with the steps of each; None if none are offered.

    Args:
        config: What decides the run.
        llm: Who would be asked; program search writes no experiments.
    """
    recipe, budget = config.switches, config.budget
    if not recipe.probe or "probe" not in llm.capabilities.purposes:
        return None
    if {"probe", "probe_steps"} & set(config.recipe_options):
        return recipe
    if budget.calls is not None and budget.calls < LEAST_CALLS:
        return None
    steps = units("experiments", budget.steps, experiments(budget.rounds), recipe.probe_steps)
    return replace(recipe, probe_steps=steps) if steps else None


def simulates(config: Config, llm: LLM) -> bool:
    """Whether a simulator is written before the first round: by the model, or of learnt formulas where none is asked."""
    wanted = config.recipe == "model" if config.simulate is None else config.simulate
    return wanted and (not llm.capabilities.language_model or "simulator" in llm.capabilities.purposes)


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

    def episodes_for(purpose: Literal["training", "validation"], policies: int) -> int:
        return units(purpose, steps, rounds * policies * horizon, MANY[purpose] if tiny else None)

    train = PAPER_EPISODES if config.published else episodes_for("training", config.candidates)
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
    found = [int(TABLE["training"].share * steps) // episodes, SHORT_EPISODE]
    if math.isfinite(sampled):
        found += [
            min(math.ceil(times * sampled), steps // paid) for times, paid in EPISODES_BY_LENGTH_RATIO.items()
        ]
    return min(UNBOUNDED_HORIZON, max(found))
