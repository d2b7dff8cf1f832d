"""Environments of a user's own, as tests need them: named as ``tests.environments:Test/…-v0``."""

import ctypes
import os
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.envs.classic_control import PendulumEnv


class Thermostat(gymnasium.Env):
    """Keep a room at the wished temperature.

    Dict observation, one continuous action. The reward is minus the distance to the wish.
    """

    observation_space = spaces.Dict(
        {
            "room": spaces.Box(-40.0, 60.0, (1,), np.float64),
            "wish": spaces.Box(10.0, 30.0, (1,), np.float64),
        }
    )
    action_space = spaces.Box(-1.0, 1.0, (1,), np.float64)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """Draw a room and a wish."""
        super().reset(seed=seed)
        self.room = self.np_random.uniform(0.0, 35.0)
        self.wish = self.np_random.uniform(15.0, 25.0)
        return self._observe(), {}

    def _observe(self) -> Any:
        return {"room": np.array([self.room]), "wish": np.array([self.wish])}

    def step(self, action: Any) -> Any:
        """Heat or cool; the outside is at 5 degrees."""
        self.room += 2.0 * float(action[0]) + 0.05 * (5.0 - self.room)
        return self._observe(), -abs(self.room - self.wish), False, False, {}


class Sorter(gymnasium.Env):
    """Send each parcel to the belt of its colour.

    Dict observation with a discrete colour and a weight, three discrete actions, success in ``info``.
    """

    observation_space = spaces.Dict(
        {"colour": spaces.Discrete(3), "weight": spaces.Box(0.0, 1.0, (1,), np.float32)}
    )
    action_space = spaces.Discrete(3)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """First parcel."""
        super().reset(seed=seed)
        self.right = 0
        self.left = 20
        return self._next(), {}

    def _next(self) -> Any:
        self.colour = int(self.np_random.integers(3))
        return {"colour": self.colour, "weight": self.np_random.random(1, np.float32)}

    def step(self, action: Any) -> Any:
        """The next parcel."""
        hit = action == (self.colour + 1) % 3
        self.right += hit
        self.left -= 1
        return self._next(), float(hit), self.left == 0, False, {"success": self.right >= 18}


class Locked(gymnasium.Env):
    """Fetch the key, open the door, reach the goal: a small grid of which a policy sees the cell ahead.

    Flags: wall, key, door and goal ahead, and whether the key is carried. Four actions: turn left, turn right,
    go ahead, use what is ahead. One reward, at the goal; success in ``info``.
    """

    observation_space = spaces.MultiBinary(5)
    action_space = spaces.Discrete(4)
    size = 7

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """A key on the left of a wall with a door, the goal in the far corner on its right."""
        super().reset(seed=seed)
        self.carried, self.opened, self.heading = False, False, int(self.np_random.integers(4))
        self.door = (3, int(self.np_random.integers(self.size)))
        self.key, self.place = (
            (int(self.np_random.integers(3)), int(y)) for y in self.np_random.permutation(self.size)[:2]
        )
        self.goal = (6, 0 if self.door[1] > 3 else 6)
        return self._observe(), {"success": False}

    def _ahead(self) -> Any:
        x, y = ((1, 0), (0, 1), (-1, 0), (0, -1))[self.heading]
        return self.place[0] + x, self.place[1] + y

    def _is_wall(self, cell: Any) -> Any:
        outside = not all(0 <= part < self.size for part in cell)
        return outside or (cell[0] == self.door[0] and cell != self.door)

    def _observe(self) -> Any:
        cell = self._ahead()
        key, door = cell == self.key and not self.carried, cell == self.door and not self.opened
        return np.array([self._is_wall(cell), key, door, cell == self.goal, self.carried], np.int8)

    def step(self, action: Any) -> Any:
        """Turn, go or use."""
        cell, (_, key, door, _, _) = self._ahead(), self._observe()
        if action < 2:
            self.heading = (self.heading + (-1, 1)[action]) % 4
        elif action == 2 and not (self._is_wall(cell) or key or door):
            self.place = cell
        elif action == 3:
            self.carried, self.opened = self.carried or bool(key), self.opened or bool(door and self.carried)
        done = self.place == self.goal
        return self._observe(), float(done), done, False, {"success": done}


class Levers(gymnasium.Env):
    """Bring both needles to zero with two levers.

    The reward is minus the distance of both. Which lever moves which needle, and which way, is written nowhere.
    """

    observation_space = spaces.Box(-9.0, 9.0, (2,), np.float64)
    action_space = spaces.Box(-1.0, 1.0, (2,), np.float64)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """Both needles are somewhere off."""
        super().reset(seed=seed)
        self.needles = self.np_random.uniform(1.0, 3.0, 2)
        return self.needles.copy(), {}

    def step(self, action: Any) -> Any:
        """Each lever moves the other's needle, one of them backwards."""
        self.needles = np.clip(self.needles + 0.3 * np.array([-action[1], action[0]]), -9.0, 9.0)
        return self.needles.copy(), -float(np.abs(self.needles).sum()), False, False, {}


class Raises(Thermostat):
    """An environment with a bug that shows at its fifth step."""

    def step(self, action: Any) -> Any:
        """Fail now and then."""
        self.count = getattr(self, "count", 0) + 1
        if self.count >= 5:
            raise KeyError("no such sensor")
        return super().step(action)


class Hangs(Thermostat):
    """An environment whose third step never returns."""

    def step(self, action: Any) -> Any:
        """Hang."""
        self.count = getattr(self, "count", 0) + 1
        if self.count >= 3:
            time.sleep(10_000)
        return super().step(action)


class HangsInReset(Thermostat):
    """An environment whose reset never returns."""

    def reset(self, **how: Any) -> Any:
        """Hang."""
        time.sleep(10_000)
        return super().reset(**how)


class DiesOnce(Thermostat):
    """An environment that takes its process down, the first time only (a file remembers)."""

    def __init__(self, flag: Any) -> None:
        self.flag = flag

    def step(self, action: Any) -> Any:
        """Die once."""
        if not Path(self.flag).exists():
            Path(self.flag).touch()
            os._exit(1)
        return super().step(action)


class SlowPendulum(PendulumEnv):
    """A pendulum whose steps take ten milliseconds."""

    def step(self, action: Any) -> Any:
        """Wait, and step."""
        time.sleep(0.01)
        return super().step(action)


class Faults(Thermostat):
    """An environment whose compiled code has a fault."""

    def step(self, action: Any) -> Any:
        """Read where nothing is."""
        return ctypes.string_at(0)


for _name, _class in {
    "Thermostat": Thermostat,
    "Sorter": Sorter,
    "Locked": Locked,
    "Levers": Levers,
    "Raises": Raises,
    "Hangs": Hangs,
    "HangsInReset": HangsInReset,
    "DiesOnce": DiesOnce,
    "SlowPendulum": SlowPendulum,
    "Faults": Faults,
}.items():
    gymnasium.register(f"Test/{_name}-v0", entry_point=_class, max_episode_steps=50)
gymnasium.register("Test/Endless-v0", entry_point=Thermostat)  # no time limit, and it never ends
