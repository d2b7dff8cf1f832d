"""What acts: trained agents with all that stands between them and an observation, and two that need no training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from gymnasium import spaces

from promptpo_baselines.environments import AnySpace, flatten

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

Stage = Callable[[Any], Any]
"""From a batch of observations to what the next stage, or the network, reads."""


class Actor(Protocol):
    """Acts on several environments at once."""

    def act(self, observations: Any) -> Any:
        """One action for each row of a batch of flat observations, deterministic where the agent can be."""


@dataclass(frozen=True)
class TrainedAgent:
    """A trained agent.

    Attributes:
        model: The algorithm with its network.
        stages: What is done to observations before the network sees them, first to last: normalisation
            with statistics that no longer change, and the reading of a language model.
        observation_space: Of the bare environment, for `predict`; None where its observations are flat.
    """

    model: BaseAlgorithm
    stages: Sequence[Stage] = ()
    observation_space: AnySpace | None = None

    def act(self, observations: Any) -> Any:
        """One deterministic action for each row of a batch of flat observations."""
        for stage in self.stages:
            observations = stage(observations)
        return self.model.predict(observations, deterministic=True)[0]

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = True,
    ) -> tuple[Any, Any]:
        """The action for one observation of the bare environment, and the state, which is passed through."""
        del episode_start
        flat = observation
        if self.observation_space is not None:
            flat = flatten(self.observation_space, observation)
        batch = np.asarray(flat)[None]
        for stage in self.stages:
            batch = stage(batch)
        action = self.model.predict(batch, deterministic=deterministic)[0][0]
        discrete = isinstance(self.model.action_space, spaces.Discrete)
        return (int(action) if discrete else action), state


@dataclass
class ZeroAgent:
    """Always the zero action: action 0, or the point nearest to zero in a box."""

    action_space: AnySpace

    def act(self, observations: Any) -> Any:
        """The same action for every row."""
        space = self.action_space
        if isinstance(space, spaces.Box):
            action = np.clip(np.zeros(space.shape), space.low, space.high)
        else:
            action = np.zeros(space.shape or (), int)
        return np.repeat(np.asarray(action, space.dtype)[None], len(observations), axis=0)


@dataclass
class RandomAgent:
    """Actions drawn uniformly from the action space, as `Space.sample` draws them.

    Attributes:
        action_space: What to draw from.
        seed: Of the draws.
    """

    action_space: AnySpace
    seed: int = 0
    _seeded: bool = field(default=False, init=False)

    def act(self, observations: Any) -> Any:
        """An action for every row, each drawn anew."""
        if not self._seeded:
            self.action_space.seed(self.seed)
            self._seeded = True
        return np.stack([np.asarray(self.action_space.sample()) for _ in range(len(observations))])
