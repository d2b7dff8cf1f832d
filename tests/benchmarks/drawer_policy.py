"""Open a drawer by phases: over the handle, down behind it, then pull; a phase is never left backwards."""

from typing import Any

import numpy as np


class Policy:
    """Remembers its phase, as programs for manipulation often do; nothing in it says that an episode ended."""

    def __init__(self) -> None:
        self.phase = 0

    def act(self, obs: Any) -> Any:
        """Move the hand towards the place that belongs to the phase."""
        hand, handle = obs[0:3], obs[4:7]
        over = handle + np.array([0.0, -0.02, 0.15])
        behind = handle + np.array([0.0, -0.02, -0.01])
        if self.phase == 0 and np.linalg.norm(over - hand) < 0.04:
            self.phase = 1
        if self.phase == 1 and np.linalg.norm(behind - hand) < 0.03:
            self.phase = 2
        target = (over, behind, hand + np.array([0.0, -0.1, 0.0]))[self.phase]
        move = np.clip(10.0 * (target - hand), -1.0, 1.0)
        return np.array([move[0], move[1], move[2], -1.0], dtype=np.float32)
