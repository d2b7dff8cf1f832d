"""The exact optimum of a NoiseWorld board, by value iteration over the finite horizon."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from promptpo_benchmarks.environments.noise_world.board import MOVES, NoiseBoard, State, board


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best that any policy can do on a board, dynamics known.

    Attributes:
        value: Expected return from the start.
        actions: Best action, shape (horizon, states); the states are numbered as in `number_of`.
    """

    value: float
    actions: NDArray[np.int64]


def number_of(state: State, size: int) -> int:
    """The number of a state among all states of a board."""
    return (state.visited * size + state.cell[0]) * size + state.cell[1]


@lru_cache
def solve_cached(number: int) -> Optimum:
    """`solve` for the board of a number."""
    return solve(board(number))


def optimal_return(number: int) -> float:
    """Expected return of the best policy on the board of a number."""
    return solve_cached(number).value


def solve(a_board: NoiseBoard) -> Optimum:
    """Backward induction: V_t(s) = max_a sum p (r + V_{t+1}(s')), and V at the horizon is 0."""
    following, probability, reward = _tables(a_board)
    states = following.shape[0]
    values = np.zeros(states + 1)  # the last one is the state after the end
    actions = np.empty((a_board.horizon, states), dtype=np.int64)
    for t in reversed(range(a_board.horizon)):
        worth = (probability * (reward + values[following])).sum(axis=2)
        actions[t] = worth.argmax(axis=1)
        values = np.append(worth.max(axis=1), 0.0)
    return Optimum(float(values[number_of(State(a_board.start), a_board.size)]), actions)


def _tables(a_board: NoiseBoard) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Following state, probability and reward of each result, all of shape (states, actions, 2)."""
    size, levels = a_board.size, len(a_board.milestones) + 1
    states = levels * size**2
    shape = (states, len(MOVES), 2)
    following = np.full(shape, states)
    probability, reward = np.zeros(shape), np.zeros(shape)
    for number in range(states):
        visited, cell = divmod(number, size**2)
        state = State(divmod(cell, size), visited)
        for action in range(len(MOVES)):
            for k, result in enumerate(a_board.transitions(state, action)):
                end = states if result.terminated else number_of(result.state, size)
                following[number, action, k] = end
                probability[number, action, k] = result.probability
                reward[number, action, k] = result.reward
    return following, probability, reward
