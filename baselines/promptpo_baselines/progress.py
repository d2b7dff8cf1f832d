"""The display of a training run: one line per evaluation, and a progress bar below them on a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.progress import Progress


class Display:
    """Shows the progress of a run.

    Args:
        quiet: Show nothing.
    """

    def __init__(self, *, quiet: bool = True) -> None:
        console = Console(stderr=True, quiet=quiet)
        self._bar = Progress(console=console, transient=True, disable=quiet or not console.is_terminal)
        self._task = self._bar.add_task("training", total=None)

    def on_start(self, title: str, steps: int, total: int) -> None:
        """Training begins, or continues after `steps`."""
        after = f", continuing from the checkpoint after {steps}, with new episodes" if steps else ""
        self.line(f"{title}: {total:,} training steps{after}")
        self._bar.start()
        self._bar.update(self._task, total=total, completed=steps)

    def on_step(self, steps: int) -> None:
        """This many training steps are done."""
        self._bar.update(self._task, completed=steps)

    def on_evaluation(self, point: Mapping[str, Any]) -> None:
        """An evaluation is done."""
        success, mean = point.get("success_rate"), point["mean_return"]
        tail = f", success {success:.0%}" if success is not None else ""
        came = f"mean return {mean:.2f}" if mean is not None else "no episode finished"
        self.line(f"  {point['steps']:>9} steps, {point['wall_seconds']:7.1f} s: {came}{tail}")

    def line(self, text: str) -> None:
        """Print a line above the bar."""
        self._bar.console.print(text, highlight=False, markup=False, soft_wrap=True)

    def close(self) -> None:
        """Remove the bar."""
        self._bar.stop()
