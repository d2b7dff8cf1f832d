import gymnasium as gym
import numpy as np
from gymnasium import spaces


class LatheEnv(gym.Env):
    STATE_KEYS = ["depth", "heat", "wear", "speed"]

    def __init__(self, target=5.0, max_cuts=150):
        self.target = target
        self.max_cuts = max_cuts
        self.observation_space = spaces.Box(-np.inf, np.inf, shape=(len(self.STATE_KEYS),), dtype=np.float32)
        self.action_space = spaces.Box(np.array([0.0, 0.2]), np.array([0.5, 2.0]))  # feed (mm), spindle speed
        self.state = {}

    def _vec(self):
        return np.array([self.state[k] for k in self.STATE_KEYS], dtype=np.float32)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.state = dict(depth=0.0, heat=20 + 5 * self.np_random.random(), wear=0.1 * self.np_random.random(), speed=1.0)
        self.cuts = 0
        return self._vec(), {}

    def step(self, action):
        feed, speed = np.clip(action, self.action_space.low, self.action_space.high)
        s = self.state
        broke = False
        for _ in range(5):
            s["depth"] += feed / 5 * (1 - s["wear"])
            s["heat"] += 4 * feed * speed - 0.02 * (s["heat"] - 20)
            s["wear"] = min(1.0, s["wear"] + 0.0005 * speed * max(0, s["heat"] - 60) / 10)
            if s["heat"] > 140 or s["wear"] > 0.9:
                broke = True
                break
        s["speed"] = float(speed)
        self.cuts += 1
        rew = -0.05 - 0.02 * speed
        done = False
        if broke:
            rew, done = rew - 15, True
        elif s["depth"] >= self.target:
            rew += 10 - 40 * (s["depth"] - self.target) ** 2 - 5 * s["wear"]
            done = True
        return self._vec(), float(rew), done, self.cuts >= self.max_cuts, {}
