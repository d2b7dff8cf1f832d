"""What is known of a task where no model reads about it: facts, and the names of what policies see and do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from promptpo.spec.documentation import documentation_of
from promptpo.spec.facts import facts_from
from promptpo.spec.known import known
from promptpo.spec.observe import observe, opened, seeding_of
from promptpo.spec.parts import Parts
from promptpo.spec.render import render
from promptpo.spec.sides import with_action, with_observation
from promptpo.spec.task_spec import TaskSpec

if TYPE_CHECKING:
    import gymnasium

    from promptpo.envs.task import Task
    from promptpo.spec.facts import TaskFacts
    from promptpo.spec.observe import Observed


def outline(task: Task, *, clip_actions: bool = True) -> TaskSpec:
    """A task with a text that names what is observed and done, and tells nothing else.

    Args:
        task: The environment.
        clip_actions: Whether out-of-range continuous actions are clipped rather than refused.

    Raises:
        PromptPOError: Whatever `make_env` raises.
    """
    with opened(task) as env:
        observed = observe(env, task.name, checking=False)
        facts = facts_from(env, observed.steps[-1].info, task, observed.endings)
        docs, extra = documentation_of(type(env.unwrapped)), known(env)
        parts = Parts(title=task.name, horizon=facts.horizon, sampling=observed.sampling)
        parts = with_observation(parts, env, docs, extra, observed, {})
        parts = with_action(parts, env, docs, extra, {}, clip_actions=clip_actions)
        return seeded(outlined(facts, observed, task, render(parts)), env, task, observed)


def outlined(facts: TaskFacts, observed: Observed, task: Task, text: str) -> TaskSpec:
    """What facts and observed steps say of a task, with a text about it."""
    own = task.reward
    return TaskSpec(
        text=text,
        observation_space=facts.observation_space,
        action_space=facts.action_space,
        horizon=facts.horizon,
        horizon_source=facts.horizon_source,
        reward_threshold=facts.reward_threshold if own is None else None,
        reports_success=facts.success_key is not None if own is None else own.says_success,
        sample_steps=observed.spent,
        sample_rate=observed.spent / observed.seconds if observed.seconds > 0 else 0.0,
        sample_length=float(observed.whole or len(observed.steps) / max(1, len(observed.firsts))),
        firsts=tuple(observed.firsts),
        one_start=observed.one_start,
    )


def seeded(spec: TaskSpec, env: gymnasium.Env[Any, Any], task: Task, observed: Observed) -> TaskSpec:
    """The same with what seeds change in episodes."""
    seeding = seeding_of(env, task, observed)
    return replace(
        spec,
        one_episode=seeding.one_episode,
        sample_steps=spec.sample_steps + seeding.steps,
        warnings=seeding.warnings,
    )
