"""An environment with all that ICPI needs to know to act in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import gymnasium

from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.errors import UnknownEnvironmentError, UsageError
from promptpo_baselines.icpi.codecs import CODECS, Codec, GenericCodec
from promptpo_baselines.icpi.domains import DOMAINS

if TYPE_CHECKING:
    from promptpo_baselines.icpi.domains.base import Domain
    from promptpo_baselines.icpi.values import Obs

DEFAULT_DISCOUNT = 0.9
DEFAULT_ROLLOUT = 8


@dataclass(frozen=True)
class Setting:
    """A task for ICPI.

    Attributes:
        env_id: As Gymnasium writes it.
        codec: Its text form.
        n_actions: Actions are indexed from 0.
        domain: The rules, for the paper's six; None for other environments.
        gamma_plan: Discount inside imagined rollouts.
        gamma_eval: Discount of the returns that regret compares.
        max_rollout: Longest imagined rollout.
        max_excerpt: Longest piece of a trajectory that the policy prompt shows.
        success_threshold: An episode succeeded when its return is larger.
        regret_scale: Regret is divided by it.
        env_kwargs: For ``gymnasium.make``.
        max_episode_steps: Horizon; None keeps the environment's.
    """

    env_id: str
    codec: Codec
    n_actions: int
    domain: Domain | None = None
    gamma_plan: float = DEFAULT_DISCOUNT
    gamma_eval: float = 1.0
    max_rollout: int = DEFAULT_ROLLOUT
    max_excerpt: int = DEFAULT_ROLLOUT
    success_threshold: float = 0.0
    regret_scale: float = 1.0
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    max_episode_steps: int | None = None

    def make_env(self) -> gymnasium.Env[Any, Any]:
        """A new environment."""
        return _make(self.env_id, self.env_kwargs, self.max_episode_steps)

    def regret(self, start: Obs, discounted: float) -> float | None:
        """How far a return stays behind the optimum from its start; None where that is not known."""
        if self.domain is None:
            return None
        return (self.domain.optimal_return(start) - discounted) / self.regret_scale


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
    kwargs = dict(env_kwargs or {})
    name = env_id.removeprefix("promptpo_baselines.icpi:")
    domain = DOMAINS.get(name)
    if domain is not None:
        rollout = max_rollout or domain.max_rollout
        return Setting(
            name, CODECS[name], domain.n_actions, domain,
            gamma_plan=domain.gamma_plan if gamma is None else gamma,
            gamma_eval=domain.gamma_eval,
            max_rollout=rollout,
            max_excerpt=max(rollout, domain.time_limit or 0),
            success_threshold=domain.success_threshold,
            regret_scale=domain.regret_scale,
            env_kwargs=kwargs,
            max_episode_steps=max_episode_steps,
        )  # fmt: skip
    env = _make(env_id, kwargs, max_episode_steps)
    try:
        codec = GenericCodec(env.observation_space, env.action_space, decimals=decimals)
    finally:
        env.close()
    rollout = max_rollout or DEFAULT_ROLLOUT
    return Setting(
        env_id, codec, len(codec.actions),
        gamma_plan=DEFAULT_DISCOUNT if gamma is None else gamma,
        max_rollout=rollout,
        max_excerpt=rollout,
        env_kwargs=kwargs,
        max_episode_steps=max_episode_steps,
    )  # fmt: skip


def _make(env_id: str, kwargs: Mapping[str, Any], horizon: int | None) -> gymnasium.Env[Any, Any]:
    if env_id not in DOMAINS:
        try:
            return make_env(Task(env_id, dict(kwargs), horizon))
        except UnknownEnvironmentError as error:
            raise UnknownEnvironmentError(f"{error} ICPI's own are {', '.join(DOMAINS)}.") from error
    limit = {} if horizon is None else {"max_episode_steps": horizon}
    try:
        # The checker only warns; it would cost more than these environments do.
        return gymnasium.make(env_id, disable_env_checker=True, **limit, **kwargs)
    except (gymnasium.error.Error, TypeError) as error:
        raise UsageError(f"{env_id} cannot be made: {error}.") from error
