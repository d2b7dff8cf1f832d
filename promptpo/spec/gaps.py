"""Gaps of a description, so that a person can fill them before anything is paid for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gymnasium import spaces

if TYPE_CHECKING:
    from promptpo.spec.task_spec import TaskSpec


def gaps_in(spec: TaskSpec, sources: Mapping[str, str]) -> tuple[str, ...]:
    """List what stays unknown, each in a few words.

    Args:
        spec: With the spaces.
        sources: Part of the description to where it came from; "space" or "nothing found" where nothing else tells it.
    """
    action, array = spec.action_space, bool(spec.observation_space.shape)
    doing = (
        f"what each of the {action.n} actions does"
        if isinstance(action, spaces.Discrete)
        else "names for the parts of the action"
    )
    unknown = {
        "names for the numbers of the observation": array and sources["State"] == "space",
        doing: sources["Action"] == "space",
        "what is rewarded": sources["reward"] == "nothing found",
    }
    return tuple(what for what, is_unknown in unknown.items() if is_unknown)
