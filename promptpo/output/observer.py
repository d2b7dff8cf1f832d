"""Being told what a run does."""

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
    """Told what a run does; override what is of interest."""

    def on_start(self, state: RunState, directory: Path, choice: str, spec: TaskSpec) -> None:
        """The run begins or goes on; `state` follows its journal, `choice` says which model was chosen and why."""

    def on_preflight(self, preflight: Preflight) -> None:
        """The run has been planned: how much it may do and cost."""

    def on_event(self, event: Event) -> None:
        """Something was written to the journal."""

    def on_finish(self, run: RunResult) -> None:
        """The result is written."""

    def warn(self, message: str) -> None:
        """One line that the user should see."""


HOOKS = tuple(name for name in vars(Observer) if not name.startswith("_"))
"""What an observer is told, by name."""
