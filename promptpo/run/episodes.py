"""How many episodes judge a candidate, and how long they are, where the user does not say."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

from promptpo.run.budget import MANY, SHORT_EPISODE, TINY_EPISODE, longest_episode, units
from promptpo.run.config import Config

PAPER_EPISODES = 5
"""Training episodes in the published procedure."""


ALIKE = 2
"""Episodes for each purpose where all are the same."""


def with_episodes(
    config: Config, horizon: int | None, sampled: float = math.inf, *, one_episode: bool = False
) -> Config:
    """Decide how many episodes judge a candidate, where the user did not: as many as the budget's table pays for.

    A family of variants takes as many more as let every variant be played equally often.

    Args:
        config: As the user gave it.
        horizon: Longest episode in steps; None where the environment sets none, which are short ones.
        sampled: Mean steps of a few episodes of random actions.
        one_episode: Whether seeds change nothing, so that more episodes tell nothing more.
    """
    if one_episode:
        return replace(
            config,
            episodes=ALIKE,
            validation_episodes=ALIKE,
            test_episodes=min(config.most_tested, ALIKE),
        )
    tiny = horizon is None and sampled < TINY_EPISODE
    if horizon is None:
        own = math.ceil(sampled) if math.isfinite(sampled) else 0
        horizon = math.ceil(2 * sampled) if tiny else max(SHORT_EPISODE, own)
    rounds, steps = config.budget.rounds, config.budget.steps

    def decided(purpose: Literal["training", "validation"], policies: int) -> int:
        return units(purpose, steps, rounds * policies * horizon, MANY[purpose] if tiny else None)

    train = PAPER_EPISODES if config.recipe == "paper" else decided("training", config.candidates)
    validation = decided("validation", config.switches.validate)
    turn = max(1, len(config.task.family))
    return replace(
        config,
        episodes=config.episodes or -(-train // turn) * turn,
        validation_episodes=config.validation_episodes or -(-validation // turn) * turn,
    )


def horizon_within(config: Config, horizon: int | None, sampled: float = math.inf) -> int:
    """Longest episode in steps: the environment's, or, where it has none, what the budget can pay for.

    Args:
        config: With its numbers of episodes decided.
        horizon: The environment's limit, or the user's; None where there is none.
        sampled: Steps of an episode of random actions.
    """
    if horizon is not None:
        return horizon
    policies = config.budget.rounds * config.candidates
    return longest_episode(config.budget.steps, policies * config.train_episodes, sampled)
