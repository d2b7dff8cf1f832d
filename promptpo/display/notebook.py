"""What a run started from Python shows: live in a terminal or in a notebook's cell, else as lines.

Everything goes to standard error, or to the cell: standard output belongs to the program.
"""

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from promptpo.display.results import outcome
from promptpo.display.terminal import LiveDisplay, PlainDisplay
from promptpo.output.observer import HOOKS, Observer
from promptpo_sandbox.text import clean_line

if TYPE_CHECKING:
    from pathlib import Path

    from promptpo.output.run_result import RunResult
    from promptpo.run.config import Config
    from promptpo.run.ledger import Ledger
    from promptpo.spec import TaskSpec

REFRESH_SECONDS = 0.5
LINES = 12
"""Of what happened, so many are kept in a cell."""


@contextmanager
def shown(observer: Observer | None = None, *, always: bool = False) -> Iterator[Observer]:
    """A display that fits where Python runs, which tells another observer too.

    Args:
        observer: The other one.
        always: Print lines where there is neither a terminal nor a notebook.
    """
    display: PlainDisplay
    if in_notebook():
        display = NotebookDisplay()
    elif sys.stderr.isatty():
        display = LiveDisplay("stderr")
    elif always:
        display = PlainDisplay("stderr")
    else:
        yield observer or Observer()
        return
    try:
        yield display if observer is None else Both(display, observer)
    finally:
        display.close()


def in_notebook() -> bool:
    """Whether a cell of a notebook is being run."""
    if "IPython" not in sys.modules:
        return False
    from IPython.core.getipython import get_ipython

    return hasattr(get_ipython(), "kernel")


class Both(Observer):
    """Tells two observers."""

    def __init__(self, *told: Observer) -> None:
        for hook in HOOKS:
            setattr(self, hook, lambda *given, hook=hook: [getattr(one, hook)(*given) for one in told])


class NotebookDisplay(PlainDisplay):
    """One output of a cell, kept up to date: what happened last, what goes on, and the result in the end."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[str] = []
        self._handle: Any = None
        self._drawing = threading.Lock()
        self._over = threading.Event()

    def line(self, text: str) -> None:
        """Keep one line."""
        self._lines.append(clean_line(text))
        self._draw()

    def started(self, config: Config, directory: Path, choice: str, spec: TaskSpec, ledger: Ledger) -> None:
        """Say what begins."""
        super().started(config, directory, choice, spec, ledger)
        # notebooks know by the context which cell prints
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._tick,), daemon=True).start()

    def finished(self, run: RunResult) -> None:
        """Leave the result in the cell."""
        self._lines.extend(outcome(run).splitlines())
        self.close()

    def close(self) -> None:
        """What was going on no longer does."""
        if not self._over.is_set():
            self._over.set()
            self._draw()

    def _tick(self) -> None:
        """Seconds go by where nothing happens, too."""
        while not self._over.wait(REFRESH_SECONDS):
            self._draw()

    def _draw(self) -> None:
        from IPython.display import display

        with self._drawing:
            data = {"text/plain": self.text(), "text/html": self.html()}
            if self._handle is None:
                self._handle = display(data, raw=True, display_id=True)
            else:
                self._handle.update(data, raw=True)

    def text(self) -> str:
        """What the cell says."""
        left_out = len(self._lines) - LINES
        head = [f"({left_out} lines before)"] if left_out > 0 else []
        going_on = [] if self._over.is_set() or self._progress is None else self._progress.lines()
        return "\n".join([*head, *self._lines[-LINES:], *going_on])

    def html(self) -> str:
        """The same as a page shows it."""
        from markupsafe import Markup

        return str(Markup('<pre style="white-space:pre-wrap">{}</pre>').format(self.text()))
