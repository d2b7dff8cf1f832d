"""Recipes: the switches in which the procedures differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from promptpo.core.settings import RunSetting

if TYPE_CHECKING:
    from promptpo.envs.task import Reveal

RecipeName = Literal["default", "paper", "evolve", "model"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """The switches in which the procedures differ; docs/recipes.md justifies each.

    Attributes:
        feedback_class: The model writes a class that summarises trajectories, before round 1.
        tune: Tune declared PARAMS.
        early_stop: End the search when the best reaches the threshold, or another round is not worth its calls and steps.
        probe: Let the model write experiments before the first round, and one in later rounds; see docs/experiments.md.
        probe_steps: Environment steps of an experiment, at most.
        simulated_steps: Steps in a simulator for each start of each program's tuning; going on takes eight times as many. Fewer where the simulator is slow.
    """

    feedback_class: bool = True
    tune: bool = True
    early_stop: bool = True
    probe: bool = True
    probe_steps: Annotated[int, RunSetting(least=1)] = 1000
    simulated_steps: Annotated[int, RunSetting(least=1000)] = 1_000_000


RECIPES: Mapping[RecipeName, Recipe] = {
    "default": Recipe(),
    "paper": Recipe(tune=False, early_stop=False, probe=False),
    "evolve": Recipe(feedback_class=False, probe=False),
    "model": Recipe(),  # an older name of --simulate
}

REVEALED: Mapping[RecipeName, Reveal] = {"paper": "named"}
"""What the model is shown of the environment where a recipe shows less than its source."""
