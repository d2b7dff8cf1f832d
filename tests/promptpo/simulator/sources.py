"""Simulators and policies as a model would write them: a pendulum, a queue, a grid."""

PENDULUM = '''
"""A pendulum."""
import numpy as np

PARAMS = {"g": (9.0, 5.0, 15.0), "m": (1.2, 0.5, 2.0), "unused": (3.0, 0.0, 5.0)}


class Simulator:
    def __init__(self, params, rng):
        self.p, self.rng = params, rng

    def reset(self, n):
        self.th, self.w = self.rng.uniform(-np.pi, np.pi, n), self.rng.uniform(-1, 1, n)
        return self.obs()

    def obs(self):
        return np.stack([np.cos(self.th), np.sin(self.th), self.w], axis=1)

    def set(self, obs):
        self.th, self.w = np.arctan2(obs[:, 1], obs[:, 0]).astype(float), obs[:, 2].astype(float)

    def step(self, actions):
        u = actions[:, 0].astype(float)
        angle = (self.th + np.pi) % (2 * np.pi) - np.pi
        cost = angle**2 + 0.1 * self.w**2 + 0.001 * u**2
        push = 1.5 * self.p["g"] * np.sin(self.th) + 3.0 * u / self.p["m"]
        self.w = np.clip(self.w + 0.05 * push, -8, 8)
        self.th = self.th + 0.05 * self.w
        return self.obs(), -cost, np.zeros(len(u), bool)
'''

SWING_UP = '''
"""Pumps energy, then balances."""
import numpy as np

PARAMS = {"kp": (5.0, -10.0, 30.0), "kd": (1.0, -5.0, 10.0), "near": (0.8, -1.0, 1.0), "k": (0.1, -3.0, 3.0), "idle": (0.5, -1.0, 1.0)}


class Policy:
    def __init__(self, params):
        self.p = params

    def reset(self):
        self.t, self.mean = 0, 0.0

    def act(self, obs):
        p = self.p
        self.t += 1
        self.mean = 0.9 * self.mean + 0.1 * obs[2]
        energy = 0.5 * obs[2] ** 2 + 15 * (obs[0] - 1)
        up = np.where(obs[0] > p["near"], -p["kp"] * obs[1] - p["kd"] * obs[2], -p["k"] * energy * np.sign(obs[2]))
        return [up + 1e-9 * p["idle"] * self.mean * self.t]
'''

QUEUE = '''
"""A queue: customers arrive at random, each step one more or less is served, at a price."""
import numpy as np

PARAMS = {"rate": (2.0, 0.0, 5.0)}


class Simulator:
    def __init__(self, params, rng):
        self.rate, self.rng = params["rate"], rng

    def reset(self, n):
        self.waiting = np.zeros(n)
        return self.waiting[:, None]

    def set(self, obs):
        self.waiting = obs[:, 0].astype(float)

    def step(self, actions):
        self.waiting = np.maximum(self.waiting - actions, 0) + self.rng.poisson(self.rate, len(actions))
        return self.waiting[:, None], -self.waiting - 0.5 * actions, self.waiting > 40
'''

GRID = '''
"""A walk along a corridor of eight cells."""
import numpy as np


class Simulator:
    def __init__(self, params, rng):
        self.rng = rng

    def reset(self, n):
        self.cell = self.rng.integers(0, 4, n)
        return self.cell

    def set(self, obs):
        self.cell = obs.copy()

    def step(self, actions):
        self.cell = np.clip(self.cell + np.where(actions == 1, 1, -1), 0, 7)
        there = self.cell == 7
        return self.cell, np.where(there, 10.0, -1.0), there
'''

WIDE = """
import numpy as np

PARAMS = {}


class Simulator:
    def __init__(self, params, rng):
        self.rng = rng

    def observed(self):
        obs = np.zeros((len(self.x), 348))
        obs[:, :40] = self.x + self.rng.normal(0.0, 1.0, (len(self.x), 40))
        return obs

    def reset(self, n):
        self.x = np.zeros((n, 1))
        return self.observed()

    def set(self, obs):
        self.x = obs[:, :1]

    def step(self, actions):
        self.x = np.clip(self.x + 0.1 * actions.mean(axis=1, keepdims=True), -1.0, 1.0)
        return self.observed(), self.x[:, 0].copy(), np.zeros(len(self.x), bool)
"""
"""348 observed numbers, most of them constant, and 17 motors."""
