"""How long an episode may be, as an environment's own step says it."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from promptpo.spec.horizon import _counted


class Staged(gymnasium.Env[Any, Any]):
    """Stages are counted like steps, but only when one is reached."""

    observation_space = spaces.Box(0, 1, (1,), np.float32)
    action_space = spaces.Discrete(2)
    t = stage = 0

    def step(self, action: Any) -> Any:
        self.t += 1
        if action:
            self.stage += 1
        done = self.stage >= 4
        return np.zeros(1, np.float32), 0.0, done, self.t >= 80, {}


def test_what_is_counted_now_and_then_counts_no_steps() -> None:
    """The end of the fourth stage is a success, not the fourth step."""
    assert _counted(Staged()) == 80
