"""Small environments that stress the border: every kind of space, odd values, shared arrays and faults."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class EchoEnv(gymnasium.Env[Any, Any]):
    """Samples observations from any space and records its actions.

    Args:
        observation_space: Space to sample observations from.
        action_space: Space of the actions.
        length: Steps until it terminates.
    """

    def __init__(
        self, observation_space: spaces.Space[Any], action_space: spaces.Space[Any], length: int = 5
    ) -> None:
        self.observation_space = observation_space
        self.action_space = action_space
        self.length = length
        self.shown: list[Any] = []
        self.actions: list[Any] = []

    def _show(self) -> Any:
        self.shown.append(self.observation_space.sample())
        return self.shown[-1]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        self.observation_space.seed(seed)
        self.shown, self.actions = [], []
        return self._show(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.actions.append(action)
        return self._show(), 1.0, len(self.actions) >= self.length, False, {}


class WalkEnv(gymnasium.Env[Any, Any]):
    """A random walk whose length, observations and rewards depend on seed and actions.

    Returns the same array at every step, with another dtype than its space declares.
    """

    observation_space = spaces.Box(-1, 1, (3,), np.float32)
    action_space = spaces.Box(-1, 1, (2,), np.float32)

    def __init__(self) -> None:
        self.x = np.zeros(3)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        self.rng = np.random.default_rng(seed)
        self.x[:] = self.rng.normal(size=3)
        self.left = int(self.rng.integers(3, 40))
        return self.x, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.x[:2] += action
        self.x += 0.1 * self.rng.normal(size=3)
        self.left -= 1
        return self.x, float(self.x.sum()), self.left == 0, False, {"success": bool(self.x[0] > 5)}


class FaultyEnv(WalkEnv):
    """Raises in its third step."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self.left % 3 == 0:
            raise RuntimeError("the simulator exploded")
        return super().step(action)


class TableEnv(WalkEnv):
    """Observations are rows of a table stored by columns, like those of a data frame."""

    table = np.asfortranarray(np.arange(300.0).reshape(100, 3))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return self.table[0], {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        _, _, terminated, truncated, info = super().step(action)
        return self.table[self.left], float(self.table[self.left].sum()), terminated, truncated, info
