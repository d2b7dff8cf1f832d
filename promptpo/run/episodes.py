"""How many episodes judge a candidate and how long they may last, where the user did not say."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from promptpo.core.budget import ALLOTMENTS, affordable_units, challengers
from promptpo.core.config import Config

TINY_EPISODE, MANY = 10.0, {"evaluation": 100, "validation": 1000}
"""Where no horizon is set and episodes last fewer steps than this on average, as a hand of cards does, they cost next to
nothing and each tells next to nothing, so there are so many."""

PAPER_EPISODES = 5
"""Training episodes in the published procedure."""

IDENTICAL_EPISODES = 2
"""Episodes for each purpose where all are the same."""

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


def division_rows(steps: int, division: Mapping[str, int], *, tunes: bool) -> list[str]:
    """How a budget of so many steps is divided, a line for each kind of event, with its steps in the worst case."""
    rows = [
        (f"{most:,}", f"{most / steps:.0%}", ALLOTMENTS[kind].what) for kind, most in division.items() if most
    ]
    rows += [("the rest", "", ALLOTMENTS["tuning"].what)] * tunes
    return [f"  {count:>10} {share:>5}  {what}" for count, share, what in rows]


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
            episodes=config.episodes or IDENTICAL_EPISODES,
            validation_episodes=config.validation_episodes or IDENTICAL_EPISODES,
            test_episodes=config.test_episodes or IDENTICAL_EPISODES,
        )
    tiny = horizon is None and sampled < TINY_EPISODE
    if horizon is None:
        horizon = SHORT_EPISODE
        if math.isfinite(sampled):
            horizon = math.ceil(2 * sampled) if tiny else max(SHORT_EPISODE, math.ceil(sampled))
    rounds, steps = config.budget.rounds, config.budget.steps

    def episodes_for(kind: str, policies: int) -> int:
        return affordable_units(kind, steps, rounds * policies * horizon, MANY[kind] if tiny else None)

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
