"""The interface of observers, which follow what a run does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from promptpo.core.journal import Event
    from promptpo.output.run_result import RunResult
    from promptpo.run.preflight import Preflight
    from promptpo.run.state import RunState
    from promptpo.spec import TaskSpec


class Observer:
    """Follows what a run does; override the methods of interest."""

    def on_start(self, state: RunState, directory: Path, choice: str, spec: TaskSpec) -> None:
        """The run starts or continues; `state` follows its journal, `choice` says which model was chosen and why."""

    def on_preflight(self, preflight: Preflight) -> None:
        """The run has been planned: how much it may do and cost."""

    def on_event(self, event: Event) -> None:
        """Something was written to the journal."""

    def on_finish(self, run: RunResult) -> None:
        """The result has been written."""

    def warn(self, message: str) -> None:
        """Show the user a line of warning."""


HOOKS = tuple(name for name in vars(Observer) if not name.startswith("_"))
"""Names of an observer's methods."""
