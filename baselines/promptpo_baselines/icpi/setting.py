"""An environment with everything that ICPI needs to act in it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gymnasium

from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.errors import UnknownEnvironmentError
from promptpo_baselines.icpi.codecs import CODECS, Codec, generic_codec
from promptpo_baselines.icpi.domains import DOMAINS
from promptpo_baselines.icpi.domains.base import Domain

if TYPE_CHECKING:
    from promptpo_baselines.icpi.values import Obs


@dataclass(frozen=True)
class Setting:
    """A task for ICPI.

    Attributes:
        task: The environment as promptpo knows it.
        codec: Its text form.
        domain: The rules, for the paper's six; None for other environments.
        gamma_plan: Discount inside imagined rollouts.
        max_rollout: Maximum length of an imagined rollout.
    """

    task: Task
    codec: Codec
    domain: Domain | None
    gamma_plan: float
    max_rollout: int

    @property
    def rules(self) -> Domain | type[Domain]:
        """Rules of the domain: its own, or the general ones."""
        return self.domain or Domain

    @property
    def n_actions(self) -> int:
        """Number of actions, which are indexed from 0."""
        return len(self.codec.actions)

    @property
    def max_excerpt(self) -> int:
        """Maximum length of a trajectory's pieces in the policy prompt."""
        return max(self.max_rollout, self.rules.time_limit or 0)

    def make_env(self) -> gymnasium.Env[Any, Any]:
        """Make a new environment."""
        return _make(self.task)

    def regret(self, start: Obs, discounted: float) -> float | None:
        """Return how far a return falls short of the optimum from its initial state; None if that is unknown."""
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
    """Return the setting of an environment: the paper's for its six domains, a generic one for others.

    Args:
        env_id: Gymnasium's ID; one of the six domains may have a ``module:`` before it.
        env_kwargs: Arguments of ``gymnasium.make``.
        max_episode_steps: Horizon; None keeps the environment's.
        gamma: Discount inside imagined rollouts.
        max_rollout: Maximum length of an imagined rollout.
        decimals: Decimals that floating-point observations keep in the text.

    Raises:
        UnknownEnvironmentError: There is no such environment.
        UnsupportedSpaceError: Its spaces cannot be written as text.
    """
    task = Task(env_id.removeprefix("promptpo_baselines.icpi:"), dict(env_kwargs or {}), max_episode_steps)
    domain = DOMAINS.get(task.env_id)
    rules = domain or Domain
    if domain is not None:
        codec: Codec = CODECS[task.env_id]
    else:
        with contextlib.closing(_make(task)) as env:
            codec = generic_codec(env.observation_space, env.action_space, decimals=decimals)
    discount = rules.gamma_plan if gamma is None else gamma
    return Setting(task, codec, domain, discount, max_rollout or rules.max_rollout)


def _make(task: Task) -> gymnasium.Env[Any, Any]:
    try:
        return make_env(task)
    except UnknownEnvironmentError as error:
        raise UnknownEnvironmentError(f"{error} ICPI's own are {', '.join(DOMAINS)}.") from error
