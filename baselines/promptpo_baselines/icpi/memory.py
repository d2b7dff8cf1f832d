"""The agent's experience; it grows at the end of an episode, never within one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from promptpo_baselines.icpi.values import Transition

Episode: TypeAlias = Sequence[Transition]


class Memory:
    """All transitions of all episodes.

    Attributes:
        transitions: Transitions, oldest first.
        episodes: Number of episodes.
    """

    def __init__(self) -> None:
        self.transitions: list[Transition] = []
        self.episodes = 0

    def add_episode(self, episode: Episode) -> None:
        """Remember a finished episode."""
        self.transitions.extend(episode)
        self.episodes += 1

    def ready(self, n_actions: int) -> bool:
        """Whether there is an example of everything that a rollout has to predict."""
        tried = {step.action for step in self.transitions}
        return len(tried) == n_actions and any(not step.terminal for step in self.transitions)
