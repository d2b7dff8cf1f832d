"""What a description could not find out, so that a person can say it before anything is paid for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gymnasium import spaces

if TYPE_CHECKING:
    from promptpo.spec.task_spec import TaskSpec


def gaps_in(spec: TaskSpec, sources: Mapping[str, str], *, named_actions: bool) -> tuple[str, ...]:
    """What stays unknown, each a few words.

    Args:
        spec: With the spaces.
        sources: Part of the description to where it came from.
        named_actions: Whether each of a few discrete actions has a meaning.
    """
    found = []
    space, action_space = spec.observation_space, spec.action_space
    if (
        isinstance(space, spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary)
        and sources["State"] == "space"
    ):
        found.append("what the numbers of the observation mean")
    if isinstance(action_space, spaces.Discrete) and not named_actions and sources["Action"] != "user":
        found.append(f"what each of the {action_space.n} actions does")
    elif not isinstance(action_space, spaces.Discrete) and sources["Action"] == "space":
        found.append("what the parts of the action do")
    if sources["reward"] == "nothing found":
        found.append("what is rewarded")
    return tuple(found)
