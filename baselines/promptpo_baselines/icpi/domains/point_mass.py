"""Point-mass: come to rest near the origin."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from gymnasium.spaces import Box

from promptpo_baselines.icpi.domains.base import Domain, DomainEnv

if TYPE_CHECKING:
    from promptpo_baselines.icpi.values import Obs

GOAL_RADIUS = 2.0
FARTHEST_START = 6.0
REACH = 100.0
"""No episode of 8 steps gets this far."""


class PointMass(Domain):
    """A mass on a line whose velocity changes by one per step."""

    n_actions = 2
    observation_space = Box(-REACH, REACH, (2,), np.float64)
    gamma_plan = 0.8
    gamma_eval = 0.8
    time_limit: int | None = 8
    figure_steps = 260

    def reset(self, rng: np.random.Generator) -> Obs:
        """At rest, 2 to 6 away from the origin on either side."""
        distance = float(rng.uniform(GOAL_RADIUS, FARTHEST_START))
        return (distance if rng.random() < 0.5 else -distance, 0)  # noqa: PLR2004 - a fair coin

    def step(self, obs: Obs, action: int, rng: np.random.Generator) -> tuple[Obs, float, bool]:
        """Pay when at rest in the goal; otherwise move by the old velocity, then change it."""
        del rng
        position, velocity = float(obs[0]), int(obs[1])
        if abs(position) <= GOAL_RADIUS and velocity == 0:
            return (position, velocity), 1.0, True
        return (position + velocity, velocity + (1 if action else -1)), 0.0, False

    def optimal_return(self, start: Obs) -> float:
        """Speed up for half of the way and slow down for the other half."""
        distance = abs(start[0]) - GOAL_RADIUS
        return float(self.gamma_eval ** (2 * math.ceil(math.sqrt(max(distance, 0.0)))))


class PointMassEnv(DomainEnv):
    """A point on a line must come to rest within 2 of the origin.

    ## Description
    In each step the position changes by the velocity, and then the velocity by the action. An action,
    whichever, taken when the point is at rest in the goal region ends the episode with the reward.

    ## Action Space
    `Discrete(2)`

    | Num | Action                              |
    |-----|-------------------------------------|
    | 0   | decelerate: the velocity drops by 1 |
    | 1   | accelerate: the velocity grows by 1 |

    ## Observation Space
    `Box(-100, 100, (2,), float64)`

    | Num | Observation | Min  | Max |
    |-----|-------------|------|-----|
    | 0   | position    | -100 | 100 |
    | 1   | velocity    | -100 | 100 |

    ## Rewards
    1 for an action taken while the distance from the origin is at most 2 and the velocity is 0; 0 for
    everything else.

    ## Starting State
    At rest, at a distance drawn uniformly between 2 and 6, on a random side.

    ## Episode End
    Terminated by the action that is rewarded; truncated after 8 steps.
    """

    domain = PointMass()
