"""Outline a task: its facts and the names of observation and action fields, without text for a model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gymnasium import spaces

from promptpo.envs.foreign import AdaptedEnv, innermost, layers_of, standard_space
from promptpo.envs.spaces import form_of, leaves
from promptpo.spec.documentation import docstring_of
from promptpo.spec.facts import horizon_and_source, reward_threshold, success_key
from promptpo.spec.fields import choices_of, example_of, fields_of
from promptpo.spec.observe import STEPS_PER_EPISODE, observe, open_env, seeding_of, size_of
from promptpo.spec.parts import Parts
from promptpo.spec.render import render, warn_of_left_bounds
from promptpo.spec.task_spec import TaskSpec

if TYPE_CHECKING:
    import gymnasium

    from promptpo.envs.foreign import AnyEnv
    from promptpo.envs.task import Task
    from promptpo.spec.observe import Observed
    from promptpo.spec.own_source import OwnSource

MAX_SMALL = 400
"""Size up to which sample observations are kept, in numbers."""


def outline(task: Task, *, clip_actions: bool = True, most_steps: int | None = None) -> TaskSpec:
    """Describe a task for a run without a language model: facts, and names of observation and action fields.

    Args:
        task: The environment.
        clip_actions: Whether out-of-range continuous actions are clipped rather than refused.
        most_steps: Environment steps that may be spent on observing; None for no limit.

    Raises:
        PromptPOError: From `make_env`.
    """
    with open_env(task) as env:
        observed = observe(env, task.name, most_steps=most_steps)
        spec = outline_task(env, task, observed, _read_foreign_source(env, observed))
        parts = Parts(title=task.name, horizon=spec.horizon, sampling=observed.sampling)
        parts = with_sides(parts, env, observed, docstring_of(class_of(env)), clip_actions=clip_actions)
        warnings = warn_of_left_bounds(task.name, parts.observation)
        return with_seeding(replace(spec, text=render(parts), warnings=warnings), env, task, observed)


def _read_foreign_source(env: AnyEnv, observed: Observed) -> OwnSource | None:
    """Read the source to find recorded data that episodes replay; Gymnasium's own environments have none."""
    if class_of(env).__module__.startswith("gymnasium.envs."):
        return None
    from promptpo.spec.own_source import read_source

    return read_source(env, observed.called)


def class_of(env: AnyEnv) -> type[Any]:
    """Return the class that the author wrote, inside any adapter."""
    return type(innermost(env))


def with_sides(
    parts: Parts, env: AnyEnv, observed: Observed | None, docs: str, *, clip_actions: bool
) -> Parts:
    """Return the parts with observation and action; `docs` is the unwrapped class's documentation, used for names."""
    seen, done = env.observation_space, env.action_space
    inner = env.unwrapped
    same = [
        standard_space(own).shape == space.shape
        for own, space in ((inner.observation_space, seen), (inner.action_space, done))
    ]
    notes = []
    if any(isinstance(leaf, spaces.Box) for _, leaf in leaves(done)):
        notes.append(
            "Values outside the bounds are clipped to them, and counted."
            if clip_actions
            else "Values outside the bounds are not allowed."
        )
    if isinstance(done, spaces.Box) and same[1] and done != standard_space(inner.action_space):
        notes.append(
            "A wrapper scales actions: the bounds are its own, the meanings those of the environment."
        )
    discrete = isinstance(done, spaces.Discrete)
    return replace(
        parts,
        observation_form=form_of(seen),
        observation=fields_of(
            "obs", seen, docs if same[0] else "", observed.observations if observed else ()
        ),
        action_form=form_of(done),
        action_example=example_of(done),
        action=[] if discrete else fields_of("action", done, docs if same[1] else ""),
        choices=choices_of(done, docs) if isinstance(done, spaces.Discrete) else (),
        action_note="\n".join(notes),
    )


def outline_task(env: AnyEnv, task: Task, observed: Observed, source: OwnSource | None = None) -> TaskSpec:
    """Collect the facts of a task from its environment, observed steps and source; the text stays empty."""
    (horizon, bounded_by), own = horizon_and_source(env, task, observed), task.reward
    followings = (step.next_observation for step in observed.steps)
    length = len(observed.steps) / max(1, len(observed.firsts))
    if not any(ending.terminated or ending.truncated for ending in observed.endings):
        length = max(length, STEPS_PER_EPISODE)  # even if observing stopped sooner
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
        sample_length=float(observed.full_episode_length or length),
        firsts=tuple(observed.firsts),
        seen=tuple(following for following in followings if size_of(following) <= MAX_SMALL),
        one_start=observed.one_start,
        series=() if source is None else tuple(source.series),
    )


def with_seeding(spec: TaskSpec, env: gymnasium.Env[Any, Any], task: Task, observed: Observed) -> TaskSpec:
    """Return the spec with the effects of seeds on episodes."""
    seeding = seeding_of(env, task, observed)
    return replace(
        spec,
        one_episode=seeding.one_episode,
        repeats=seeding.repeats,
        sample_steps=spec.sample_steps + seeding.steps,
        warnings=(*spec.warnings, *_reset_note(env, task), *seeding.warnings),
    )


def _reset_note(env: AnyEnv, task: Task) -> list[str]:
    """Return a warning if ``reset`` takes no seed."""
    adapted = any(isinstance(layer, AdaptedEnv) and not layer.takes_seed for layer in layers_of(env))
    note = (
        "its reset takes no seed, so Python's and NumPy's global generators, and its own, are seeded for it"
    )
    return [f"{task.name}: {note}."] if adapted else []
