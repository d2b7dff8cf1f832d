"""What the agent has lived through; it grows at the end of an episode, never within one."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TypeAlias

from promptpo_baselines.icpi.values import Transition

Episode: TypeAlias = Sequence[Transition]


class Memory:
    """All transitions, and the latest episodes.

    Args:
        context: How many latest episodes are kept whole.

    Attributes:
        transitions: Of all episodes, oldest first.
        recent: The latest episodes, oldest first.
    """

    def __init__(self, context: int) -> None:
        self.transitions: list[Transition] = []
        self.recent: deque[Episode] = deque(maxlen=context)

    def add_episode(self, episode: Episode) -> None:
        """Remember a finished episode."""
        self.transitions.extend(episode)
        self.recent.append(tuple(episode))

    def ready(self, n_actions: int) -> bool:
        """Whether there is an example of everything that a rollout asks about."""
        tried = {step.action for step in self.transitions}
        return len(tried) == n_actions and any(not step.terminal for step in self.transitions)
