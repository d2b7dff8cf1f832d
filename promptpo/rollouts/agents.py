"""Trained agents in files, such as stable-baselines3's, played by the installed package that knows them."""

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
"""Entry-point group of what plays trained agents, by the ending of their files."""

BEST_AGENT = "best_model.zip"
"""The agent in the directory of a baseline's run."""

Watch = Callable[[Episode], bool]
"""Given each episode with its trajectory; no further one is played once it returns false."""


def agent_file(path: str | os.PathLike[str]) -> Path:
    """The file of a trained agent, whole: of the directory of a baseline's run its best one. Nothing is loaded.

    Raises:
        UsageError: There is no such file, or nothing that is installed plays it.
    """
    found = Path(path)
    if found.is_dir():
        found = found / BEST_AGENT
    if not found.is_file():
        raise UsageError(f"there is no agent {found}; name a file that stable-baselines3 has saved (.zip).")
    _player(found)
    return found.resolve()


def play_agent(path: Path, task: Task, seeds: Sequence[int], *, watch: Watch | None = None) -> Evaluation:
    """Play one episode for each seed.

    **Loading an agent runs what its author put into the file.**

    Args:
        path: The file.
        task: What to play.
        seeds: Of the episodes; without any it is only looked whether the agent can play, and nothing is stepped.
        watch: Given every episode, with its trajectory.

    Raises:
        UsageError: Nothing plays such files, or this one cannot be played.
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
