"""What a person sees of a training run: a bar on a terminal, a line for each evaluation elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any


class Display:
    """Told what a run does; this one says nothing."""

    def started(self, title: str, steps: int, total: int) -> None:
        """Training begins, or goes on after `steps`."""

    def stepped(self, steps: int) -> None:
        """So many training steps are done."""

    def evaluated(self, point: Mapping[str, Any]) -> None:
        """An evaluation is done."""

    def line(self, text: str) -> None:
        """Something worth a line."""


class Lines(Display):
    """A line for each evaluation, on standard error."""

    def started(self, title: str, steps: int, total: int) -> None:
        """Say what begins."""
        self.line(
            f"{title}: {total} steps"
            + (f", going on from the checkpoint after {steps}, with new episodes" if steps else "")
        )

    def evaluated(self, point: Mapping[str, Any]) -> None:
        """Say what came out."""
        self.line("  " + describe(point))

    def line(self, text: str) -> None:
        """Print it."""
        print(text, file=sys.stderr, flush=True)


class Bar(Lines):
    """A bar below the lines."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import Progress

        self.progress = Progress(console=Console(stderr=True), transient=True)
        self._task: Any = None

    def started(self, title: str, steps: int, total: int) -> None:
        """Show the bar."""
        super().started(title, steps, total)
        self.progress.start()
        self._task = self.progress.add_task("training", total=total, completed=steps)

    def stepped(self, steps: int) -> None:
        """Move the bar."""
        if self._task is not None:
            self.progress.update(self._task, completed=steps)

    def line(self, text: str) -> None:
        """Print it above the bar."""
        self.progress.console.print(text, highlight=False, markup=False)


def describe(point: Mapping[str, Any]) -> str:
    """One evaluation as a line."""
    success = point.get("success_rate")
    tail = f", success {success:.0%}" if success is not None else ""
    mean = point["mean_return"]
    came = f"mean return {mean:.2f}" if mean is not None else "no episode played to its end"
    return f"{point['steps']:>9} steps, {point['wall_seconds']:7.1f} s: {came}{tail}"


@contextmanager
def choose_display(*, quiet: bool) -> Iterator[Display]:
    """A display that fits where the output goes."""
    if quiet:
        yield Display()
    elif sys.stderr.isatty():
        bar = Bar()
        try:
            yield bar
        finally:
            bar.progress.stop()
    else:
        yield Lines()
