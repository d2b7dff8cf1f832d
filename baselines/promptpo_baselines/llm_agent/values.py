"""Values of actions, estimated from random rollouts by the nearest states in which each action was taken."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import accumulate, count
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.core.candidate import Seeds
from promptpo_baselines.environments import vector
from promptpo_baselines.evaluation import Player

if TYPE_CHECKING:
    import gymnasium

NEIGHBOURS = 10
DISCOUNT = 0.99
FLOOR = 0.01
"""Minimum value of an action, so that a few bad rollouts do not rule it out for good."""


class StepValues:
    """Values between `FLOOR` and 1 of every action in a state.

    The value of an action is the mean discounted return that followed it in the `NEIGHBOURS` nearest states in which
    it was taken, as a fraction of the range of all observed returns. An action that was never taken has the mean of
    all.

    Args:
        space: Observation space.
        n_actions: Number of actions, which are indexed from 0.
        observations: One for each step.
        actions: Index of the action of each step.
        returns: Discounted return from each step on.
    """

    def __init__(
        self,
        space: gymnasium.Space[Any],
        n_actions: int,
        observations: Sequence[Any],
        actions: Sequence[int],
        returns: Sequence[float],
    ) -> None:
        self._space = space
        points = np.array([vector(space, observation) for observation in observations], dtype=float)
        self._scale = np.maximum(points.std(axis=0), 1e-8)
        found = np.asarray(returns, dtype=float)
        low, high = float(found.min()), float(found.max())
        self._worth = (found - low) / (high - low) if high > low else np.full(len(found), 0.5)
        taken = np.asarray(actions)
        self._of = [(points[taken == n] / self._scale, self._worth[taken == n]) for n in range(n_actions)]

    def of(self, observation: Any) -> np.ndarray:
        """Return the value of every action, shape (n_actions,)."""
        here = vector(self._space, observation) / self._scale
        return np.array([max(FLOOR, self._near(here, *known)) for known in self._of])

    def _near(self, here: np.ndarray, points: np.ndarray, worth: np.ndarray) -> float:
        if not len(points):
            return float(self._worth.mean())
        distances = ((points - here) ** 2).sum(axis=1)
        nearest = np.argsort(distances, kind="stable")[:NEIGHBOURS]
        return float(worth[nearest].mean())


def values_of_random_play(env: gymnasium.Env[Any, Any], steps: int, seed: int) -> StepValues:
    """Estimate values from a number of steps of uniformly random actions on training seeds.

    An episode that the last step cuts off counts with its return so far.

    Args:
        env: An environment with Discrete actions and numeric observations.
        steps: Number of steps.
        seed: Seed of the run, which determines the episodes' seeds and the actions.
    """
    space: Any = env.action_space
    rng, player = np.random.default_rng([seed, 1]), Player(env)
    observations, actions, returns = list[Any](), list[int](), list[float]()
    for episode in count():
        player.start(*Seeds(seed).train(1, start=episode))
        ended = None
        while ended is None and len(actions) < steps:
            observations.append(copy.deepcopy(player.observation))
            actions.append(int(rng.integers(space.n)))
            ended = player.step(space.start + actions[-1])
        returns += _discount(player.rewards)
        if ended is None or len(actions) == steps:
            break
    return StepValues(env.observation_space, int(space.n), observations, actions, returns)


def _discount(rewards: Sequence[float]) -> list[float]:
    """Return the discounted return from each step on."""
    return list(accumulate(reversed(rewards), lambda ahead, reward: reward + DISCOUNT * ahead))[::-1]
