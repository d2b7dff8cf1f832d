"""Chain, and chain with a distractor: find the one cell in which trying pays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gymnasium.spaces import Discrete, MultiDiscrete, Space

from promptpo_baselines.icpi.domains.base import Domain, DomainEnv

if TYPE_CHECKING:
    import numpy as np

    from promptpo_baselines.icpi.values import Obs

CELLS = 8
GOAL = 4
LEFT, TRY_GOAL, RIGHT = range(3)


class Chain(Domain):
    """Eight cells in a row; "try goal" ends the episode and pays only in cell 4."""

    n_actions = 3
    observation_space: Space[Any] = Discrete(CELLS)
    gamma_plan = 0.8
    gamma_eval = 0.8
    time_limit: int | None = 8
    max_rollout = 6
    figure_steps = 80

    def reset(self, rng: np.random.Generator) -> Obs:
        """Any cell, the goal included, with equal chance."""
        return (int(rng.integers(CELLS)),)

    def step(self, obs: Obs, action: int, rng: np.random.Generator) -> tuple[Obs, float, bool]:
        """Move within the row, or try."""
        del rng
        x = int(obs[0])
        if action == TRY_GOAL:
            return (x,), float(x == GOAL), True
        return (_move(x, action),), 0.0, False

    def optimal_return(self, start: Obs) -> float:
        """One discount per cell of distance."""
        return float(self.gamma_eval ** abs(start[0] - GOAL))


class DistractorChain(Chain):
    """The chain with a second number beside the cell, drawn anew at every step."""

    observation_space = MultiDiscrete([CELLS, CELLS])
    figure_steps = 120

    def reset(self, rng: np.random.Generator) -> Obs:
        """Any cell and any distractor."""
        return (*super().reset(rng), int(rng.integers(CELLS)))

    def step(self, obs: Obs, action: int, rng: np.random.Generator) -> tuple[Obs, float, bool]:
        """Move or try, and draw the distractor."""
        cell, reward, terminal = super().step(obs[:1], action, rng)
        return (*cell, int(rng.integers(CELLS))), reward, terminal


def _move(x: int, action: int) -> int:
    return max(x - 1, 0) if action == LEFT else min(x + 1, CELLS - 1)


class ChainEnv(DomainEnv):
    """An agent in a row of eight cells must walk to the goal cell and try it.

    ## Description
    The episode starts in a random cell, which may be the goal already. The agent may try the current
    cell once: trying ends the episode, whether or not the cell is the goal.

    ## Action Space
    `Discrete(3)`

    | Num | Action                                                     |
    |-----|------------------------------------------------------------|
    | 0   | move one cell to the left (cell 0 is the end of the row)   |
    | 1   | try the current cell; ends the episode                     |
    | 2   | move one cell to the right (cell 7 is the end of the row)  |

    ## Observation Space
    `Discrete(8)`: the cell, 0 to 7. The goal is cell 4.

    ## Rewards
    1 for trying cell 4; 0 for everything else.

    ## Starting State
    A cell drawn uniformly.

    ## Episode End
    Terminated by action 1; truncated after 8 steps.
    """

    domain = Chain()


class DistractorChainEnv(DomainEnv):
    """The chain of eight cells with a second, meaningless number in the observation.

    ## Description
    As in the chain, the agent walks to the goal cell and tries it; trying ends the episode. The second
    number of the observation is drawn anew at every step and has no influence on anything.

    ## Action Space
    `Discrete(3)`

    | Num | Action                                                     |
    |-----|------------------------------------------------------------|
    | 0   | move one cell to the left (cell 0 is the end of the row)   |
    | 1   | try the current cell; ends the episode                     |
    | 2   | move one cell to the right (cell 7 is the end of the row)  |

    ## Observation Space
    `MultiDiscrete([8, 8])`

    | Num | Observation                        | Min | Max |
    |-----|------------------------------------|-----|-----|
    | 0   | cell; the goal is 4                | 0   | 7   |
    | 1   | a random number                    | 0   | 7   |

    ## Rewards
    1 for trying cell 4; 0 for everything else.

    ## Starting State
    Both numbers are drawn uniformly.

    ## Episode End
    Terminated by action 1; truncated after 8 steps.
    """

    domain = DistractorChain()
