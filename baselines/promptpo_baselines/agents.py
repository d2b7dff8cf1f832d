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
"""From a batch of observations to what the next stage, or the network, reads."""


class Actor(Protocol):
    """Acts on several environments at once."""

    def act(self, observations: Sequence[Any]) -> Sequence[Any]:
        """One action for each flat observation, deterministic where the agent can be."""


@dataclass(frozen=True)
class TrainedAgent:
    """A trained agent.

    Attributes:
        model: The algorithm with its network.
        stages: What is done to observations before the network sees them, first to last: normalisation
            with statistics that no longer change, and the reading of a language model.
        observation_space: Of the bare environment, for `predict`; None where its observations are flat.
        action_space: The same of actions; None where they are counted from 0.
    """

    model: BaseAlgorithm
    stages: Sequence[Stage] = ()
    observation_space: AnySpace | None = None
    action_space: AnySpace | None = None

    def act(self, observations: Sequence[Any], *, deterministic: bool = True) -> Sequence[Any]:
        """One action for each flat observation, counted from 0; see `from_zero`."""
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
        """The action for one observation of the bare environment, and the state, which is passed through."""
        del episode_start
        space = self.observation_space
        flat = observation if space is None else flatten(space, observation)
        action = self.act([flat], deterministic=deterministic)[0]
        return action if self.action_space is None else from_zero(self.action_space, action), state


@dataclass
class ZeroAgent:
    """Always the zero action: action 0, or the point nearest to zero in a box."""

    action_space: AnySpace

    def act(self, observations: Sequence[Any]) -> Sequence[Any]:
        """The same action for every observation."""
        return [zero_action(self.action_space)] * len(observations)


@dataclass
class RandomAgent:
    """Actions drawn uniformly from the action space, as `Space.sample` draws them.

    Attributes:
        action_space: What to draw from.
        seed: Of the draws.
    """

    action_space: AnySpace
    seed: int = 0

    def __post_init__(self) -> None:
        seed_actions(self.action_space, self.seed)

    def act(self, observations: Sequence[Any]) -> Sequence[Any]:
        """An action for every observation, each drawn anew."""
        return [self.action_space.sample() for _ in observations]
