"""The spec of a task: the Python text that a language model sees."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from promptpo.envs.family import AnyEnv
from promptpo.errors import UsageError
from promptpo.spec.body import body_of
from promptpo.spec.check import contradictions_in
from promptpo.spec.documentation import Section, documentation_of
from promptpo.spec.facts import success_key
from promptpo.spec.formalised import evidence_of
from promptpo.spec.gaps import gaps_in
from promptpo.spec.known import supplement_of
from promptpo.spec.observe import observe, open_env
from promptpo.spec.outline import outline_task, with_seeding
from promptpo.spec.own_source import OwnSource, read_source
from promptpo.spec.parts import Parts
from promptpo.spec.pictures import first_frames, with_pictures
from promptpo.spec.played import describe_left_bounds, ends_seen, reward_seen
from promptpo.spec.prose import TRUNCATION, clean_prose
from promptpo.spec.reading import SOURCE_HEAD
from promptpo.spec.render import render
from promptpo.spec.reveal import anonymous, bare
from promptpo.spec.reward import reward_parts
from promptpo.spec.rewarded import reward_block, without_own_reward
from promptpo.spec.sides import with_action, with_observation
from promptpo.spec.task_spec import TaskSpec
from promptpo.spec.texts import with_texts
from promptpo.spec.user import UserSpec, merge_specs, read_spec_file
from promptpo.spec.variants import variants_of
from promptpo_sandbox.rewards import numbers_in

if TYPE_CHECKING:
    from promptpo.envs.task import Reveal, Task
    from promptpo.spec.observe import Observed

DESCRIPTION, PROSE = 600, 600
"""Characters of what the task is about, and of how an episode begins and ends."""

WRAPPED = """\
The wrappers around the environment may change observations and rewards; meanings and code are those of the environment inside."""


def describe(
    task: Task,
    *,
    reveal: Reveal = "named",
    spec_file: str | None = None,
    clip_actions: bool = True,
    most_steps: int | None = None,
) -> TaskSpec:
    """Describe a task to a language model.

    Sources, best first: what the user's file says, a table of ours, the class's documentation, its spaces, and what
    steps of random actions showed; with ``reveal="source"`` the code that they come to stands below.

    Args:
        task: The environment.
        reveal: Whether names may give the environment away.
        spec_file: A Python file whose definitions (State, Action, reward, EPISODE) replace the generated ones.
        clip_actions: Whether out-of-range continuous actions are clipped rather than refused.
        most_steps: Environment steps that finding out may take; None without a limit.

    Raises:
        UsageError: The spec file cannot be read, is no spec, or contradicts the environment.
        PromptPOError: Whatever `make_env` raises.
    """
    user = read_spec_file(spec_file) if spec_file is not None else None
    with open_env(task) as env:
        spec, observed = describe_env(
            env, task, reveal=reveal, user=user, clip_actions=clip_actions, most_steps=most_steps
        )
        spec = with_seeding(spec, env, task, observed)
    return spec if user is None else _agreeing(user, task, spec, observed)


def _agreeing(user: UserSpec, task: Task, spec: TaskSpec, observed: Observed) -> TaskSpec:
    """The spec with the length of an episode that the user's file tells, where nothing else bounds it.

    Raises:
        UsageError: The file contradicts the environment.
    """
    for wrong in contradictions_in(user.reading, spec, observed):
        raise UsageError(
            f"{user.path}, {wrong} Correct it; promptpo spec --check {user.path} {task.env_id} lists all."
        )
    told = (user.reading.episode or {}).get("max_steps")
    if spec.horizon is None and isinstance(told, int) and told > 0:
        spec = replace(spec, horizon=told, horizon_source="spec file")
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
    """Describe an environment that is already built, with whatever wrappers it has.

    Args:
        env: The environment; it is left in the middle of an episode.
        task: What to call it.
        reveal: As for `describe`.
        user: What the user wrote.
        clip_actions: As for `describe`.
        most_steps: As for `describe`.

    Returns:
        The spec, and the steps that were observed for it.
    """
    observed = observe(env, task.name, most_steps=most_steps)
    source = read_source(env)
    spec = outline_task(env, task, observed, source)
    evidence = evidence_of(source.text, [*observed.steps, *observed.more]) if reveal == "named" else None
    source = source if reveal == "source" else OwnSource()
    reveal = reveal if reveal != "source" or source.text else "named"
    parts, sources = _parts(env, task, spec, observed, source, clip_actions=clip_actions)
    if task.wrappers:
        parts = replace(parts, observation_note=f"{WRAPPED}\n{parts.observation_note}".rstrip())
    parts = without_own_reward(with_pictures(parts, env, observed), task.reward)
    variants = variants_of(env, task, reveal)
    parts = replace(parts, blocks={**parts.blocks, **variants})
    if reveal == "bare":
        parts = replace(bare(parts, env), blocks=variants)
    elif reveal == "anonymous":
        parts = replace(parts, title="", description="")
    else:  # texts often say what it is all about
        parts = with_texts(parts, env.observation_space, observed)
        parts = replace(parts, blocks={**parts.blocks, **body_of(env.unwrapped, source.text)})
    text = render(parts)
    if reveal == "anonymous":
        text = anonymous(text, env)
    if user is not None:
        text = merge_specs(user, text)
        sources |= dict.fromkeys(user.reading.blocks, "user")
    if task.reward is not None:
        text, sources["reward"] = f"{text.rstrip()}\n\n\n{reward_block(task.reward)}\n", "user"
    if source.text and SOURCE_HEAD not in text:
        text = f"{text.rstrip()}\n\n\n{source.text}\n"
    spec = replace(
        spec,
        text=text,
        revealed=reveal,
        evidence=evidence,
        sources=sources,
        gaps=gaps_in(spec, sources),
        info=_numbers_of_info(observed),
        first_frames=first_frames(env, observed) if reveal in {"source", "named"} else (),
        warnings=tuple(
            f"{task.name}: {warning}." for warning in [describe_left_bounds(parts.observation)] if warning
        ),
    )
    return spec, observed


def _step_time(env: AnyEnv) -> float | None:
    """How long a step lasts, where the environment computes its ``dt``.

    One that is merely kept may be that of a simulator which takes many of them in a step.
    """
    inner: Any = env.unwrapped
    time = inner.dt if isinstance(getattr(type(inner), "dt", None), property) else None
    return float(time) if isinstance(time, int | float) and time > 0 else None


def _numbers_of_info(observed: Observed) -> dict[str, tuple[float, float]]:
    """Numeric entries of ``info`` with the least and the most that was seen."""
    told = defaultdict[str, list[float]](list)
    for name, value in (item for step in observed.steps for item in numbers_in(step.info).items()):
        told[name].append(value)
    return {name: (min(values), max(values)) for name, values in told.items()}


def _parts(
    env: AnyEnv,
    task: Task,
    spec: TaskSpec,
    observed: Observed,
    source: OwnSource,
    *,
    clip_actions: bool,
) -> tuple[Parts, dict[str, str]]:
    """Everything the spec says, and where it came from."""
    docs, extra = documentation_of(type(env.unwrapped)), supplement_of(env)
    prose = not (source.text and source.shows_docs)
    about = docs if prose else defaultdict(Section)
    sources: dict[str, str] = {}
    success = success_key(observed.steps)
    parts = Parts(
        title=task.name,
        description=clean_prose(extra.description or about["description"].text, DESCRIPTION),
        horizon=spec.horizon,
        threshold=spec.reward_threshold,
        start=clean_prose(extra.start or about["start"].text, PROSE),
        end=clean_prose(extra.end or about["end"].text, PROSE, TRUNCATION),
        success=f'info["{success}"] at any step of the episode' if success else "",
        step_seconds=_step_time(env),
        sampling=observed.sampling,
        reward_seen=reward_seen(observed),
        ends_seen=ends_seen(observed),
    )
    parts = with_observation(parts, env, docs, extra, observed, sources, prose=prose)
    parts = with_action(parts, env, docs, extra, sources, clip_actions=clip_actions, prose=prose)
    parts = reward_parts(parts, env, about, extra, sources, beside_source=bool(source.text))
    if source.text:
        sources |= {name: "source" for name in ("State", "Action") if sources[name] == "space"}
    sources["EPISODE"] = (
        "known" if extra.end or extra.start else "documentation" if docs["end"].text else "space"
    )
    return parts, sources
