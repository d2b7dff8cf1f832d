"""Small tasks with flags, places and loads, made up for these tests, in several layouts of the observation."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))


class Lift(gymnasium.Env):
    """Calls come in at random; serving a floor with a call earns a point, waiting callers cost a little."""

    def __init__(self, layout: str = "dict", floors: int = 6) -> None:
        self.layout, self.n = layout, floors
        self.action_space = spaces.Discrete(4)  # up, down, open, close
        n = floors
        self.observation_space = {
            "dict": spaces.Dict(
                {
                    "floor": spaces.Discrete(n),
                    "inside": spaces.MultiBinary(n),
                    "open": spaces.Discrete(2),
                }
            ),
            "flat": spaces.Box(0.0, 1.0, (2 * n + 1,), np.float32),
            "levels": spaces.MultiDiscrete([n, *[2] * n, 2]),
        }[layout]

    def _observation(self) -> Any:
        if self.layout == "dict":
            return {"floor": self.at, "inside": self.calls.astype(np.int8), "open": self.open}
        if self.layout == "levels":
            return np.array([self.at, *self.calls, self.open])
        return np.array([*np.eye(self.n)[self.at], *self.calls, self.open], dtype=np.float32)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """Some floors have called."""
        super().reset(seed=seed)
        self.at, self.open, self.time = int(self.np_random.integers(self.n)), 0, 0
        self.calls = self.np_random.random(self.n) < 0.3
        return self._observation(), {}

    def step(self, action: Any) -> Any:
        """The lift moves with its door closed only."""
        self.time += 1
        reward = 0.0
        if action < 2 and not self.open:
            self.at = min(self.n - 1, max(0, self.at + (1 if action == 0 else -1)))
        elif action == 2:
            self.open = 1
            reward += float(self.calls[self.at])
            self.calls[self.at] = False
        elif action == 3:
            self.open = 0
        if self.np_random.random() < 0.15:
            self.calls[int(self.np_random.integers(self.n))] = True
        return self._observation(), reward - 0.05 * float(self.calls.sum()), False, self.time >= 60, {}


class Courier(gymnasium.Env):
    """Parcels are to be picked up and brought to the door, again and again."""

    def __init__(self, layout: str = "dict", size: int = 5) -> None:
        self.layout, self.s = layout, size
        self.action_space = spaces.Discrete(6)  # four steps, pick up, put down
        s, point = size, spaces.Box(0, size - 1, (2,), np.int64)
        self.observation_space = {
            "dict": spaces.Dict({"me": point, "parcel": point, "door": point, "loaded": spaces.Discrete(2)}),
            "levels": spaces.MultiDiscrete([s, s, s, s, s, s, 2]),
            "flags": spaces.MultiBinary(3 * s * s + 1),
            "board": spaces.Dict({"board": spaces.Box(0, 4, (s, s), np.uint8), "loaded": spaces.Discrete(2)}),
            "planes": spaces.Box(0, 1, (3, s, s), np.uint8),
        }[layout]

    def _observation(self) -> Any:
        spots = (self.me, self.parcel, self.door)
        if self.layout == "dict":
            named = dict(zip(("me", "parcel", "door"), map(np.array, spots), strict=True))
            return {**named, "loaded": self.loaded}
        if self.layout == "levels":
            return np.array([v for spot in spots for v in spot] + [self.loaded])
        planes = np.zeros((3, self.s, self.s), np.uint8)
        for plane, spot in zip(planes, spots, strict=True):
            plane[spot] = 1
        if self.layout == "flags":
            return np.array([*planes.ravel(), self.loaded], dtype=np.int8)
        if self.loaded:
            planes[1] = 0
        if self.layout == "planes":
            return planes
        board = 3 * planes[2]
        board[planes[1] == 1] = 2
        board[self.me] = 4
        return {"board": board, "loaded": self.loaded}

    def _anywhere(self) -> tuple[int, int]:
        row, column = (int(v) for v in self.np_random.integers(self.s, size=2))
        return row, column

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """Everything is somewhere else."""
        super().reset(seed=seed)
        self.me, self.parcel, self.door = self._anywhere(), self._anywhere(), self._anywhere()
        self.loaded = self.time = 0
        return self._observation(), {}

    def step(self, action: Any) -> Any:
        """A tenth of a point for a parcel that is picked up, a whole one where it belongs."""
        self.time += 1
        reward = -0.01
        if action < 4:
            at = (self.me[0] + STEPS[action][0], self.me[1] + STEPS[action][1])
            if min(at) >= 0 and max(at) < self.s:
                self.me = at
        elif action == 4 and not self.loaded and self.me == self.parcel:
            self.loaded, reward = 1, 0.1
        elif action == 5 and self.loaded and self.me == self.door:
            self.loaded, reward = 0, 1.0
            self.parcel = self._anywhere()
        if self.loaded:
            self.parcel = self.me
        return self._observation(), reward, False, self.time >= 80, {}


class Room(gymnasium.Env):
    """A walled room seen from where one stands, looking up: 1 floor, 2 wall, 3 a lever, 4 a prize behind it."""

    def __init__(self, size: int = 7) -> None:
        self.s = size
        self.action_space = spaces.Discrete(4)  # left, right, forward, pull
        self.observation_space = spaces.Box(0, 9, (5, 5), np.uint8)

    def _observation(self) -> Any:
        seen = np.zeros((5, 5), np.uint8)
        for r in range(5):
            for c in range(5):
                row, column = r - 4, c - 2
                for _ in range(self.facing):
                    row, column = column, -row
                at = (self.at[0] + row, self.at[1] + column)
                if min(at) >= 0 and max(at) < self.s:
                    seen[r, c] = self.room[at]
        return seen

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        """The lever and the prize are somewhere in the room."""
        super().reset(seed=seed)
        self.room = np.full((self.s, self.s), 2, np.uint8)
        self.room[1:-1, 1:-1] = 1
        cells = [(r, c) for r in range(1, self.s - 1) for c in range(1, self.s - 1)]
        spots = self.np_random.choice(len(cells), size=3, replace=False)
        self.at, lever, self.prize = (cells[int(i)] for i in spots)
        self.room[lever] = 3
        self.facing, self.pulled, self.time = int(self.np_random.integers(4)), False, 0
        return self._observation(), {}

    def _ahead(self) -> tuple[int, int]:
        row, column = -1, 0
        for _ in range(self.facing):
            row, column = column, -row
        return self.at[0] + row, self.at[1] + column

    def step(self, action: Any) -> Any:
        """Pulling the lever shows the prize; walking onto it ends the episode."""
        self.time += 1
        ahead = self._ahead()
        if action == 0:
            self.facing = (self.facing + 1) % 4
        elif action == 1:
            self.facing = (self.facing - 1) % 4
        elif action == 2 and self.room[ahead] in {1, 4}:
            self.at = ahead
        elif action == 3 and self.room[ahead] == 3:
            self.room[ahead] = 1
            self.room[self.prize] = 4
        done = bool(self.room[self.at] == 4)
        return self._observation(), float(done), done, self.time >= 120, {}
