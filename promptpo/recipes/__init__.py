"""Recipes: what a round asks for. The switches in which they differ besides have a table `by_recipe`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from promptpo.core.config import RecipeName
    from promptpo.core.feature import PlanRound


def planner(recipe: RecipeName) -> PlanRound:
    """The part of a recipe that plans rounds."""
    if recipe == "paper":
        from promptpo.recipes.paper import plan_round
    elif recipe == "evolve":
        from promptpo.recipes.evolve import plan_round
    else:
        from promptpo.recipes.default import plan_round
    return plan_round
