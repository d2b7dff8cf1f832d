"""World models written without a language model: short formulas for moving numbers, counts for a few states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium

from promptpo.world.baseline.formulas import suits_formulas, write_formulas
from promptpo.world.baseline.tables import suits_tables, write_table
from sandbox import Recorded

__all__ = ["can_write", "write_world"]


def can_write(observation_space: gymnasium.Space[Any], action_space: gymnasium.Space[Any]) -> bool:
    """Whether a model of such a task can be written here at all."""
    return suits_tables(observation_space, action_space) or suits_formulas(observation_space, action_space)


def write_world(
    observation_space: gymnasium.Space[Any],
    action_space: gymnasium.Space[Any],
    episodes: Sequence[Recorded],
    *,
    curious: bool = False,
) -> str:
    """The source of a world model that is fitted to episodes; empty where this cannot write one.

    Args:
        observation_space: Of the task; Discrete and small combinations of it become a table, others formulas.
        action_space: Of the task: Discrete, MultiDiscrete, MultiBinary or a Box.
        episodes: What it is fitted to.
        curious: Give a reward of 1 for what the episodes have not shown yet, instead of the task's reward.
    """
    if not episodes:
        return ""
    table = write_table(observation_space, action_space, episodes, curious=curious)
    return table or write_formulas(observation_space, action_space, episodes, curious=curious)
