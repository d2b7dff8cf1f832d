"""Mini-invaders: shoot two descending aliens in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from gymnasium.spaces import Box

from promptpo_baselines.icpi.domains.base import Domain, DomainEnv

if TYPE_CHECKING:
    from promptpo_baselines.icpi.values import Obs

WIDTH = 4
TOP = 5
DEAD = (-1, -1)
LEFT, SHOOT, RIGHT = range(3)


class MiniInvaders(Domain):
    """A ship moves below two aliens; a shot kills what is in its column.

    A state is (ship, x of the first alien, its y, x of the second, its y); a dead alien is at (-1, -1).
    """

    n_actions = 3
    observation_space = Box(
        np.array([0, -1, -1, -1, -1]), np.array([WIDTH - 1, WIDTH - 1, TOP, WIDTH - 1, TOP]), dtype=np.int64
    )
    gamma_plan = 0.8
    success_threshold = 1.0
    regret_scale = 2.0
    figure_steps = 160

    def reset(self, rng: np.random.Generator) -> Obs:
        """Ship and aliens in three different columns, the aliens in the top row."""
        ship, first, second = (int(x) for x in rng.permutation(WIDTH)[:3])
        return (ship, first, TOP, second, TOP)

    def step(self, obs: Obs, action: int, rng: np.random.Generator) -> tuple[Obs, float, bool]:
        """Shoot, descend, move, in this order."""
        del rng
        ship = int(obs[0])
        aliens = [(int(obs[1]), int(obs[2])), (int(obs[3]), int(obs[4]))]
        alive = [alien for alien in aliens if alien != DEAD]
        if action == SHOOT:
            aliens = [DEAD if alien[0] == ship else alien for alien in aliens]
        left = [alien for alien in aliens if alien != DEAD]
        landed = any(y == 0 for _, y in left)
        (ax, ay), (bx, by) = ((x, max(y - 1, 0)) if y >= 0 else DEAD for x, y in aliens)
        ship = min(max(ship + action - 1, 0), WIDTH - 1)
        return (ship, ax, ay, bx, by), float(len(alive) - len(left)), not left or landed

    def optimal_return(self, start: Obs) -> float:
        """Both aliens can be reached before they land, from every start."""
        del start
        return 2.0

    def distance(self, a: Obs, b: Obs) -> float:
        """Differences of coordinates; a living and a dead alien are further apart than any two living."""
        total = float(abs(a[0] - b[0]))
        for first, second in ((a[1:3], b[1:3]), (a[3:5], b[3:5])):
            if (first == DEAD) != (second == DEAD):
                total += WIDTH + TOP
            else:
                total += sum(abs(x - y) for x, y in zip(first, second, strict=True))
        return total


class MiniInvadersEnv(DomainEnv):
    """A ship in the bottom row must shoot two aliens before one of them lands.

    ## Description
    The aliens start in row 5 and descend one row per step. In each step the shot comes first, then the
    aliens descend, then the ship moves.

    ## Action Space
    `Discrete(3)`

    | Num | Action                                                |
    |-----|-------------------------------------------------------|
    | 0   | move the ship one column left                         |
    | 1   | shoot: every alien in the ship's column is killed     |
    | 2   | move the ship one column right                        |

    ## Observation Space
    `Box([0, -1, -1, -1, -1], [3, 3, 5, 3, 5], (5,), int64)`

    | Num | Observation                                      | Min | Max |
    |-----|--------------------------------------------------|-----|-----|
    | 0   | column of the ship                               | 0   | 3   |
    | 1   | column of the first alien, -1 when it is dead    | -1  | 3   |
    | 2   | row of the first alien, -1 when it is dead       | -1  | 5   |
    | 3   | column of the second alien, -1 when it is dead   | -1  | 3   |
    | 4   | row of the second alien, -1 when it is dead      | -1  | 5   |

    ## Rewards
    1 for each alien killed.

    ## Starting State
    The ship and the aliens in three different columns drawn uniformly, the aliens in row 5.

    ## Episode End
    Terminated when both aliens are dead, or when an alien that is in row 0 is not shot. That takes at
    most 6 steps.
    """

    domain = MiniInvaders()
