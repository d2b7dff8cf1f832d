import gymnasium as gym
import numpy as np


class Room(gym.Env):
    def __init__(self, night=16.0, day=21.0):
        self.night, self.day = night, day
        self.observation_space = gym.spaces.Box(-30, 50, (3,), np.float32)  # inside, outside, hour
        self.action_space = gym.spaces.Box(0, 3000, (1,), np.float32)  # watts

    def wanted(self):
        return self.day if 7 <= self.hour < 22 else self.night

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.inside = 18.0 + self.np_random.normal()
        self.outside = self.np_random.uniform(-10, 10)
        self.hour, self.left = 0.0, 96
        return self.obs(), {}

    def obs(self):
        return np.array([self.inside, self.outside, self.hour], np.float32)

    def step(self, action):
        kw = float(action[0]) / 1000
        self.inside += 0.9 * kw - 0.08 * (self.inside - self.outside)
        self.outside += self.np_random.normal(0, 0.2)
        self.hour = (self.hour + 0.25) % 24
        self.left -= 1
        cold = max(0.0, self.wanted() - self.inside)
        return self.obs(), -cold - 0.1 * kw, False, self.left <= 0, {"cold": cold}


class Scaled(gym.Wrapper):
    """Temperatures become tens of degrees, watts become levels 0..3."""

    def __init__(self, env):
        super().__init__(env)
        self.observation_space = gym.spaces.Box(-3, 5, (3,), np.float32)
        self.action_space = gym.spaces.Discrete(4)

    def reset(self, **kw):
        obs, info = self.env.reset(**kw)
        return self._small(obs), info

    def step(self, a):
        obs, r, term, trunc, info = self.env.step(np.array([1000.0 * a], np.float32))
        return self._small(obs), r, term, trunc, info

    def _small(self, obs):
        return np.array([obs[0] / 10, obs[1] / 10, obs[2] / 24], np.float32)


def make_room() -> gym.Env:
    return Scaled(Room(day=22.0))
