from abc import abstractmethod

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from . import tidal_mixins as tm


class Base(gym.Env):
    horizon = 96

    def __init__(self, dt=0.25, **kw):
        super().__init__(**kw)
        self.dt = dt
        self.action_space = spaces.Dict(gate=spaces.Box(0, 1, (), np.float32), mode=spaces.Discrete(3))
        self.observation_space = spaces.Dict(level=spaces.Box(-10, 10, (2,), np.float32), clock=spaces.Box(0, 24, (1,), np.float32), fouling=spaces.Discrete(11))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.clock = self.t = 0
        self.begin()
        return self.see(), {}

    def step(self, action):
        self.t += 1
        self.clock = (self.clock + self.dt) % 24
        gain = self.advance(action)
        gain += self.on_flood() if self.flooded() else 0.0
        return self.see(), float(gain), self.flooded(), self.t >= self.horizon, {}

    @abstractmethod
    def advance(self, action): ...

    @abstractmethod
    def see(self): ...


class Lagoon(tm.TideMixin, tm.TurbineMixin, tm.Checks, Base):
    # mode: 0 hold, 1 generate, 2 pump
    horizon = 192
    area = 11.5

    def begin(self):
        self.level, self.fouling, self.fined = 0.0, 0.0, False
        self.stormy = self.np_random.random() < 0.05
        self.surge = self.np_random.normal(0.8, 0.2)

    def advance(self, action):
        head = self.sea() - self.level
        match int(action["mode"]):
            case 1:
                mw = self.power(head, float(action["gate"]))
                self.level += np.sign(head) * float(action["gate"]) * 0.3 * self.dt
            case 2:
                mw = -self._pump(float(action["gate"]))
            case _:
                mw = 0.0
        self.fouling = min(1.0, self.fouling + 0.002)
        return mw * self.dt * self.price()

    def _pump(self, share):
        self.level += share * 0.5 * self.dt
        return 6.0 * share

    def price(self):
        return 1.6 if 17 <= self.clock < 20 else 1.0

    def see(self):
        return {"level": np.array([self.level, self.sea()], np.float32), "clock": np.array([self.clock], np.float32), "fouling": int(self.fouling * 10)}
