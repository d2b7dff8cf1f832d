"""Recipes: what a round asks for. The switches in which they differ besides are in `promptpo.core.recipe`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptpo.recipes import default, evolve, paper

if TYPE_CHECKING:
    from promptpo.core.feature import PlanRound
    from promptpo.core.recipe import RecipeName


def planner(recipe: RecipeName) -> PlanRound:
    """The part of a recipe that plans rounds."""
    planners: dict[str, PlanRound] = {"paper": paper.plan_round, "evolve": evolve.plan_round}
    return planners.get(recipe, default.plan_round)
