"""Display a run that Python code started: live in a terminal or a notebook's cell, else as lines.

Output goes to standard error or to the cell, since standard output belongs to the user's program.
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
"""Number of recent lines shown in a cell."""


@contextmanager
def open_display(observer: Observer | None = None, *, always: bool = False) -> Iterator[Observer]:
    """Open a display for the terminal or notebook that Python runs in, and also notify another observer.

    Args:
        observer: The other observer.
        always: Whether to print lines if there is neither a terminal nor a notebook.
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
    """Return whether the code runs in a notebook."""
    if "IPython" not in sys.modules:
        return False
    from IPython.core.getipython import get_ipython

    return hasattr(get_ipython(), "kernel")


class Both(Observer):
    """Forward all events to several observers."""

    def __init__(self, *observers: Observer) -> None:
        for hook in HOOKS:
            setattr(self, hook, lambda *given, hook=hook: [getattr(each, hook)(*given) for each in observers])


class NotebookDisplay(PlainDisplay):
    """The output of a notebook cell, kept up to date: recent lines, the current activity, and finally the result."""

    def __init__(self, result: Result = "stdout") -> None:
        super().__init__(result)
        self._lines: list[str] = []
        self._handle: Any = None
        self._drawing = threading.Lock()

    def line(self, text: str) -> None:
        """Add one line."""
        self._lines.append(clean_line(text))
        self._draw()

    def on_finish(self, run: RunResult) -> None:
        """Show the result."""
        self._lines.extend(outcome(run.data, run.directory).splitlines())
        self.close()

    def close(self) -> None:
        """Remove the current activity."""
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
        """Return the text of the cell."""
        left_out = len(self._lines) - LINES
        head = [f"({left_out} earlier lines)"] if left_out > 0 else []
        current = [] if self._over.is_set() or self._progress is None else self._progress.lines()
        return "\n".join([*head, *self._lines[-LINES:], *current])

    def html(self) -> str:
        """Return the text of the cell as HTML."""
        from markupsafe import Markup

        return str(Markup('<pre style="white-space:pre-wrap">{}</pre>').format(self.text()))
