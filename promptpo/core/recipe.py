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
        feedback_sees_all: That class sees actions, rewards and how the episode ended, not only observations.
        feedback_episodes: "typical" summarises the worst, the median and the best episode next to aggregates over
            all; "all" summarises each.
        reflection: A call between rounds that reflects on the last attempt.
        history: "winners" shows each round's winner, all of them; "best" shows the best few and the
            last few in a bounded prompt; "parents" shows parents sampled from an island.
        best_k: With "parents", how many are drawn.
        duplicates: Recognise sources with the same normalised syntax tree and do not roll them out again.
        racing: Episodes after which a candidate that can no longer win is given up; 0 rolls out all.
        directions: Ask for different things in different samples; let the model say that nothing better is possible.
        validate: How many of a round's candidates are scored on validation seeds.
        islands: Separate populations; 1 means one.
        migrate_every: Rounds between migrations of each island's best.
        tune: Tune declared PARAMS.
        early_stop: End the search when the best reaches the threshold, or another round is not worth its calls and steps.
        probe: Let the model write experiments before the first round, and one in later rounds; see docs/experiments.md.
        probe_episodes: Episodes of an experiment, at most.
        probe_steps: Environment steps of an experiment, at most.
        simulated_steps: Steps in a simulator for each start of each program's tuning; going on takes eight times as many. Fewer where the simulator is slow.
    """

    feedback_class: bool = True
    feedback_sees_all: bool = True
    feedback_episodes: Literal["typical", "all"] = "typical"
    reflection: bool = False
    history: Literal["winners", "best", "parents"] = "best"
    best_k: Annotated[int, RunSetting(least=1)] = 2
    duplicates: bool = True
    racing: Annotated[int, RunSetting(least=0)] = 3
    directions: bool = True
    validate: Annotated[int, RunSetting(least=1)] = 2
    islands: Annotated[int, RunSetting(least=1)] = 1
    migrate_every: Annotated[int, RunSetting(least=1)] = 3
    tune: bool = True
    early_stop: bool = True
    probe: bool = True
    probe_episodes: Annotated[int, RunSetting(least=1)] = 10
    probe_steps: Annotated[int, RunSetting(least=1)] = 1000
    simulated_steps: Annotated[int, RunSetting(least=1000)] = 1_000_000


RECIPES: Mapping[RecipeName, Recipe] = {
    "default": Recipe(),
    "paper": Recipe(
        feedback_sees_all=False,
        feedback_episodes="all",
        reflection=True,
        history="winners",
        duplicates=False,
        racing=0,
        directions=False,
        validate=1,
        tune=False,
        early_stop=False,
        probe=False,
    ),
    "evolve": Recipe(feedback_class=False, history="parents", islands=3, probe=False),
    "model": Recipe(),  # an older name of --simulate
}

REVEALED: Mapping[RecipeName, Reveal] = {"paper": "named"}
"""What the model is shown of the environment where a recipe shows less than its source."""
