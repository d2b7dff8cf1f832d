"""What a description could not find out, so that a person can say it before anything is paid for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gymnasium import spaces

if TYPE_CHECKING:
    from promptpo.spec.task_spec import TaskSpec


def gaps_in(spec: TaskSpec, sources: Mapping[str, str]) -> tuple[str, ...]:
    """What stays unknown, each a few words.

    Args:
        spec: With the spaces.
        sources: Part of the description to where it came from; "space" or "nothing found" where nothing else tells it.
    """
    action, array = spec.action_space, bool(spec.observation_space.shape)
    doing = (
        f"each of the {action.n} actions does"
        if isinstance(action, spaces.Discrete)
        else "the parts of the action do"
    )
    unknown = {
        "the numbers of the observation mean": array and sources["State"] == "space",
        doing: sources["Action"] == "space",
        "is rewarded": sources["reward"] == "nothing found",
    }
    return tuple(f"what {what}" for what, is_unknown in unknown.items() if is_unknown)
