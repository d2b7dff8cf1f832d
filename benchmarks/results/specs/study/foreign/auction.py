import gymnasium as gym
import numpy as np
from gymnasium import spaces


class Auction(gym.Env):
    """Second-price auctions: bid 0..9 on each of three lots per round."""

    BUDGET = 60
    ROUNDS = 20

    def __init__(self):
        self.observation_space = spaces.Tuple((spaces.Discrete(self.ROUNDS + 1), spaces.Box(0, 10, (3,), np.float32), spaces.Discrete(self.BUDGET + 1)))
        self.action_space = spaces.MultiDiscrete([10, 10, 10])

    def _draw(self):
        self.value = self.np_random.uniform(0, 10, 3).round(1)

    def _see(self):
        return (self.round, self.value.astype(np.float32), int(self.money))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.round, self.money = 0, self.BUDGET
        self._draw()
        return self._see(), {}

    def step(self, bids):
        gain = 0.0
        for i, b in enumerate(bids):
            other = int(self.np_random.integers(0, 9))
            # ties lose; too poor means no bid
            if b > other and self.money >= other:
                gain += float(self.value[i]) - other
                self.money -= other
        self.round += 1
        over = self.round >= self.ROUNDS
        if over:
            gain += 0.2 * self.money
        self._draw()
        return self._see(), gain, over, False, {}
