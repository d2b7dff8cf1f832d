"""Recipes: what a round asks for. The switches in which they differ besides have a table `by_recipe`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from promptpo.core.config import RecipeName
    from promptpo.core.feature import PlanRound


def planner(recipe: RecipeName) -> PlanRound:
    """The part of a recipe that plans rounds, `plan_round` in the recipe's module."""
    name = "default" if recipe == "model" else recipe  # an older name of the default recipe with a simulator
    return import_module(f"promptpo.recipes.{name}").plan_round  # type: ignore[no-any-return]
