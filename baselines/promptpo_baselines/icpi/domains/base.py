"""The interface of a domain, and its conversion to a Gymnasium environment."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import gymnasium
import numpy as np

if TYPE_CHECKING:
    from promptpo_baselines.icpi.values import Obs


class Domain(Protocol):
    """The rules of a small task; pure, so that planners and oracles can ask about any state.

    Environments whose rules nobody has written are played with the values that stand here.

    Attributes:
        n_actions: Actions are the integers below it.
        observation_space: Of states, as Gymnasium describes them.
        gamma_plan: Discount inside imagined rollouts.
        gamma_eval: Discount of the returns that regret compares.
        time_limit: Steps after which an episode is truncated; None means it always ends by itself.
        max_rollout: Longest imagined rollout.
        success_threshold: An episode succeeded when its return is larger.
        regret_scale: Regret is divided by it.
        figure_steps: Training steps in the paper's figure.
    """

    n_actions: int
    observation_space: gymnasium.Space[Any]
    gamma_plan: float = 0.9
    gamma_eval: float = 1.0
    time_limit: int | None = None
    max_rollout: int = 8
    success_threshold: float = 0.0
    regret_scale: float = 1.0
    figure_steps: int = 200

    def reset(self, rng: np.random.Generator) -> Obs:
        """Draw a start state."""
        ...

    def step(self, obs: Obs, action: int, rng: np.random.Generator) -> tuple[Obs, float, bool]:
        """Next state, reward and whether the episode has ended."""
        ...

    def optimal_return(self, start: Obs) -> float:
        """Best return from a start state within the time limit, discounted by `gamma_eval`."""
        ...

    def distance(self, a: Obs, b: Obs) -> float:
        """How far apart two states look; what a model without rules generalises by."""
        return sum(abs(x - y) for x, y in zip(a, b, strict=True))


class DomainEnv(gymnasium.Env[Any, np.int64]):
    """A domain as a Gymnasium environment; subclasses name the domain and describe themselves.

    The time limit is Gymnasium's ``TimeLimit`` wrapper, added by ``gymnasium.make``.
    """

    domain: ClassVar[Domain]

    def __init__(self) -> None:
        self.action_space = gymnasium.spaces.Discrete(self.domain.n_actions)
        self.observation_space = copy.deepcopy(self.domain.observation_space)
        self._state: Obs = ()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed, options=options)
        self._state = self.domain.reset(self.np_random)
        return self._observation(), {}

    def step(self, action: np.int64) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take one action."""
        self._state, reward, terminated = self.domain.step(self._state, int(action), self.np_random)
        return self._observation(), reward, terminated, False, {}

    def _observation(self) -> Any:
        """The state as a member of the observation space."""
        if isinstance(self.observation_space, gymnasium.spaces.Discrete):
            return np.int64(self._state[0])
        return np.array(self._state, dtype=self.observation_space.dtype)
