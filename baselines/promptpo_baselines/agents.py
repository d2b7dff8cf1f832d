"""Agents that act on observations: trained ones with their preprocessing, and two that need no training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from gymnasium import spaces

from promptpo.envs.actions import seed_actions
from promptpo_baselines.actions import from_zero, zero_action
from promptpo_baselines.environments import AnySpace, flatten

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

Stage = Callable[[Any], Any]
"""Converts a batch of observations to the input of the next stage, or of the network."""


class Actor(Protocol):
    """Acts on several environments at once."""

    def act(self, observations: Sequence[Any]) -> Sequence[Any]:
        """Return an action for each flat observation, deterministic if the agent can be."""


@dataclass(frozen=True)
class TrainedAgent:
    """A trained agent.

    Attributes:
        model: The algorithm with its network.
        stages: Preprocessing of observations, in order: normalisation with frozen statistics, and the encoding by a
            language model.
        observation_space: Observation space of the bare environment, for `predict`; None if its observations are flat.
        action_space: Action space of the bare environment; None if its actions are counted from 0.
    """

    model: BaseAlgorithm
    stages: Sequence[Stage] = ()
    observation_space: AnySpace | None = None
    action_space: AnySpace | None = None

    def act(self, observations: Sequence[Any], *, deterministic: bool = True) -> Sequence[Any]:
        """Return an action for each flat observation, counted from 0; see `from_zero`."""
        batch: Any = np.stack([np.asarray(observation) for observation in observations])
        for stage in self.stages:
            batch = stage(batch)
        actions = self.model.predict(batch, deterministic=deterministic)[0]
        discrete = isinstance(self.model.action_space, spaces.Discrete)
        return [int(action) for action in actions] if discrete else [*actions]

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = True,
    ) -> tuple[Any, Any]:
        """Return the action for one observation of the bare environment, and the state, which is passed through."""
        del episode_start
        space = self.observation_space
        flat = observation if space is None else flatten(space, observation)
        action = self.act([flat], deterministic=deterministic)[0]
        return action if self.action_space is None else from_zero(self.action_space, action), state


@dataclass
class ZeroAgent:
    """Always takes the zero action: action 0, or the point nearest to zero in a box."""

    action_space: AnySpace

    def act(self, observations: Sequence[Any]) -> Sequence[Any]:
        """Return the same action for every observation."""
        return [zero_action(self.action_space)] * len(observations)


@dataclass
class RandomAgent:
    """Draws actions uniformly from the action space, as `Space.sample` does.

    Attributes:
        action_space: The space to draw from.
        seed: Seed of the draws.
    """

    action_space: AnySpace
    seed: int = 0

    def __post_init__(self) -> None:
        seed_actions(self.action_space, self.seed)

    def act(self, observations: Sequence[Any]) -> Sequence[Any]:
        """Return a newly drawn action for every observation."""
        return [self.action_space.sample() for _ in observations]
