import gymnasium as gym
import numpy as np


def make(n_days=60, start=100.0) -> gym.Env:
    rng = np.random.default_rng(7)
    prices = np.cumsum(rng.normal(0, 1, size=400)) + 50
    return Peddler(prices, n_days, start)


class Peddler(gym.Env):
    """Buy low sell high.

    obs = [price / 50, cash / start, stock, mean of the last 5 prices / 50]
    """

    def __init__(self, prices, n_days, start):
        self.prices = np.maximum(prices, 5)
        self.n_days, self.start = n_days, start
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (4,))
        self.action_space = gym.spaces.Discrete(3, start=-1)  # -1 sell one, 0 hold, 1 buy one

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.offset = int(self.np_random.integers(5, len(self.prices) - self.n_days - 1))
        self.t, self.cash, self.stock = 0, self.start, 0
        return self._o(), {}

    @property
    def now(self):
        return self.prices[self.offset + self.t]

    def _o(self):
        i = self.offset + self.t
        return np.array([self.now / 50, self.cash / self.start, self.stock, self.prices[i - 5 : i].mean() / 50], np.float32)

    def worth(self):
        return self.cash + self.stock * self.now

    def step(self, action):
        before = self.worth()
        fee = 0.1
        if action == 1 and self.cash >= self.now + fee:
            self.cash -= self.now + fee
            self.stock += 1
        elif action == -1 and self.stock > 0:
            self.cash += self.now - fee
            self.stock -= 1
        self.t += 1
        return self._o(), float(self.worth() - before), False, self.t >= self.n_days, {"worth": self.worth()}
