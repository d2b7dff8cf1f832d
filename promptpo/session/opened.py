"""A run that is open: what every part of one process's work on it needs."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.files import write_atomically
from promptpo.output.observer import Observer
from promptpo.run.config import Config
from promptpo.run.journal import Journal
from promptpo.run.keeping import writing
from promptpo.run.ledger import Ledger
from promptpo.run.origin import key_path, save_own
from promptpo.run.spender import Spender
from promptpo.spec import TaskSpec

if TYPE_CHECKING:
    from promptpo.llm.base import LLM
    from promptpo.rollouts import Executor

REWARD = "reward.py"
"""What steps earn in a run, where a program says so."""


@dataclass(frozen=True)
class OpenRun:
    """A run while a process works on it.

    Attributes:
        directory: Where it is.
        config: All that decides it.
        spec: What the model is told about the task.
        llm: Who writes policies.
        executor: Where they are rolled out.
        journal: What has happened in it.
        ledger: What it has spent of its budget.
        sandbox: How well policies are walled in here, as the result says it.
    """

    directory: Path
    config: Config
    spec: TaskSpec
    llm: LLM
    executor: Executor
    journal: Journal
    ledger: Ledger
    sandbox: Mapping[str, Any]

    def spender(self) -> Spender:
        """By which it asks, rolls out and records."""
        return Spender(self.llm, self.executor, self.config, self.journal, self.ledger)

    @property
    def resuming(self) -> str:
        """The command that goes on with it."""
        return going_on(self.directory)


def going_on(directory: Path) -> str:
    """The command that goes on with a run."""
    return f"promptpo resume {shlex.quote(str(directory))}"


def keep(config: Config, directory: Path, observer: Observer, then: str) -> None:
    """Write the configuration and sign it: from now on the run is the user's own.

    Args:
        config: What decides the run.
        directory: Where it is.
        observer: Told where it cannot be signed.
        then: The command that goes on when there is room on the disk.

    Raises:
        RunError: It cannot be written.
    """
    with writing(directory, then):
        signed = save_own(config, directory)
        if config.task.reward is not None:
            write_atomically(directory / REWARD, config.task.reward.source)
    if not signed:
        observer.warn(
            f"this run cannot be signed as made here, since {key_path()} cannot be written; "
            "to resume it, --trust will be needed."
        )
