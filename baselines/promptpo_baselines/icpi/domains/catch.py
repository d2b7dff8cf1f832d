"""Mini-catch: be under the ball when it lands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gymnasium.spaces import MultiDiscrete

from promptpo_baselines.icpi.domains.base import Domain, DomainEnv

if TYPE_CHECKING:
    import numpy as np

    from promptpo_baselines.icpi.values import Obs

WIDTH = 4
HEIGHT = 5
PADDLE_START = 2


class MiniCatch(Domain):
    """A ball falls one row per step; the paddle moves beneath it."""

    n_actions = 3
    observation_space = MultiDiscrete([WIDTH, WIDTH, HEIGHT])
    gamma_plan = 1.0
    max_rollout = 5
    figure_steps = 300

    def reset(self, rng: np.random.Generator) -> Obs:
        """The paddle at 2, the ball in any column of the top row."""
        return (PADDLE_START, int(rng.integers(WIDTH)), HEIGHT - 1)

    def step(self, obs: Obs, action: int, rng: np.random.Generator) -> tuple[Obs, float, bool]:
        """End when the ball is down already; otherwise move the paddle and drop the ball."""
        del rng
        paddle, x, y = (int(value) for value in obs)
        if y == 0:
            return (paddle, x, y), float(paddle == x), True
        return (min(max(paddle + action - 1, 0), WIDTH - 1), x, y - 1), 0.0, False

    def optimal_return(self, start: Obs) -> float:
        """The paddle has time to reach every column."""
        del start
        return 1.0


class MiniCatchEnv(DomainEnv):
    """A paddle must be in the ball's column when the ball has reached the bottom row.

    ## Description
    The ball starts in the top row (4) and falls one row per step. The action taken when the ball is in
    row 0 ends the episode; the paddle and the ball are compared as they stood before that action.

    ## Action Space
    `Discrete(3)`

    | Num | Action                               |
    |-----|--------------------------------------|
    | 0   | move the paddle one column left      |
    | 1   | leave the paddle where it is         |
    | 2   | move the paddle one column right     |

    ## Observation Space
    `MultiDiscrete([4, 4, 5])`

    | Num | Observation            | Min | Max |
    |-----|------------------------|-----|-----|
    | 0   | column of the paddle   | 0   | 3   |
    | 1   | column of the ball     | 0   | 3   |
    | 2   | row of the ball        | 0   | 4   |

    ## Rewards
    1 for the last action if paddle and ball are in the same column; 0 for everything else.

    ## Starting State
    The paddle in column 2, the ball in row 4 and a column drawn uniformly.

    ## Episode End
    Terminated by the action taken when the ball is in row 0, which is the fifth.
    """

    domain = MiniCatch()
