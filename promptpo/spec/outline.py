"""Outline of a task: its facts, without a text about it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.spec.facts import horizon_and_source, reward_threshold, success_key
from promptpo.spec.observe import seeding_of
from promptpo.spec.task_spec import TaskSpec

if TYPE_CHECKING:
    import gymnasium

    from promptpo.envs.family import AnyEnv
    from promptpo.envs.task import Task
    from promptpo.spec.observe import Observed
    from promptpo.spec.own_source import OwnSource

MAX_SMALL = 400
"""Numbers of an observation that is kept."""


def outline_task(env: AnyEnv, task: Task, observed: Observed, source: OwnSource | None = None) -> TaskSpec:
    """Outline a task from an environment, observed steps and source, without a text about it."""
    (horizon, bounded_by), own = horizon_and_source(env, task, observed), task.reward
    return TaskSpec(
        text="",
        observation_space=env.observation_space,
        action_space=env.action_space,
        horizon=horizon,
        horizon_source=bounded_by,
        reward_threshold=reward_threshold(env) if own is None else None,
        reports_success=success_key(observed.steps) is not None if own is None else own.says_success,
        sample_steps=observed.spent,
        sample_rate=observed.spent / observed.seconds if observed.seconds > 0 else 0.0,
        sample_length=float(observed.whole or len(observed.steps) / max(1, len(observed.firsts))),
        firsts=tuple(observed.firsts),
        seen=tuple(step.next_observation for step in observed.steps if _is_small(step.next_observation)),
        one_start=observed.one_start,
        series=() if source is None else tuple(source.series),
    )


def with_seeding(spec: TaskSpec, env: gymnasium.Env[Any, Any], task: Task, observed: Observed) -> TaskSpec:
    """The same with what seeds change in episodes."""
    seeding = seeding_of(env, task, observed)
    return replace(
        spec,
        one_episode=seeding.one_episode,
        repeats=seeding.repeats,
        sample_steps=spec.sample_steps + seeding.steps,
        warnings=(*spec.warnings, *seeding.warnings),
    )


def _is_small(observation: Any) -> bool:
    """Whether it is no picture or large table."""
    if isinstance(observation, dict | tuple):
        parts = observation.values() if isinstance(observation, dict) else observation
        return all(map(_is_small, parts))
    return np.size(observation) <= MAX_SMALL
