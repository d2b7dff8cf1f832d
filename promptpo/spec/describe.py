"""Generate the spec of a task: the Python text that a language model sees."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from promptpo.envs.foreign import AnyEnv
from promptpo.errors import UsageError
from promptpo.spec.body import body_of
from promptpo.spec.check import contradictions_in
from promptpo.spec.documentation import docstring_of, words_of
from promptpo.spec.facts import success_key
from promptpo.spec.formalised import evidence_of
from promptpo.spec.observe import observe, open_env
from promptpo.spec.outline import class_of, outline_task, with_seeding, with_sides
from promptpo.spec.own_source import read_source
from promptpo.spec.parts import Parts
from promptpo.spec.pictures import first_frames, with_pictures
from promptpo.spec.played import ends_seen, reward_seen
from promptpo.spec.reading import SOURCE_HEAD
from promptpo.spec.render import render, warn_of_left_bounds
from promptpo.spec.rewarded import reward_block, without_own_reward
from promptpo.spec.task_spec import TaskSpec
from promptpo.spec.texts import with_texts
from promptpo.spec.user import UserSpec, merge_specs, read_spec_file
from promptpo.spec.variants import variants_of
from promptpo_sandbox.rewards import numbers_in

if TYPE_CHECKING:
    from promptpo.envs.task import Reveal, Task
    from promptpo.spec.observe import Observed

WRAPPED = """\
The wrappers around the environment may change observations and rewards; meanings and code are those of the environment inside."""

AUTHOR, OTHER_AIM = "In its author's words:\n\n", "In the words of its author, who wanted something else:\n\n"


def describe(
    task: Task,
    *,
    reveal: Reveal = "named",
    spec_file: str | None = None,
    clip_actions: bool = True,
    most_steps: int | None = None,
) -> TaskSpec:
    """Describe a task to a language model.

    Sources, in order of precedence: the user's file, the class's documentation, its spaces, and observed steps of
    random actions. With ``reveal="source"``, the code that step and reset reach follows.

    Args:
        task: The environment.
        reveal: How much the text may reveal about the environment.
        spec_file: A Python file whose definitions (State, Action, reward, EPISODE) replace the generated ones.
        clip_actions: Whether out-of-range continuous actions are clipped rather than refused.
        most_steps: Environment steps that may be spent on observing; None for no limit.

    Raises:
        UsageError: The spec file cannot be read, is no spec, or contradicts the environment.
        PromptPOError: From `make_env`.
    """
    user = read_spec_file(spec_file) if spec_file is not None else None
    with open_env(task) as env:
        spec, observed = describe_env(
            env, task, reveal=reveal, user=user, clip_actions=clip_actions, most_steps=most_steps
        )
        spec = with_seeding(spec, env, task, observed)
    return spec if user is None else _reconcile(user, task, spec, observed)


def _reconcile(user: UserSpec, task: Task, spec: TaskSpec, observed: Observed) -> TaskSpec:
    """Check the user's file against the environment, and take the horizon from it if nothing else sets one.

    Raises:
        UsageError: The file contradicts the environment.
    """
    for wrong in contradictions_in(user.reading, spec, observed):
        raise UsageError(
            f"{user.path}, {wrong} Correct it; promptpo spec --check {user.path} {task.env_id} lists all."
        )
    steps = (user.reading.episode or {}).get("max_steps")
    if spec.horizon is None and isinstance(steps, int) and steps > 0:
        spec = replace(spec, horizon=steps, horizon_source="spec file")
    return spec


def describe_env(
    env: AnyEnv,
    task: Task,
    *,
    reveal: Reveal = "named",
    user: UserSpec | None = None,
    clip_actions: bool = True,
    most_steps: int | None = None,
) -> tuple[TaskSpec, Observed]:
    """Describe an environment that is already built, including its wrappers.

    Args:
        env: The environment; it is left in the middle of an episode.
        task: Its configuration.
        reveal: As for `describe`.
        user: The user's spec file.
        clip_actions: As for `describe`.
        most_steps: As for `describe`.

    Returns:
        The spec, and the observed steps behind it.
    """
    observed = observe(env, task.name, most_steps=most_steps)
    source = read_source(env, observed.called)
    spec = outline_task(env, task, observed, source)
    reveal = reveal if reveal != "source" or source.text else "named"
    shown = source.text if reveal == "source" else ""
    parts = _collect_parts(env, task, spec, observed, reveal, clip_actions=clip_actions, source=shown)
    text = render(parts)
    evidence = evidence_of(source.text, observed, parts) if reveal == "named" else None
    if user is not None:
        text = merge_specs(user, text)
    if task.reward is not None:
        text = f"{text.rstrip()}\n\n\n{reward_block(task.reward)}\n"
    if shown and SOURCE_HEAD not in text:
        text = f"{text.rstrip()}\n\n\n{shown}\n"
    spec = replace(
        spec,
        text=text,
        revealed=reveal,
        evidence=evidence,
        info=_ranges_of_info(observed),
        first_frames=first_frames(env, observed) if reveal in {"source", "named"} else (),
        warnings=warn_of_left_bounds(task.name, parts.observation),
    )
    return spec, observed


def _ranges_of_info(observed: Observed) -> dict[str, tuple[float, float]]:
    """Return the numeric entries of ``info`` with their smallest and largest observed values."""
    seen = defaultdict[str, list[float]](list)
    for name, value in (item for step in observed.steps for item in numbers_in(step.info).items()):
        seen[name].append(value)
    return {name: (min(values), max(values)) for name, values in seen.items()}


def _collect_parts(
    env: AnyEnv,
    task: Task,
    spec: TaskSpec,
    observed: Observed,
    reveal: Reveal,
    *,
    clip_actions: bool,
    source: str,
) -> Parts:
    """Return the content of the spec; `source` is the code shown below it."""
    parts = Parts(horizon=spec.horizon)
    variants = variants_of(env, task, reveal)
    if reveal == "bare":
        parts = with_sides(parts, env, None, "", clip_actions=clip_actions)
        return replace(parts, blocks=variants)
    success = success_key(observed.steps)
    named = reveal != "anonymous"
    docs = docstring_of(class_of(env)) if named else ""
    parts = replace(
        parts,
        threshold=spec.reward_threshold,
        success=f'info["{success}"] at any step of the episode' if success else "",
        sampling=observed.sampling,
        reward_seen=reward_seen(observed),
        ends_seen=ends_seen(observed),
    )
    parts = with_pictures(with_sides(parts, env, observed, docs, clip_actions=clip_actions), env, observed)
    if named:
        own = task.reward is None or task.reward.reads_environment
        words = words_of(class_of(env), moving=bool(source), rewards=own)
        quoted = f"{AUTHOR if task.reward is None else OTHER_AIM}{words}" if words else ""
        parts = replace(parts, title=task.name, description=quoted)
        parts = with_texts(parts, env.observation_space, observed)
        parts = replace(parts, blocks={**parts.blocks, **body_of(env.unwrapped, source)})
    if task.wrappers:
        parts = replace(parts, observation_note=WRAPPED)
    return without_own_reward(replace(parts, blocks={**parts.blocks, **variants}), task.reward)
