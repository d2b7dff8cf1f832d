"""Boards of NoiseWorld: what stands where, and what a move does.

A board is a square grid cut into Voronoi regions of three kinds of ground. Steady ground obeys; slippery
ground may keep the walker where it is; trap ground may throw it back to the start. The chances are
drawn once for each board. One cell is a wall, one is a pit, one is the goal; on some boards the goal
pays only after every milestone has been visited in order.

This is an implementation of our own of the kind of environment that the PromptPO paper (arXiv
2605.30719) uses for tasks without prior knowledge; the boards themselves are other boards than theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Cell = tuple[int, int]
"""Row and column."""

STEADY, SLIPPERY, TRAP = range(3)
WALL, PIT, GOAL, FIRST_MILESTONE = 3, 4, 5, 6
"""Cell codes; the three kinds of ground come first."""

MOVES: tuple[Cell, ...] = ((-1, 0), (0, 1), (1, 0), (0, -1))
"""Row and column change of the actions: up, right, down, left."""

CHANCES = (0.25, 0.95)
"""Range from which the chance of a misfortune is drawn for each board."""


class State(NamedTuple):
    """Where the walker is and how many milestones it has visited."""

    cell: Cell
    visited: int = 0


class PossibleMove(NamedTuple):
    """One possible result of an action."""

    probability: float
    state: State
    reward: float
    terminated: bool


@dataclass(frozen=True, slots=True)
class BoardRecipe:
    """How a board is drawn.

    Attributes:
        size: Rows and columns.
        milestones: How many have to be visited, in order, before the goal pays.
        seed: Decides the rest.
    """

    size: int
    milestones: int
    seed: int


@dataclass(frozen=True, slots=True)
class NoiseBoard:
    """One board.

    Attributes:
        codes: Cell codes, shape (size, size).
        misfortune: Chance that an action fails, for each kind of ground.
        start: Where episodes begin.
        goal: Where they end well.
        milestones: Cells to visit in this order before the goal pays.
    """

    codes: NDArray[np.int64]
    misfortune: Mapping[int, float]
    start: Cell
    goal: Cell
    milestones: tuple[Cell, ...]

    @property
    def size(self) -> int:
        """Rows and columns."""
        return len(self.codes)

    @property
    def horizon(self) -> int:
        """Longest episode: one step for each cell."""
        return self.size**2

    def transitions(self, state: State, action: int) -> list[PossibleMove]:
        """Possible outcomes of an action; their probabilities sum to one."""
        moved = self._arrival(state, action)
        ground = int(self.codes[state.cell])
        chance = self.misfortune.get(ground, 0.0)
        if not chance:
            return [PossibleMove(1.0, *moved)]
        failed = State(self.start if ground == TRAP else state.cell, state.visited)
        return [PossibleMove(1.0 - chance, *moved), PossibleMove(chance, failed, -1.0, terminated=False)]

    def _arrival(self, state: State, action: int) -> tuple[State, float, bool]:
        row, column = (a + b for a, b in zip(state.cell, MOVES[action], strict=True))
        cell = (row, column)
        if not (0 <= row < self.size and 0 <= column < self.size) or self.codes[cell] == WALL:
            return state, -1.0, False
        visited = state.visited
        if visited < len(self.milestones) and cell == self.milestones[visited]:
            visited += 1
        arrived = State(cell, visited)
        if self.codes[cell] == PIT:
            return arrived, -1.0 - float(self.size**5), True
        if cell == self.goal:
            bonus = float(self.size**3) if visited == len(self.milestones) else 0.0
            return arrived, -1.0 + bonus, True
        return arrived, -1.0, False


BOARDS: tuple[BoardRecipe, ...] = (
    BoardRecipe(5, 0, 38),
    BoardRecipe(10, 0, 8),
    BoardRecipe(10, 0, 17),
    BoardRecipe(10, 0, 33),
    BoardRecipe(10, 2, 20),
    BoardRecipe(10, 2, 7),
    BoardRecipe(10, 2, 35),
)
"""The boards by number: a small one, three large ones, and three whose goal pays only after milestones."""


@lru_cache
def board(number: int) -> NoiseBoard:
    """The board of a number.

    Raises:
        ValueError: There is no such board.
    """
    if not 0 <= number < len(BOARDS):
        raise ValueError(f"NoiseWorld has boards 0 to {len(BOARDS) - 1}, not {number}.")
    return draw(BOARDS[number])


def draw(recipe: BoardRecipe) -> NoiseBoard:
    """Draw a board; the same recipe gives the same board."""
    rng = np.random.default_rng(recipe.seed)
    size = recipe.size
    codes = _regions(rng, size)
    start, goal, *cells = _shuffle_cells(rng, size)
    while _distance(start, goal) < size:
        start, goal, *cells = _shuffle_cells(rng, size)
    milestones = tuple(cells.pop() for _ in range(recipe.milestones))
    special = {goal: GOAL} | {cell: FIRST_MILESTONE + n for n, cell in enumerate(milestones)}
    if size >= 10:
        special |= {cells.pop(): WALL, cells.pop(): PIT}
    for cell, code in special.items():
        codes[cell] = code
    misfortune = {kind: float(rng.uniform(*CHANCES)) for kind in (SLIPPERY, TRAP)}
    codes.setflags(write=False)
    return NoiseBoard(codes, misfortune, start, goal, milestones)


def _regions(rng: np.random.Generator, size: int) -> NDArray[np.int64]:
    """Ground by the nearest of two centres for each kind."""
    centres = rng.uniform(0, size, (6, 2))
    rows, columns = np.mgrid[:size, :size]
    distances = [(rows - r) ** 2 + (columns - c) ** 2 for r, c in centres]
    nearest: NDArray[np.int64] = np.argmin(distances, axis=0)
    return nearest % 3


def _shuffle_cells(rng: np.random.Generator, size: int) -> list[Cell]:
    return [(int(i) // size, int(i) % size) for i in rng.permutation(size**2)]


def _distance(a: Cell, b: Cell) -> int:
    return abs(a[0] - b[0]) + abs(a[1] - b[1])
