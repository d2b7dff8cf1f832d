import gymnasium as gym
import numpy as np
from gymnasium import spaces

from .codes import Phase, Sig
from .sim import flow


class JunctionEnv(gym.Env):
    metadata = {"render_modes": ["ansi"]}

    def __init__(self, horizon=300, spill=25, cfg=None):
        super().__init__()
        self.horizon = horizon
        self.spill = spill
        self.weights = cfg or {"through": 1.0, "wait": 0.05, "switch": 0.5}
        self.action_space = spaces.Discrete(len(Sig))
        self.observation_space = spaces.Box(0, 1, (8,), np.float32)

    def _obs(self):
        q = [min(1.0, self.q[k] / 20) for k in "nsew"]
        onehot = [float(self.phase == p) for p in Phase]
        return np.array(q + onehot + [self.tick / self.horizon], dtype=np.float32)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        self.q = {k: int(self.np_random.integers(0, 6)) for k in "nsew"}
        self.phase, self.next_phase, self.red = Phase.NS_GREEN, None, 0
        self.tick = 0
        return self._obs(), self._get_info()

    def _get_info(self):
        return {"total": sum(self.q.values())}

    def step(self, action):
        r = 0.0
        if action == Sig.SWITCH and self.phase != Phase.ALL_RED:
            self.next_phase = Phase.EW_GREEN if self.phase == Phase.NS_GREEN else Phase.NS_GREEN
            self.phase, self.red = Phase.ALL_RED, 2
            r -= self.weights["switch"]
        elif self.phase == Phase.ALL_RED:
            self.red -= 1
            if self.red <= 0:
                self.phase = self.next_phase
        lanes = {Phase.NS_GREEN: "ns", Phase.EW_GREEN: "ew", Phase.ALL_RED: ""}[self.phase]
        r += self.weights["through"] * flow.discharge(self.q, lanes)
        flow.arrive(self.q, self.np_random)
        r -= self.weights["wait"] * sum(self.q.values())
        self.tick += 1
        spilled = max(self.q.values()) > self.spill
        if spilled:
            r -= 50
        info = self._get_info()
        return self._obs(), r, spilled, self.tick >= self.horizon, info

    def render(self):
        print(self.q)
