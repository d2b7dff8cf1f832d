"""Trained agents in files, such as those of stable-baselines3, played by the installed package that supports them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from promptpo.errors import UsageError
from promptpo_sandbox import Episode

if TYPE_CHECKING:
    from promptpo.envs.task import Task
    from promptpo.rollouts.evaluation import Evaluation

AGENTS = "promptpo.agents"
"""Entry-point group of functions that play trained agents, by file extension."""

BEST_AGENT = "best_model.zip"
"""File of the best agent in a baseline run's directory."""

Watch = Callable[[Episode], bool]
"""Callback with each episode and its trajectory; returning False stops after it."""


def agent_file(path: str | os.PathLike[str]) -> Path:
    """Return the resolved file of a trained agent, or the best agent of a baseline run's directory, without loading it.

    Raises:
        UsageError: There is no such file, or no installed package plays it.
    """
    found = Path(path)
    if found.is_dir():
        found = found / BEST_AGENT
    if not found.is_file():
        raise UsageError(f"there is no agent {found}; name a file that stable-baselines3 has saved (.zip).")
    _player(found)
    return found.resolve()


def play_agent(path: Path, task: Task, seeds: Sequence[int], *, watch: Watch | None = None) -> Evaluation:
    """Play one episode per seed.

    **Loading an agent runs code from its file.**

    Args:
        path: The file.
        task: What to play.
        seeds: Seeds of the episodes; without any, only check that the agent can play, without stepping.
        watch: Called with every episode and its trajectory.

    Raises:
        UsageError: No installed package plays such files, or this one cannot be played.
    """
    play = _player(path).load()
    evaluation: Evaluation = (
        play(path, task, seeds) if watch is None else play(path, task, seeds, watch=watch)
    )
    return evaluation


def _player(path: Path) -> metadata.EntryPoint:
    for entry in metadata.entry_points(group=AGENTS, name=path.suffix.lstrip(".")):
        return entry
    raise UsageError(f"no installed package can play {path}; promptpo plays policies, which are .py files.")
