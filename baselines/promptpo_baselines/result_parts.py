"""Parts of ``result.json`` that all baselines share, in the format of ``promptpo optimize``."""

from __future__ import annotations

import shlex
import sys
from typing import Any

from promptpo.envs.task import Task
from promptpo.llm.credentials import hide_credentials
from promptpo.output.report import summarize_evaluation, versions
from promptpo.output.report.result import setting
from promptpo.rollouts.evaluation import Evaluation
from promptpo.spec.own_source import describe_series

FORMAT = 1


def head(method: str, task: Task, seed: int) -> dict[str, Any]:
    """Describe the run: method, task, command and versions, and recorded data that all episodes replay."""
    return {
        "format": FORMAT,
        "method": method,
        **setting(task),
        "max_episode_steps": task.max_episode_steps,
        "seed": seed,
        "versions": versions(),
        "command": hide_credentials(shlex.join(sys.argv)),
        **describe_series(task),
    }


def steps_of(
    *, train: int = 0, validation: int = 0, test: int = 0, tune: int = 0, **more: int
) -> dict[str, int]:
    """Return environment steps by purpose, with their total."""
    steps = {"train": train, "validation": validation, "test": test, "tune": tune, **more}
    return {**steps, "total": sum(steps.values())}


def scores_of(task: Task, evaluation: Evaluation, held_out: Evaluation | None = None) -> dict[str, Any]:
    """Return the scores of a test, including those on held-out variants, if any."""
    content = summarize_evaluation(evaluation, task) or {}
    return content if held_out is None else {**content, "held_out": scores_of(task, held_out)}
