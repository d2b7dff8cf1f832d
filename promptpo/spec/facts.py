"""What is known about a task without reading its documentation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from promptpo.envs.family import family_of
from promptpo.spec.horizon import EpisodeEnd, HorizonSource, horizon_and_source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import gymnasium

    from promptpo.envs.task import Task

SUCCESS_KEYS = ("success", "is_success")
"""Names under which ``info`` reports success, in the packages that report it."""


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """What is known about a task without reading its documentation.

    Attributes:
        observation_space: What the policy sees.
        action_space: What it returns.
        horizon: Longest episode in steps; None where nothing bounds it.
        horizon_source: Who bounds it.
        reward_threshold: The return from which the registry calls the task solved; None where it says none.
        success_key: The name under which ``info`` reports success; None where it does not.
    """

    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]
    horizon: int | None
    reward_threshold: float | None
    success_key: str | None
    horizon_source: HorizonSource = "none"


def _threshold(env: gymnasium.Env[Any, Any]) -> float | None:
    """The registered threshold; of a family the one that all its variants share."""
    family = family_of(env)
    found = {
        one.spec.reward_threshold if one.spec else None for one in (family.everyone() if family else [env])
    }
    return found.pop() if len(found) == 1 else None


def facts_from(
    env: gymnasium.Env[Any, Any],
    info: Mapping[str, Any],
    task: Task | None = None,
    endings: Sequence[EpisodeEnd] = (),
    counted: int | None = None,
) -> TaskFacts:
    """What is known about an environment, given the ``info`` of some step, how episodes ended, and the limit in its code."""
    horizon, source = horizon_and_source(env, task, endings, counted)
    return TaskFacts(
        observation_space=env.observation_space,
        action_space=env.action_space,
        horizon=horizon,
        horizon_source=source,
        reward_threshold=_threshold(env),
        success_key=next((key for key in SUCCESS_KEYS if key in info), None),
    )
