"""How many experiments a run may make, and how many environment steps each of them may take."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from promptpo.run.budget import units

if TYPE_CHECKING:
    from promptpo.llm.base import LLM
    from promptpo.run.config import Config

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
