"""A maze of nine cells with two walls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gymnasium.spaces import MultiDiscrete

from promptpo_baselines.icpi.domains.base import Domain, DomainEnv

if TYPE_CHECKING:
    import numpy as np

    from promptpo_baselines.icpi.values import Obs

SIZE = 3
GOAL = (1, 0)
MOVES = ((0, -1), (1, 0), (-1, 0), (0, 1))
"""(row, column) change of left, down, up, right."""
WALLS = frozenset({frozenset({(1, 0), (1, 1)}), frozenset({(1, 1), (2, 1)})})
DISTANCES = {
    (1, 0): 0, (0, 0): 1, (2, 0): 1, (0, 1): 2, (2, 1): 2, (1, 1): 3, (0, 2): 3, (2, 2): 3, (1, 2): 4,
}  # fmt: skip
"""Steps to the goal."""


class Maze(Domain):
    """Three by three cells; an action taken in the goal cell pays and ends the episode."""

    n_actions = 4
    observation_space = MultiDiscrete([SIZE, SIZE])
    gamma_plan = 0.8
    gamma_eval = 0.8
    time_limit: int | None = 8
    max_rollout = 6
    figure_steps = 140

    def reset(self, rng: np.random.Generator) -> Obs:
        """Any cell, the goal included, with equal chance."""
        i, j = divmod(int(rng.integers(SIZE * SIZE)), SIZE)
        return (i, j)

    def step(self, obs: Obs, action: int, rng: np.random.Generator) -> tuple[Obs, float, bool]:
        """Pay in the goal; elsewhere move unless a wall or the border is in the way."""
        del rng
        here = (int(obs[0]), int(obs[1]))
        if here == GOAL:
            return here, 1.0, True
        di, dj = MOVES[action]
        there = (here[0] + di, here[1] + dj)
        blocked = there not in DISTANCES or frozenset({here, there}) in WALLS
        return (here if blocked else there), 0.0, False

    def optimal_return(self, start: Obs) -> float:
        """One discount per step of distance."""
        return float(self.gamma_eval ** DISTANCES[int(start[0]), int(start[1])])


class MazeEnv(DomainEnv):
    """An agent in a maze of 3 by 3 cells must reach the goal cell and act once more there.

    ## Description
    Two walls stand in the maze: one between the cells (1, 0) and (1, 1), one between (1, 1) and (2, 1).
    Moving into a wall or over the border leaves the agent where it is. The goal is the cell (1, 0); one
    more action, whichever, taken in it ends the episode with the reward.

    ## Action Space
    `Discrete(4)`

    | Num | Action                       |
    |-----|------------------------------|
    | 0   | left: the column decreases   |
    | 1   | down: the row increases      |
    | 2   | up: the row decreases        |
    | 3   | right: the column increases  |

    ## Observation Space
    `MultiDiscrete([3, 3])`

    | Num | Observation | Min | Max |
    |-----|-------------|-----|-----|
    | 0   | row         | 0   | 2   |
    | 1   | column      | 0   | 2   |

    ## Rewards
    1 for an action taken in the goal cell; 0 for everything else.

    ## Starting State
    A cell drawn uniformly.

    ## Episode End
    Terminated by the action taken in the goal cell; truncated after 8 steps.
    """

    domain = Maze()
