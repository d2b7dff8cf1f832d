"""Display of a run that Python started: live in a terminal or in a notebook's cell, else as lines.

Everything goes to standard error, or to the cell: standard output belongs to the program.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from promptpo.display.terminal import LiveDisplay, PlainDisplay, Result
from promptpo.output.observer import HOOKS, Observer
from promptpo.output.outcome import outcome
from promptpo_sandbox.text import clean_line

if TYPE_CHECKING:
    from promptpo.output.run_result import RunResult

REFRESH_SECONDS = 0.5
LINES = 12
"""Of what happened, so many are kept in a cell."""


@contextmanager
def open_display(observer: Observer | None = None, *, always: bool = False) -> Iterator[Observer]:
    """Open a display that fits where Python runs and also notifies another observer.

    Args:
        observer: The other one.
        always: Print lines where there is neither a terminal nor a notebook.
    """
    kind = NotebookDisplay if in_notebook() else LiveDisplay if sys.stderr.isatty() else PlainDisplay
    if kind is PlainDisplay and not always:
        yield observer or Observer()
        return
    display = kind("stderr")
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
            setattr(
                self, hook, lambda *given, hook=hook: [getattr(observer, hook)(*given) for observer in told]
            )


class NotebookDisplay(PlainDisplay):
    """One output of a cell, kept up to date: what happened last, what goes on, and the result in the end."""

    def __init__(self, result: Result = "stdout") -> None:
        super().__init__(result)
        self._lines: list[str] = []
        self._handle: Any = None
        self._drawing = threading.Lock()

    def line(self, text: str) -> None:
        """Keep one line."""
        self._lines.append(clean_line(text))
        self._draw()

    def on_finish(self, run: RunResult) -> None:
        """Leave the result in the cell."""
        self._lines.extend(outcome(run.data, run.directory).splitlines())
        self.close()

    def close(self) -> None:
        """Stop saying that work is in progress."""
        if not self._over.is_set():
            super().close()
            self._draw()

    def _watch(self) -> None:
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
        """Text of the cell."""
        left_out = len(self._lines) - LINES
        head = [f"({left_out} earlier lines)"] if left_out > 0 else []
        going_on = [] if self._over.is_set() or self._progress is None else self._progress.lines()
        return "\n".join([*head, *self._lines[-LINES:], *going_on])

    def html(self) -> str:
        """The same as a page shows it."""
        from markupsafe import Markup

        return str(Markup('<pre style="white-space:pre-wrap">{}</pre>').format(self.text()))
