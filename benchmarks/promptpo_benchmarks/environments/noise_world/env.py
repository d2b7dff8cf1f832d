"""NoiseWorld as a Gymnasium environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from promptpo_benchmarks.environments.noise_world.board import FIRST_MILESTONE, MOVES, State, board

COLOURS = np.array(
    [(235, 235, 235), (170, 205, 235), (235, 190, 150), (60, 60, 60), (150, 30, 30), (40, 140, 70),
     (240, 220, 90), (200, 160, 30)], dtype=np.uint8,
)  # fmt: skip
WALKER = (90, 40, 160)
PIXELS = 24


class NoiseWorldEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """A walker on a board of unknown ground.

    ## Description
    A square board. The walker has to reach the goal cell in as few steps as possible. The numbers on
    the board say what kind of cell each one is; what the kinds do has to be found out. A step does not
    always do what it says.

    ## Observation Space
    A vector: row and column of the walker, row and column of the goal, all divided by the number of
    rows minus one; then the code of every cell of the board, row by row. The codes never change.

    | Num | Observation | Min | Max |
    |-----|-------------|-----|-----|
    | 0   | row of the walker, 0 at the top | 0 | 1 |
    | 1   | column of the walker, 0 at the left | 0 | 1 |
    | 2   | row of the goal | 0 | 1 |
    | 3   | column of the goal | 0 | 1 |

    ## Action Space
    - 0: up
    - 1: right
    - 2: down
    - 3: left

    ## Rewards
    Each step costs a little. Reaching the goal gives a large bonus. Some cells cost far more than the
    bonus is worth.

    ## Starting State
    Every episode starts on the same cell of the same board.

    ## Episode End
    At the goal, on a cell that ends the episode, or after as many steps as the board has cells.

    ## Arguments
    `board`: which board, 0 to 6; 0 has 5 x 5 cells, the others 10 x 10.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array", "ansi"], "render_fps": 8}  # noqa: RUF012 - Gymnasium declares it so

    def __init__(self, board: int = 0, render_mode: str | None = None) -> None:
        self.number = board
        self.board = _board(board)
        self.render_mode = render_mode
        cells = self.board.size**2
        high = np.concatenate([np.ones(4), np.full(cells, FIRST_MILESTONE + 1)]).astype(np.float32)
        self.observation_space = spaces.Box(np.zeros(4 + cells, np.float32), high, dtype=np.float32)
        self.action_space = spaces.Discrete(len(MOVES))
        self.state = State(self.board.start)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Put the walker on its starting cell."""
        super().reset(seed=seed, options=options)
        self.state = State(self.board.start)
        return self._observation(), {}

    def step(self, action: np.int64) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Take one step and draw what comes of it."""
        possible = self.board.transitions(self.state, int(action))
        pick = 0 if len(possible) == 1 or self.np_random.random() < possible[0].probability else 1
        result = possible[pick]
        self.state = result.state
        return self._observation(), result.reward, result.terminated, False, {}

    def render(self) -> Any:
        """The board as an image, or as text."""
        codes = self.board.codes
        if self.render_mode == "ansi":
            rows = ["".join(str(int(code)) for code in row) for row in codes]
            row, column = self.state.cell
            rows[row] = f"{rows[row][:column]}@{rows[row][column + 1 :]}"
            return "\n".join(rows)
        image = COLOURS[codes]
        image[self.state.cell] = WALKER
        return image.repeat(PIXELS, axis=0).repeat(PIXELS, axis=1)

    def _observation(self) -> NDArray[np.float32]:
        scale = self.board.size - 1
        places = np.array([*self.state.cell, *self.board.goal]) / scale
        return np.concatenate([places, self.board.codes.ravel()]).astype(np.float32)


_board = board  # the constructor's argument has the function's name
