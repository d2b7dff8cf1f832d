from __future__ import annotations
import gymnasium as gym
import numpy as np
from gymnasium import spaces
from . import rules
from .rules import Queue, Room, SEVERITY as HOW_BAD


class Clinic(gym.Env):
    """Emergency room.

    Parameters
    ----------
    beds : int
        Rooms.

    Notes
    -----
    Each action says whom each room takes next: 0 nobody, 1 who waited longest, 2 the gravest.
    """

    metadata = {"render_modes": ["human"]}

    def __init__(self, beds: int = 3, minutes: int = 240, render_mode=None):
        self.beds, self.minutes, self.render_mode = beds, minutes, render_mode
        self.action_space = spaces.MultiDiscrete([3] * beds)
        self.observation_space = spaces.Dict(
            {"waiting": spaces.Box(0, np.inf, (3, 2), np.float32), "busy": spaces.MultiBinary(beds), "clock": spaces.Box(0, 1, (1,), np.float32)}
        )

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.rooms = [Room("doctor" if n == 0 else "nurse") for n in range(self.beds)]
        self.queue, self.minute, self.lost = Queue(), 0, 0
        return self._obs(), {}

    def step(self, action):
        pay = 0.0
        for room, choice in zip(self.rooms, action):
            with room.shift() as r:
                if (healed := r.serve(self.np_random)) is not None:
                    pay += HOW_BAD[healed["kind"]]
                if r.busy is None and choice:
                    r.busy = self.queue.take("waited" if choice == 1 else "kind")
        self.queue.tick()
        for p in rules.angry(self.queue):
            self.queue.remove(p)
            self.lost += 1
            pay -= 2 * HOW_BAD[p["kind"]]
        self.queue.extend(self._arrivals())
        self.minute += 1
        if self.render_mode == "human":
            self._show(); self._sleep(1 / 30)
        return self._obs(), pay, self.lost > 20, self.minute >= self.minutes, dict(lost=self.lost)

    def _arrivals(self):
        n = self.np_random.poisson(0.4 if self.minute < self.minutes // 2 else 0.8)
        return [rules.Patient(kind=int(self.np_random.choice(3, p=[0.6, 0.3, 0.1])), waited=0) for _ in range(n)]

    def _obs(self):
        w = np.zeros((3, 2), np.float32)
        for p in self.queue:
            w[p["kind"]] += (1, p["waited"])
        return {"waiting": w, "busy": np.array([r.busy is not None for r in self.rooms], np.int8), "clock": np.array([self.minute / self.minutes], np.float32)}

    def _show(self):
        print(self.queue, self.rooms)

    def _sleep(self, s):
        import time
        time.sleep(s)
