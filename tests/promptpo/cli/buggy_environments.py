"""Environments with the mistakes that people make in their first one."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import register


class Walk(gymnasium.Env):
    """Ends after eleven steps."""

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Box(-1, 1, (2,))
        self.action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.t = 0
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> Any:
        self.t += 1
        return np.zeros(2, np.float32), 1.0, self.t > 10, False, {}


class StepBug(Walk):
    """A misspelt attribute."""

    def step(self, action: Any) -> Any:
        return self.misspelt


class LateBug(Walk):
    """A bug that random actions do not reach: it needs the same action six times in a row."""

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        self.same = 0
        return super().reset(seed=seed)

    def step(self, action: Any) -> Any:
        self.same = self.same + 1 if action == 0 else 0
        if self.same > 5:
            raise KeyError("wheel")
        return super().step(action)


class ResetBug(Walk):
    """A division by zero in reset."""

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        return np.zeros(2) / (0 // 0), {}


class LateReset(Walk):
    """Fails to reset from seeds at or above `first`."""

    def __init__(self, first: int) -> None:
        super().__init__()
        self.first = first

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        if seed is not None and seed >= self.first:
            raise RuntimeError("the rig did not answer")
        return super().reset(seed=seed)


class NoSpaces(gymnasium.Env):
    """Declares no spaces."""


class NoObservation(Walk):
    """A forgotten return value."""

    def step(self, action: Any) -> Any:
        return None, 1.0, False, False, {}


class NoReward(Walk):
    """A forgotten reward."""

    def step(self, action: Any) -> Any:
        return np.zeros(2, np.float32), None, False, False, {}


class NaNReward(Walk):
    """A division that went wrong."""

    def step(self, action: Any) -> Any:
        return np.zeros(2, np.float32), float("nan"), False, False, {}


class TextReward(Walk):
    """A word instead of a number."""

    def step(self, action: Any) -> Any:
        return np.zeros(2, np.float32), "one", False, False, {}


class WrongShape(Walk):
    """One number too many."""

    def step(self, action: Any) -> Any:
        return np.zeros(3, np.float32), 1.0, False, False, {}


class WrongStart(Walk):
    """An initial observation shaped like no other."""

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return np.zeros((2, 2), np.float32), {}


class NoInfo(Walk):
    """A forgotten dict."""

    def step(self, action: Any) -> Any:
        return np.zeros(2, np.float32), 1.0, False, False, None


class LateShape(Walk):
    """One number too many once the same action was taken six times in a row."""

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        self.same = 0
        return super().reset(seed=seed)

    def step(self, action: Any) -> Any:
        self.same = self.same + 1 if action == 0 else 0
        observation, *rest = super().step(action)
        return np.zeros(3, np.float32) if self.same > 5 else observation, *rest


for _class in (
    Walk, StepBug, LateBug, ResetBug, LateReset, NoSpaces, NoObservation, NoReward, NaNReward, TextReward,
    WrongShape, WrongStart, NoInfo, LateShape,
):  # fmt: skip
    register(f"Buggy/{_class.__name__}-v0", entry_point=_class, max_episode_steps=100)
