"""Numbers and lengths of episodes, if the user does not set them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from promptpo.core.budget import ALLOTMENTS, affordable_units, challengers
from promptpo.core.config import Config

TINY_EPISODE, MANY = 10.0, {"evaluation": 100, "validation": 1000}
"""Without a horizon, episodes that on average last fewer steps than this, such as hands of cards, are cheap and noisy, so there are
this many."""

PAPER_EPISODES = 5
"""Training episodes in the published procedure."""

IDENTICAL_EPISODES = 2
"""Number of episodes for each purpose if all episodes are the same."""

SHORT_EPISODE = 100
"""Minimum assumed length of an episode without a horizon, in steps."""

UNBOUNDED_HORIZON = 10_000
"""Maximum episode length in an environment without a time limit, in steps."""

EPISODES_BY_LENGTH_RATIO = {10: 100, 2: 25}
"""Multiples of the length of random episodes to number of episodes: without a time limit, episodes may last the largest multiple for
which the budget pays for that many."""


SPEC_SHARE = 0.1
"""Maximum share of the steps for random actions that explore the task before the first request."""


def spec_steps(steps: int | None) -> int | None:
    """Return the maximum number of steps for exploring the task; None without a limit."""
    return None if steps is None else int(SPEC_SHARE * steps)


def division_rows(steps: int, division: Mapping[str, int], *, tunes: bool) -> list[str]:
    """Return a table of how a budget is divided: one line per kind of event, with its steps in the worst case."""
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
    """Set the numbers of episodes that the user did not: as many as the budget's table pays for.

    For a family of variants, the numbers are rounded up so that all variants are played equally often.

    Args:
        config: The user's configuration.
        horizon: Maximum episode length in steps; None if the environment sets none, as for short episodes.
        sampled: Mean length of a few episodes of random actions, in steps.
        one_episode: Whether seeds change nothing, so that further episodes add no information.
        learns: Whether a language model learns from the episodes; program search plays one before tuning, since its
            programs behave alike while all their numbers are zero.
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

    train = PAPER_EPISODES if config.follows_paper else episodes_for("evaluation", config.candidates)
    validation = episodes_for("validation", challengers(config))
    turn = max(1, len(config.task.family))
    return replace(
        config,
        episodes=config.episodes or -(-(train if learns else 1) // turn) * turn,
        validation_episodes=config.validation_episodes or -(-validation // turn) * turn,
    )


def horizon_within(config: Config, horizon: int | None, sampled: float = math.inf) -> int:
    """Return the maximum episode length in steps: the environment's or, without one, what the budget pays for.

    Args:
        config: Configuration with numbers of episodes decided.
        horizon: Limit set by the environment or the user; None without one.
        sampled: Mean length of episodes of random actions, in steps; infinite if none ended.
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
