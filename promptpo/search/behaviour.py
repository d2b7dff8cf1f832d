"""What trajectories show that returns do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from promptpo_sandbox import Rollout

SHOWN = 60
"""Characters of an action that are kept."""


def constant_action(rollout: Rollout) -> str:
    """The action that a policy gave in every step, as text; empty where it gave several, or took one step only."""
    actions = [
        action
        for episode in rollout.episodes
        if episode.trajectory is not None
        for action in episode.trajectory.actions
    ]
    if len(actions) < 2:  # noqa: PLR2004 - one step shows nothing
        return ""
    first = list(_numbers(actions[0]))
    if any(list(_numbers(action)) != first for action in actions[1:]):
        return ""
    text = " ".join(str(_plain(actions[0])).split())
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def _numbers(action: Any) -> Iterator[Any]:
    """Everything that an action is made of, in order."""
    if isinstance(action, Mapping):
        for key in sorted(action):
            yield from _numbers(action[key])
    elif isinstance(action, tuple | list):
        for part in action:
            yield from _numbers(part)
    elif isinstance(action, np.ndarray):
        yield from action.ravel().tolist()
    else:
        yield action


def _plain(action: Any) -> Any:
    if isinstance(action, np.ndarray | np.generic):
        return action.tolist()
    if isinstance(action, Mapping):
        return {key: _plain(part) for key, part in action.items()}
    if isinstance(action, tuple | list):
        return tuple(map(_plain, action))
    return action
