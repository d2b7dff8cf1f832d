"""A robot mower on a lawn of 8 x 8 squares with a flower bed, wet grass on which it slips, and a battery to recharge at its dock."""

import gymnasium
import numpy as np
from gymnasium import spaces

SIZE = 8
MOVES = {0: (0, 1), 1: (1, 0), 2: (0, -1), 3: (-1, 0)}  # north, east, south, west
SLIP = 0.1  # chance to stay where it is, on wet grass
FULL = 24  # moves that a full battery lasts
DOCK = (0, 0)


class Mower(gymnasium.Env):
    """Mow as much of the lawn as possible in 120 moves without running over the flowers or out of power."""

    metadata = {"render_modes": []}  # noqa: RUF012

    def __init__(self):
        self.action_space = spaces.Discrete(4)
        # x, y, charge, then 64 squares row by row: 0 mown, 1 tall, 2 flowers; the last 8 numbers: whether a row is wet
        self.observation_space = spaces.Box(0, FULL, (3 + SIZE * SIZE + SIZE,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.y, self.charge, self.moves = *DOCK, FULL, 0
        self.lawn = np.ones((SIZE, SIZE))
        self.lawn[0, 0] = 0
        left, low = self.np_random.integers(2, SIZE - 2, 2)  # the bed has 2 x 2 squares
        self.lawn[low : low + 2, left : left + 2] = 2
        self.wet = (self.np_random.random(SIZE) < 0.3).astype(float)
        return self._look(), {}

    def _look(self):
        return np.concatenate([[self.x, self.y, self.charge], self.lawn.ravel(), self.wet]).astype(np.float32)

    def step(self, action):
        self.moves += 1
        self.charge -= 1
        dx, dy = MOVES[int(action)]
        slips = self.wet[self.y] and self.np_random.random() < SLIP
        if not slips:
            self.x, self.y = min(SIZE - 1, max(0, self.x + dx)), min(SIZE - 1, max(0, self.y + dy))
        reward = 0.0
        if self.lawn[self.y, self.x] == 1:
            reward = 1.0
        elif self.lawn[self.y, self.x] == 2:
            reward = -5.0
        self.lawn[self.y, self.x] = 0
        if (self.x, self.y) == DOCK:
            self.charge = FULL
        stranded = self.charge <= 0
        if stranded:
            reward -= 20.0
        return self._look(), reward, bool(stranded), self.moves >= 120, {}
