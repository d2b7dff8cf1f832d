"""A lift in several forms that a user's module might have."""

import threading
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class Lift(gymnasium.Env):
    """A lift takes its passenger from the lowest floor to the wanted one."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 5}  # noqa: RUF012 - as Gymnasium has it

    def __init__(self, floors: int = 6, told: bool = False, render_mode: Any = None) -> None:
        self.floors, self.told, self.render_mode = floors, told, render_mode
        self.observation_space = spaces.Box(0, floors, (3 if told else 2,), dtype=np.float32)
        self.action_space = spaces.Discrete(3)

    def _observation(self) -> Any:
        return np.array([self.at, self.wanted, *([self.floors] if self.told else [])], dtype=np.float32)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at, self.wanted, self.steps = 0, int(self.np_random.integers(1, self.floors)), 0
        return self._observation(), {}

    def step(self, action: Any) -> Any:
        self.at = min(self.floors - 1, max(0, self.at + int(action) - 1))
        self.steps += 1
        done = self.at == self.wanted
        reward = 10.0 if done else -1.0 / self.floors
        return self._observation(), reward, done, self.steps >= 30, {}

    def render(self) -> Any:
        return np.full((40, 40, 3), 20 * self.at, dtype=np.uint8)


class Rope(gymnasium.Env):
    """Another task with the same spaces."""

    observation_space = spaces.Box(-1, 1, (2,), dtype=np.float32)
    action_space = spaces.Discrete(3)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return np.zeros(2, dtype=np.float32), {}

    def step(self, action: Any) -> Any:
        return np.zeros(2, dtype=np.float32), float(action), True, False, {}


class Scaled(gymnasium.RewardWrapper):
    """Divides rewards."""

    def __init__(self, env: Any, by: int = 2) -> None:
        super().__init__(env)
        self.by = by

    def reward(self, reward: Any) -> Any:
        return reward / self.by


class Locked(Lift):
    """Holds what cannot be pickled."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


def short_lift(floors: int = 4) -> Any:
    """A function that builds a lift with a limit of its own."""
    return gymnasium.wrappers.TimeLimit(Lift(floors), 7)


def nothing() -> None:
    """Builds no environment."""


def several() -> Any:
    """Builds a vector environment."""
    return gymnasium.make_vec("CartPole-v1", num_envs=2)


def half_reward(env: Any) -> Any:
    """A function that wraps."""
    return Scaled(env, 2)


def no_wrapper(env: Any) -> Any:
    """Gives no environment."""
    return str(env)


GOING_UP = '''"""Goes up to the wanted floor."""


class Policy:
    def act(self, obs):
        here, wanted = obs[0], obs[1]
        return 2 if wanted > here else 0
'''
