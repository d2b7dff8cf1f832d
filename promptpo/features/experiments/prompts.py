"""Requests for experiments: their contract, limits, and an example that suits the spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.features.experiments.report import FIT
from promptpo.features.experiments.settings import FIRST_EXPERIMENTS, ExperimentSwitches
from promptpo.prompts.limits import PICTURE, REPORT
from promptpo.prompts.prompting import form_of_trajectory, render, task_of

if TYPE_CHECKING:
    from promptpo.spec import TaskSpec


MAX_EPISODES = 10
"""Maximum number of episodes of an experiment."""


def system_prompt(spec: TaskSpec, allowed: ExperimentSwitches, horizon: int) -> str:
    """Return the system prompt of requests for experiments: the task, the contract, the limits, an example.

    Args:
        spec: The task.
        allowed: Limits of experiments.
        horizon: Maximum episode length, in steps.
    """
    return render(
        "probe_system",
        **task_of(spec),
        allowance=describe_allowance(allowed, horizon),
        form=form_of_trajectory(spec.reports_success, sees_all=True),
        most=REPORT,
        fit=FIT,
        example=example(spec.observation_space, spec.action_space).strip(),
    )


def request(rounds: int) -> str:
    """Return the request before the first of that many rounds."""
    return render("probe", most=FIRST_EXPERIMENTS, later=rounds > 2)  # noqa: PLR2004 - none before the last


def offer(spec: TaskSpec, allowed: ExperimentSwitches, horizon: int) -> str:
    """Return the section that offers an experiment in addition to the policy."""
    return render(
        "probe_offer",
        allowance=describe_allowance(allowed, horizon),
        most=REPORT,
        fit=FIT,
        form=form_of_trajectory(spec.reports_success, sees_all=True),
    ).strip()


def describe_allowance(allowed: ExperimentSwitches, horizon: int) -> str:
    """Describe the limits of an experiment, with episodes of at most `horizon` steps."""
    return (
        f"one episode after another, at most {MAX_EPISODES} of at most {horizon:,} steps each, until {allowed.probe_steps:,} steps "
        f"are used; with a line `EPISODES = n` it plays n, each with an equal share of the steps left"
    )


def example(observation_space: spaces.Space[Any], action_space: spaces.Space[Any]) -> str:
    """Return an example that runs, except for kinds of actions that only the task can fill in."""
    return render(
        "probe_example",
        sees=_kind_of(observation_space),
        **(_numbers(action_space) or _choice(action_space) or {"acts": "", "n": 0}),
    )


def _kind_of(space: spaces.Space[Any]) -> str:
    if isinstance(space, spaces.Box) and 0 < int(np.prod(space.shape)) <= PICTURE:
        return "numbers"
    return "number" if isinstance(space, spaces.Discrete) else ""


def _numbers(space: spaces.Space[Any]) -> dict[str, Any]:
    """For actions that are a vector around zero, return its length and a value well inside the bounds."""
    if not isinstance(space, spaces.Box) or len(space.shape) != 1 or space.dtype.kind != "f":
        return {}
    if not space.shape[0] or not bool(((space.low <= 0) & (space.high > 0)).all()):
        return {}
    amount = float(np.min(space.high)) / 2
    return {"acts": "numbers", "n": space.shape[0], "amount": f"{min(amount, 0.5):.3g}"}


def _choice(space: spaces.Space[Any]) -> dict[str, Any]:
    if not isinstance(space, spaces.Discrete):
        return {}
    return {"acts": "choice", "n": int(space.n), "start": int(space.start)}
