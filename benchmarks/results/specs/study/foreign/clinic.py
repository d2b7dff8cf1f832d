from dataclasses import dataclass, field

import gymnasium as gym
import numpy as np


@dataclass
class Config:
    beds: int = 8
    nurses: int = 3
    p_arrive: float = 0.4
    severities: list = field(default_factory=lambda: [0.6, 0.3, 0.1])
    pay: dict = field(default_factory=lambda: {"cured": 3.0, "died": -20.0, "wait": -0.1, "idle": -0.02})


class Bed:
    def __init__(self):
        self.sev, self.left = 0, 0

    @property
    def free(self):
        return self.sev == 0

    def put(self, sev):
        self.sev, self.left = sev, 3 * sev

    def treat(self):
        self.left -= 1
        if self.left <= 0:
            self.sev = 0
            return True
        return False


class Clinic(gym.Env):
    """Triage: which bed gets a nurse this hour; arrivals take the first free bed."""

    def __init__(self, config=None):
        self.c = config or Config()
        self.beds = [Bed() for _ in range(self.c.beds)]
        self.observation_space = gym.spaces.Box(0, 9, (2 * self.c.beds + 1,), np.float32)
        self.action_space = gym.spaces.MultiBinary(self.c.beds)

    def state(self):
        flat = [v for b in self.beds for v in (b.sev, b.left)]
        return np.array([*flat, min(9, self.queue)], np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        for b in self.beds:
            b.sev = b.left = 0
        self.queue, self.hour = 0, 0
        return self.state(), {}

    def step(self, action):
        pay = self.c.pay
        r, used = 0.0, 0
        for b, a in zip(self.beds, action):
            if a and used < self.c.nurses:
                used += 1
                if b.free:
                    r += pay["idle"]
                elif b.treat():
                    r += pay["cured"]
            elif not b.free and self.np_random.random() < 0.02 * b.sev**2:
                b.sev = b.left = 0
                r += pay["died"]
        if self.np_random.random() < self.c.p_arrive:
            self.queue += 1
        for b in self.beds:
            if b.free and self.queue:
                b.put(int(self.np_random.choice(3, p=self.c.severities)) + 1)
                self.queue -= 1
        r += pay["wait"] * self.queue
        self.hour += 1
        return self.state(), r, False, self.hour >= 24 * 7, {"queue": self.queue}
