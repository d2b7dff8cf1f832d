"""An overhead crane, written as a control engineer would write it: the environment of ``promptpo demo``."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

GRAVITY = 9.81  # m/s²
DT = 0.05  # s
EPISODE_STEPS = 600  # 30 s
CLOSE, SLOW = 0.15, 0.15  # m, m/s
STILL_STEPS = 10  # half a second
BUFFER = 5.5  # m from the middle of the rail
MOST_SWING = 1.2  # rad; beyond it the load is in the rail
LEAST_WAY = 2.0  # m from one station to the next


class OverheadCrane(gymnasium.Env[np.ndarray, np.ndarray]):
    """Carry a swinging load along a rail from one station to the next, as often as time allows.

    The load hangs on a cable below a trolley. It counts as delivered when it has hung within 0.15 m of the station,
    moving slower than 0.15 m/s, for half a second; then the next station lights up. An episode takes 30 s.
    """

    def __init__(self, load: float = 0.5) -> None:
        high = np.array([6.0, 6.0, np.pi, 10.0, 5.0, 3.0], np.float32)
        self.observation_space = gymnasium.spaces.Box(-high, high)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)  # share of the motor's force
        self.cable = 2.0  # m, another one in every episode
        self.load = load  # mass of the load in trolley masses
        self.motor = 4.0  # m/s², the trolley alone at full force
        self.x = self.v = self.angle = self.rate = self.station = 0.0
        self.still = self.steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start at rest somewhere on the rail."""
        super().reset(seed=seed, options=options)
        self.x, self.v = self.np_random.uniform(-4.0, 4.0), 0.0
        self.angle, self.rate = self.np_random.uniform(-0.2, 0.2), 0.0
        self.still = self.steps = 0
        self.cable = self.np_random.uniform(1.0, 3.0)
        self._light_next_station()
        return self._observe(), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Drive the trolley for one twentieth of a second."""
        force = self.motor * float(np.clip(action[0], -1.0, 1.0)) - 0.4 * self.v  # rolling friction
        sin, cos = np.sin(self.angle), np.cos(self.angle)
        accel = force + self.load * sin * (self.cable * self.rate**2 + GRAVITY * cos)
        accel /= 1.0 + self.load * sin**2
        self.v += DT * accel
        self.rate += DT * (-(accel * cos + GRAVITY * sin) / self.cable - 0.05 * self.rate)
        self.x += DT * self.v
        self.angle += DT * self.rate
        self.steps += 1

        hook = self.x + self.cable * np.sin(self.angle)
        speed = self.v + self.cable * self.rate * np.cos(self.angle)
        self.still = self.still + 1 if abs(hook - self.station) < CLOSE and abs(speed) < SLOW else 0
        reward = -0.01 * abs(float(action[0]))  # energy
        if self.still >= STILL_STEPS:
            reward += 10.0
            self._light_next_station()
        crashed = abs(self.x) > BUFFER or abs(self.angle) > MOST_SWING
        if crashed:
            reward -= 20.0
        return self._observe(), reward, bool(crashed), self.steps >= EPISODE_STEPS, {}

    def _light_next_station(self) -> None:
        """Draw the next station."""
        here, self.still = self.x, 0
        self.station = self.np_random.uniform(-4.5, 4.5)
        while abs(self.station - here) < LEAST_WAY:
            self.station = self.np_random.uniform(-4.5, 4.5)

    def _observe(self) -> np.ndarray:
        """Trolley position and speed, cable angle and its rate, station, cable length."""
        return np.array([self.x, self.v, self.angle, self.rate, self.station, self.cable], np.float32)
