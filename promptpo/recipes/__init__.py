"""Recipes, which plan the requests of rounds; their other switches are in the tables `by_recipe`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from promptpo.core.config import RecipeName
    from promptpo.core.feature import PlanRound


def planner(recipe: RecipeName) -> PlanRound:
    """Return the function of a recipe that plans rounds, `plan_round` in its module."""
    name = "default" if recipe == "model" else recipe  # old name of the default recipe with a simulator
    return import_module(f"promptpo.recipes.{name}").plan_round  # type: ignore[no-any-return]
