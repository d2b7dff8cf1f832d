import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary


class Passenger:
    def __init__(self, src, dst):
        self.src, self.dst, self.age = src, dst, 0


class Lift(gym.Env):
    UP, DOWN, DOORS = 0, 1, 2
    FLOORS = 6
    CAP = 4

    def __init__(self, lam=0.15):
        self.lam = lam
        self.action_space = Discrete(3)
        self.observation_space = Dict(floor=Discrete(self.FLOORS), inside=MultiBinary(self.FLOORS), calls=MultiBinary(self.FLOORS), load=Box(0, self.CAP, (1,), np.int32))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.n = 0, 0
        self.waiting, self.riding = [], []
        return self.look(), {}

    def look(self):
        inside, calls = np.zeros(self.FLOORS, np.int8), np.zeros(self.FLOORS, np.int8)
        for p in self.riding:
            inside[p.dst] = 1
        for p in self.waiting:
            calls[p.src] = 1
        return {"floor": self.at, "inside": inside, "calls": calls, "load": np.array([len(self.riding)], np.int32)}

    def step(self, a):
        delivered = 0
        if a == self.UP:
            self.at = min(self.FLOORS - 1, self.at + 1)
        elif a == self.DOWN:
            self.at = max(0, self.at - 1)
        else:
            delivered = sum(p.dst == self.at for p in self.riding)
            self.riding = [p for p in self.riding if p.dst != self.at]
            for p in [p for p in self.waiting if p.src == self.at]:
                if len(self.riding) < self.CAP:
                    self.waiting.remove(p)
                    self.riding.append(p)
        if self.np_random.random() < self.lam:
            s, d = self.np_random.choice(self.FLOORS, 2, replace=False)
            self.waiting.append(Passenger(int(s), int(d)))
        for p in self.waiting + self.riding:
            p.age += 1
        self.n += 1
        cost = 0.02 * len(self.waiting) + 0.01 * len(self.riding)
        return self.look(), 1.0 * delivered - cost, False, self.n >= 200, {}
