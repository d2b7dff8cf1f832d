"""The task of a run: what the model is told about it, and what rollout workers need to know."""

from __future__ import annotations

import re
from dataclasses import replace

from promptpo.envs.recorded_space import recorded
from promptpo.envs.task import Task
from promptpo.rollouts import Settings
from promptpo.run.config import Config
from promptpo.run.journal import Journal
from promptpo.spec import TaskSpec, describe, with_hint
from promptpo_sandbox.text import clean


def described(config: Config) -> TaskSpec:
    """What the model is told about a run's task."""
    spec = describe(
        config.task,
        reveal=config.reveal,
        spec_file=config.spec_file,
        clip_actions=config.clip_actions,
    )
    return with_hint(spec, config.hint)


def as_begun(journal: Journal, spec: TaskSpec) -> TaskSpec:
    """The spec with the text that the run began with, so that a resumed run's prompts do not change."""
    found = journal.find("spec", "spec")
    if found is not None:
        return replace(spec, text=found["text"], sample_length=found.get("sample_length", spec.sample_length))
    spec = replace(spec, text=clean(spec.text))
    journal.add(
        "spec",
        "spec",
        {
            "text": spec.text,
            "action_space": recorded(spec.action_space),
            "sample_length": spec.sample_length,
            "spent": {"spec": spec.sample_steps},
        },
    )
    return spec


def default_name(task: Task) -> str:
    """The environment's id as a part of a file name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", task.label).strip("-")


def settings_for(config: Config) -> Settings:
    """What the rollout workers of a run need to know."""
    from promptpo_sandbox import Limits

    return Settings(config.task, Limits(), config.allow_weaker_sandbox, config.clip_actions)
