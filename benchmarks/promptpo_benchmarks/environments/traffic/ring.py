"""A ring road on which traffic jams appear out of nothing, and one vehicle that may prevent them.

The setting is that of the experiment of Sugiyama et al. (New J. Phys. 10, 2008), 22 vehicles on 230 m,
with one vehicle under control as in Stern et al. (Transp. Res. C 89, 2018).
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from promptpo_benchmarks.environments.traffic.idm import LENGTH, Driver

VEHICLES, CIRCUMFERENCE = 22, 230.0
TIME_STEP, SUBSTEPS = 0.25, 2
"""Seconds, and how many of them make a decision."""
WARM_UP = 120
"""Time steps before the controlled vehicle takes over: half a minute."""
NOISE = 0.2
"""Standard deviation of the drivers' acceleration, m/s^2."""
STRONGEST = 3.0
"""Largest acceleration of the controlled vehicle, m/s^2."""


class Ring:
    """Vehicles on a closed road; number 0 may be driven from outside.

    Args:
        vehicles: How many.
        circumference: m.
        rng: For starting positions and the drivers' noise.
        noise: Standard deviation of the drivers' acceleration, m/s^2.
    """

    def __init__(
        self, vehicles: int, circumference: float, rng: np.random.Generator, noise: float = NOISE
    ) -> None:
        self.circumference, self.noise = circumference, noise
        self._rng, self._driver = rng, Driver()
        spacing = circumference / vehicles
        self.positions = np.arange(vehicles) * spacing + rng.uniform(-0.1, 0.1, vehicles) * spacing
        self.speeds = np.zeros(vehicles)

    def gaps(self) -> NDArray[np.float64]:
        """To the vehicle ahead, bumper to bumper, m."""
        ahead = np.roll(self.positions, -1)
        gaps: NDArray[np.float64] = np.mod(ahead - self.positions, self.circumference) - LENGTH
        return gaps

    def advance(self, own_acceleration: float | None) -> bool:
        """One time step; returns whether nobody has hit anybody.

        Args:
            own_acceleration: Of vehicle 0; None lets it drive like the others.
        """
        closing = self.speeds - np.roll(self.speeds, -1)
        acceleration = self._driver.acceleration_for(self.speeds, self.gaps(), closing)
        acceleration += self._rng.normal(0.0, self.noise, len(acceleration))
        if own_acceleration is not None:
            acceleration[0] = own_acceleration
        before = self.speeds
        self.speeds = np.maximum(0.0, before + acceleration * TIME_STEP)
        self.positions = self.positions + (before + self.speeds) / 2 * TIME_STEP
        return bool((self.gaps() > 0).all())


class TrafficRingEnv(gymnasium.Env[NDArray[np.float32], NDArray[np.float32]]):
    """Drive one of 22 vehicles on a ring road so that all of them move well.

    ## Description
    People drive the other 21 vehicles. By themselves they produce waves of stopping and starting. The
    controlled vehicle sees only itself and the vehicle ahead, and decides twice a second.

    ## Observation Space
    | Num | Observation | Min | Max | Unit |
    |-----|-------------|-----|-----|------|
    | 0   | own speed | 0 | 40 | m/s |
    | 1   | speed ahead (of the vehicle ahead) | 0 | 40 | m/s |
    | 2   | gap ahead (to the vehicle ahead, bumper to bumper) | -5 | 230 | m |

    ## Action Space
    | Num | Action | Min | Max | Unit |
    |-----|--------|-----|-----|------|
    | 0   | acceleration (of the controlled vehicle; speeds below 0 become 0) | -3 | 3 | m/s^2 |

    ## Rewards
    At each step the mean speed of all vehicles divided by 5 m/s, minus 0.02 times the squared
    acceleration of the controlled vehicle. A collision costs 100.

    ## Starting State
    Vehicles about equally spaced, after half a minute of human driving.

    ## Episode End
    At a collision of the controlled vehicle or any other; else after 600 steps (5 minutes).
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - Gymnasium declares it so

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        low, high = np.array([0, 0, -5], np.float32), np.array([40, 40, 230], np.float32)
        self.observation_space = spaces.Box(low, high, dtype=np.float32)
        self.action_space = spaces.Box(-STRONGEST, STRONGEST, (1,), dtype=np.float32)
        self._ring = Ring(VEHICLES, CIRCUMFERENCE, self.np_random)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Put the vehicles on the road and let people drive for half a minute."""
        super().reset(seed=seed, options=options)
        self._ring = Ring(VEHICLES, CIRCUMFERENCE, self.np_random)
        for _ in range(WARM_UP):
            self._ring.advance(None)
        return self._observation(), {}

    def step(
        self, action: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Hold an acceleration for half a second."""
        acceleration = float(np.clip(action[0], -STRONGEST, STRONGEST))
        safe = all(self._ring.advance(acceleration) for _ in range(SUBSTEPS))
        reward = float(self._ring.speeds.mean()) / 5.0 - 0.02 * acceleration**2
        if not safe:
            reward -= 100.0
        return self._observation(), reward, not safe, False, {"mean_speed": float(self._ring.speeds.mean())}

    def _observation(self) -> NDArray[np.float32]:
        ring = self._ring
        values = np.array([ring.speeds[0], ring.speeds[1], ring.gaps()[0]])
        return np.clip(values, self.observation_space.low, self.observation_space.high).astype(np.float32)  # type: ignore[attr-defined]
