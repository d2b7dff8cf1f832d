"""An environment of one's own, a heated room, and a policy for it: ``python my_room.py``.

The same from the command line: ``promptpo optimize my_room:Room-v0 --spec my_room_spec.py``.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

import promptpo


class Room(gymnasium.Env[np.ndarray, int]):
    """A room that loses heat, and a heater that is on or off."""

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Box(-20.0, 50.0, (2,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(2)
        self.inside, self.outside = 15.0, 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start on a random day."""
        super().reset(seed=seed, options=options)
        self.inside, self.outside = self.np_random.uniform(10, 20), self.np_random.uniform(-10, 10)
        return np.array([self.inside, self.outside], np.float32), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """One minute."""
        self.inside += 0.02 * (self.outside - self.inside) + 0.9 * action
        reward = -abs(self.inside - 21.0)
        return np.array([self.inside, self.outside], np.float32), reward, False, False, {}


if "Room-v0" not in gymnasium.registry:
    gymnasium.register("Room-v0", Room, max_episode_steps=200)

if __name__ == "__main__":
    run = promptpo.optimize("my_room:Room-v0", rounds=2, max_steps=100_000, test_episodes=20, out="room")
    print(f"held-out return {run.mean_return:.0f}, [{run.ci95[0]:.0f}, {run.ci95[1]:.0f}]")
    print(
        f"random actions {run.data['references']['random']['mean_return']:.0f}; the policy is {run.policy_path}"
    )
