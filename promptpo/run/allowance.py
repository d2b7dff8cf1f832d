"""What a budget allows a run: how many episodes judge a candidate and how long they are, where the user does not say, and experiments."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from promptpo.run.budget import MANY, SHORT_EPISODE, TINY_EPISODE, longest_episode, units

if TYPE_CHECKING:
    from promptpo.llm.base import LLM
    from promptpo.run.config import Config

PAPER_EPISODES = 5
"""Training episodes in the published procedure."""

ALIKE = 2
"""Episodes for each purpose where all are the same."""

FIRST = 3
"""Experiments of one answer, before the first round; later rounds may bring one each."""

SHORT = 10
"""Episodes of one, where they end by themselves so early that its steps pay for more than were planned."""

LEAST_CALLS = 10
"""Where fewer calls are allowed, all of them go into policies."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What experiments may take.

    Attributes:
        episodes: Of each; of those that end early there may be more.
        steps: Of each in all its episodes, at most, those of a version that was repaired included.
        rounds: Of the run; all but the first and the last may bring one more.
        short: Episodes of each at most, where they end by themselves early.
    """

    episodes: int
    steps: int
    rounds: int
    short: int

    def longest(self, horizon: int) -> int:
        """Steps of an episode at most: all of it where the steps pay for one; else they are shared out."""
        return horizon if horizon <= self.steps else self.steps // self.episodes

    @property
    def experiments(self) -> int:
        """How many there may be in the whole run."""
        return FIRST + max(0, self.rounds - 2)

    @property
    def all_steps(self) -> int:
        """Environment steps of all of them, at most."""
        return self.experiments * self.steps


def allowance(config: Config, llm: LLM) -> Allowance | None:
    """What experiments may take in a run; None where none are offered.

    Args:
        config: What decides the run.
        llm: Who would be asked; program search writes no experiments.
    """
    recipe, budget = config.switches, config.budget
    if not recipe.probe or not llm.language_model or "probe" not in llm.purposes:
        return None
    wished = bool({"probe", "probe_steps"} & set(config.recipe_options))
    own = "probe_episodes" in config.recipe_options
    short = recipe.probe_episodes if own else max(SHORT, recipe.probe_episodes)
    found = Allowance(recipe.probe_episodes, recipe.probe_steps, budget.rounds, short)
    if wished:
        return found
    if budget.calls is not None and budget.calls < LEAST_CALLS:
        return None
    steps = units("experiments", budget.steps, found.experiments, found.steps)
    return replace(found, steps=steps) if steps else None


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
        learns: Whether a language or a world model learns from them; what a library writes is tried once before it is tuned,
            since its programs do the same as long as their numbers are all zero.
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
        horizon = SHORT_EPISODE
        if math.isfinite(sampled):
            horizon = math.ceil(2 * sampled) if tiny else max(SHORT_EPISODE, math.ceil(sampled))
    rounds, steps = config.budget.rounds, config.budget.steps

    def decided(purpose: Literal["training", "validation"], policies: int) -> int:
        return units(purpose, steps, rounds * policies * horizon, MANY[purpose] if tiny else None)

    train = PAPER_EPISODES if config.recipe == "paper" else decided("training", config.candidates)
    validation = decided("validation", config.switches.validate)
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
        sampled: Steps of an episode of random actions.
    """
    if horizon is not None:
        return horizon
    policies = config.budget.rounds * config.candidates
    return longest_episode(config.budget.steps, policies * config.train_episodes, sampled)
