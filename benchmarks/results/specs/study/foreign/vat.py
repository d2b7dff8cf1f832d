"""fermenter, gym<0.26 style"""
import random

import gym
import numpy as np
from gym import spaces


class Fermenter(gym.Env):
    def __init__(self):
        # sugar [g/l], yeast [g/l], ethanol [g/l], temp [C]
        self.observation_space = spaces.Box(low=0, high=np.array([200, 30, 120, 45]), dtype=np.float64)
        # 0: nothing  1: cool  2: heat  3: feed sugar  4: harvest and stop
        self.action_space = spaces.Discrete(5)

    def reset(self):
        self.s = random.uniform(80, 150)
        self.x = random.uniform(1, 3)
        self.e = 0.0
        self.T = 25.0
        self.h = 0
        return np.array([self.s, self.x, self.e, self.T])

    def step(self, a):
        if a == 1:
            self.T -= 2
        elif a == 2:
            self.T += 2
        elif a == 3:
            self.s += 10
        mu = 0.2 * self.s / (self.s + 20) * max(0, 1 - self.e / 95) * np.exp(-((self.T - 30) / 8) ** 2)
        grow = mu * self.x
        self.x += grow - 0.01 * self.x
        used = min(self.s, 8 * grow)
        self.s -= used
        self.e += 0.45 * used
        self.T += 0.05 * grow * 10 + 0.1 * (22 - self.T)
        self.h += 1
        done = bool(a == 4 or self.h >= 72 or self.T > 44)
        reward = -0.1 - 0.2 * (a in (1, 2)) - 0.5 * (a == 3)
        if done:
            reward += self.e - 0.3 * self.s
            if self.T > 44:
                reward = -50
        return np.array([self.s, self.x, self.e, self.T]), reward, done, {"hour": self.h}

    def render(self, mode="human"):
        pass
