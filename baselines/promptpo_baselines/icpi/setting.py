"""An environment with all that ICPI needs to know to act in it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gymnasium

from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.errors import UnknownEnvironmentError, UsageError
from promptpo_baselines.icpi.codecs import CODECS, Codec, GenericCodec
from promptpo_baselines.icpi.domains import DOMAINS
from promptpo_baselines.icpi.domains.base import Domain

if TYPE_CHECKING:
    from promptpo_baselines.icpi.values import Obs


@dataclass(frozen=True)
class Setting:
    """A task for ICPI.

    Attributes:
        env_id: As Gymnasium writes it.
        codec: Its text form.
        domain: The rules, for the paper's six; None for other environments.
        gamma_plan: Discount inside imagined rollouts.
        max_rollout: Longest imagined rollout.
        env_kwargs: For ``gymnasium.make``.
        max_episode_steps: Horizon; None keeps the environment's.
    """

    env_id: str
    codec: Codec
    domain: Domain | None
    gamma_plan: float
    max_rollout: int
    env_kwargs: Mapping[str, Any]
    max_episode_steps: int | None

    @property
    def task(self) -> Task:
        """The environment as promptpo knows it."""
        return Task(self.env_id, self.env_kwargs, self.max_episode_steps)

    @property
    def rules(self) -> Domain | type[Domain]:
        """What the domain says of itself, or what holds for others."""
        return self.domain or Domain

    @property
    def n_actions(self) -> int:
        """Actions are indexed from 0."""
        return len(self.codec.actions)

    @property
    def max_excerpt(self) -> int:
        """Longest piece of a trajectory that the policy prompt shows."""
        return max(self.max_rollout, self.rules.time_limit or 0)

    def make_env(self) -> gymnasium.Env[Any, Any]:
        """A new environment."""
        return _make(self.task)

    def regret(self, start: Obs, discounted: float) -> float | None:
        """How far a return stays behind the optimum from its start; None where that is not known."""
        if self.domain is None:
            return None
        return (self.domain.optimal_return(start) - discounted) / self.domain.regret_scale


def setting_for(
    env_id: str,
    *,
    env_kwargs: Mapping[str, Any] | None = None,
    max_episode_steps: int | None = None,
    gamma: float | None = None,
    max_rollout: int | None = None,
    decimals: int = 2,
) -> Setting:
    """The setting of an environment: the paper's for its six domains, a generic one for others.

    Args:
        env_id: As Gymnasium writes it; a ``module:`` before one of the six domains may stay.
        env_kwargs: For ``gymnasium.make``.
        max_episode_steps: Horizon; None keeps the environment's.
        gamma: Discount inside imagined rollouts.
        max_rollout: Longest imagined rollout.
        decimals: Decimals that floating-point observations keep in the text.

    Raises:
        UnknownEnvironmentError: There is no such environment.
        UnsupportedSpaceError: Its spaces cannot be written as text.
    """
    kwargs, name = dict(env_kwargs or {}), env_id.removeprefix("promptpo_baselines.icpi:")
    domain = DOMAINS.get(name)
    rules = domain or Domain
    if domain is not None:
        codec: Codec = CODECS[name]
    else:
        name, env = env_id, _make(Task(env_id, kwargs, max_episode_steps))
        with contextlib.closing(env):
            codec = GenericCodec(env.observation_space, env.action_space, decimals=decimals)
    discount = rules.gamma_plan if gamma is None else gamma
    return Setting(name, codec, domain, discount, max_rollout or rules.max_rollout, kwargs, max_episode_steps)


def _make(task: Task) -> gymnasium.Env[Any, Any]:
    if task.env_id not in DOMAINS:
        try:
            return make_env(task)
        except UnknownEnvironmentError as error:
            raise UnknownEnvironmentError(f"{error} ICPI's own are {', '.join(DOMAINS)}.") from error
    limit = {} if task.max_episode_steps is None else {"max_episode_steps": task.max_episode_steps}
    try:
        # The checker only warns; it would cost more than these environments do.
        return gymnasium.make(task.env_id, disable_env_checker=True, **limit, **task.env_kwargs)
    except (gymnasium.error.Error, TypeError) as error:
        raise UsageError(f"{task.env_id} cannot be made: {error}.") from error
