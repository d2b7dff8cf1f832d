"""Merging from a ramp into a lane of drivers of the Intelligent Driver Model."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from promptpo_benchmarks.environments.traffic.idm import LENGTH, Driver

TIME_STEP = 0.2
RAMP, ROAD = 200.0, 200.0
"""Length of the ramp before, and of the road after, the point where the lanes meet, m."""
STRONGEST_BRAKING, STRONGEST_ACCELERATION = 5.0, 3.0
HARDEST_BRAKING = 8.0
"""Of the others, m/s^2: the model has no bound of its own when somebody cuts in."""
FAR, SEEN = 200.0, 2
"""How far the sensors reach, m, and how many vehicles they report in each direction."""
VEHICLES = 24


class TrafficMergeEnv(gymnasium.Env[NDArray[np.float32], NDArray[np.float32]]):
    """Drive up a ramp and merge into the traffic of a main road.

    ## Description
    The ramp meets the main road at position 0. Up to there the controlled vehicle has its lane for
    itself; from there on it is in the lane of the others, who do not look at the ramp. It has to arrive
    in a gap, at a fitting speed, without making those behind brake hard.

    ## Observation Space
    Position and speed of the controlled vehicle, then two vehicles ahead of it and two behind it on the
    main road, nearest first: distance along the road (positive ahead) and speed. A vehicle that is not
    there is reported at 200 m with the controlled vehicle's speed.

    | Num | Observation | Min | Max | Unit |
    |-----|-------------|-----|-----|------|
    | 0   | own position (0 is where the lanes meet) | -200 | 210 | m |
    | 1   | own speed | 0 | 40 | m/s |
    | 2   | distance ahead (of the first vehicle ahead, front bumper to front bumper) | 0 | 200 | m |
    | 3   | speed ahead | 0 | 40 | m/s |
    | 4   | second distance ahead | 0 | 200 | m |
    | 5   | second speed ahead | 0 | 40 | m/s |
    | 6   | distance behind (of the first vehicle behind) | -200 | 0 | m |
    | 7   | speed behind | 0 | 40 | m/s |
    | 8   | second distance behind | -200 | 0 | m |
    | 9   | second speed behind | 0 | 40 | m/s |

    ## Action Space
    | Num | Action | Min | Max | Unit |
    |-----|--------|-----|-----|------|
    | 0   | acceleration (speeds below 0 become 0) | -5 | 3 | m/s^2 |

    ## Rewards
    Each step costs 0.02, plus 0.005 times the squared acceleration, plus 0.02 times the squared
    deceleration of the vehicle behind once the lanes have met. Vehicles are 5 m long; a collision costs
    10. Reaching position 200 gives 10.

    ## Starting State
    At the foot of the ramp, position -200, at 12 to 18 m/s; the main road flows at 20 to 25 m/s with
    gaps of 1 to 3 seconds.

    ## Episode End
    At position 200, at a collision, or after 300 steps of 0.2 seconds.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - Gymnasium declares it so

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        low = np.array([-RAMP, 0, 0, 0, 0, 0, -FAR, 0, -FAR, 0], np.float32)
        high = np.array([ROAD + 10, 40, FAR, 40, FAR, 40, 0, 40, 0, 40], np.float32)
        self.observation_space = spaces.Box(low, high, dtype=np.float32)
        self.action_space = spaces.Box(-STRONGEST_BRAKING, STRONGEST_ACCELERATION, (1,), dtype=np.float32)
        self._driver = Driver()
        self._position = self._speed = 0.0
        self._others = self._speeds = np.zeros(VEHICLES)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Fill the main road and put the vehicle on the ramp."""
        super().reset(seed=seed, options=options)
        rng = self.np_random
        flow = float(rng.uniform(20.0, 25.0))
        self._driver = Driver(desired_speed=flow * 1.2)
        spacings = flow * rng.uniform(1.0, 3.0, VEHICLES) + LENGTH
        self._others = 150.0 - np.cumsum(spacings) + spacings[0] * rng.uniform()
        self._speeds = np.full(VEHICLES, flow)
        self._position, self._speed = -RAMP, float(rng.uniform(12.0, 18.0))
        return self._observation(), {}

    def step(
        self, action: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Hold an acceleration for a fifth of a second."""
        wish = float(np.clip(action[0], -STRONGEST_BRAKING, STRONGEST_ACCELERATION))
        others = self._others_acceleration()
        behind = self._follower()
        felt = -float(others[behind]) if self._position >= 0 and behind is not None else 0.0
        self._others, self._speeds = _advance(self._others, self._speeds, others)
        position, speed = _advance(np.array([self._position]), np.array([self._speed]), np.array([wish]))
        self._position, self._speed = float(position[0]), float(speed[0])
        collision = self._position >= 0 and bool((np.abs(self._others - self._position) < LENGTH).any())
        arrived = not collision and self._position >= ROAD
        reward = -0.02 - 0.005 * wish**2 - 0.02 * max(0.0, felt) ** 2
        reward += 10.0 * arrived - 10.0 * collision
        return self._observation(), reward, collision or arrived, False, {"success": arrived}

    def _others_acceleration(self) -> NDArray[np.float64]:
        """Of the vehicles on the main road, the first of which leads."""
        ahead = np.concatenate([[self._others[0] + 1000.0], self._others[:-1]])
        ahead_speeds = np.concatenate([[self._speeds[0]], self._speeds[:-1]])
        behind = self._follower()
        if self._position >= 0 and behind is not None:
            ahead[behind], ahead_speeds[behind] = self._position, self._speed
        wanted = self._driver.acceleration_for(
            self._speeds, ahead - self._others - LENGTH, self._speeds - ahead_speeds
        )
        bounded: NDArray[np.float64] = np.maximum(wanted, -HARDEST_BRAKING)
        return bounded

    def _follower(self) -> int | None:
        """The first vehicle of the main road that is behind the controlled one."""
        behind = np.flatnonzero(self._others < self._position)
        return int(behind[0]) if behind.size else None

    def _observation(self) -> NDArray[np.float32]:
        distance = self._others - self._position
        ahead = np.flatnonzero(distance >= 0)[::-1][:SEEN]
        behind = np.flatnonzero(distance < 0)[:SEEN]
        values = [self._position, self._speed]
        for indices, nowhere in ((ahead, FAR), (behind, -FAR)):
            seen = [(distance[i], self._speeds[i]) for i in indices if abs(distance[i]) <= FAR]
            for pair in (*seen, *[(nowhere, self._speed)] * (SEEN - len(seen))):
                values += [float(pair[0]), float(pair[1])]
        space = self.observation_space
        return np.clip(np.array(values), space.low, space.high).astype(np.float32)  # type: ignore[attr-defined]


def _advance(
    positions: NDArray[np.float64], speeds: NDArray[np.float64], acceleration: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    after = np.maximum(0.0, speeds + acceleration * TIME_STEP)
    return positions + (speeds + after) / 2 * TIME_STEP, after
