"""What a person sees while a run goes on: a live view on a terminal, plain lines elsewhere."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.cli.dashboard import Progress, live_part
from promptpo.cli.terminal import clean_line, clean_lines, say
from promptpo.errors import PromptPOError
from promptpo.output.report.page import REPORT
from promptpo.run.observer import Observer
from promptpo.telling.feedback import number, one_line

if TYPE_CHECKING:
    from promptpo.output.run_result import RunResult
    from promptpo.run.config import Config
    from promptpo.run.journal import Event
    from promptpo.run.ledger import Ledger
    from promptpo.search.population import History
    from promptpo.spec import TaskSpec


@contextmanager
def choose_display(*, quiet: bool) -> Iterator[Observer]:
    """A display that fits where the output goes."""
    if quiet:
        yield Observer()
    else:
        display = LiveDisplay() if sys.stderr.isatty() else PlainDisplay()
        try:
            yield display
        except (PromptPOError, OSError):
            display.close()
            display.failed()
            raise
        finally:
            display.close()


class PlainDisplay(Observer):
    """One line for each thing worth a line, on standard error; the result on standard output."""

    def __init__(self) -> None:
        self._told: set[str] = set()
        self._ledger: Ledger | None = None
        self._directory: Path | None = None

    def line(self, text: str) -> None:
        """Print one line."""
        say(clean_line(text), error=True)

    def started(self, config: Config, directory: Path, choice: str, spec: TaskSpec, ledger: Ledger) -> None:
        """Say what begins."""
        del spec
        self._ledger, self._directory = ledger, directory
        self.line(choice)
        self.line(
            f"{config.task.name}: up to {_many(config.budget.rounds, 'round', 'rounds')} of "
            f"{_many(config.candidates, 'policy', 'policies')}, in {directory}"
        )

    def progress(self, history: History) -> None:
        """Say what became of each attempt, once."""
        for attempt in [*history.attempts, *history.arrived.values()]:
            if attempt.id not in self._told:
                self._told.add(attempt.id)
                self.line(f"  {one_line(attempt)}")
        key = f"round {history.rounds}"
        if history.rounds and key not in self._told:
            self._told.add(key)
            self.line(f"{key}: {standing(history)}; {spending(self._ledger)}")

    def warn(self, message: str) -> None:
        """Print the warning."""
        self.line(message)

    def event(self, event: Event) -> None:
        """Say when the last, long step begins."""
        if event.kind == "validation" and "tuning" in self._told:
            self._told.discard("tuning")
        if event.kind == "tuning" and "tuning" not in self._told:
            self._told.add("tuning")
            self.line("  tuning numbers …")

    def finished(self, run: RunResult) -> None:
        """Say what came out."""
        say(outcome(run))

    def failed(self) -> None:
        """After an error: say how to go on, where something was paid for or rolled out."""
        if self._directory is not None and self._ledger is not None and self._ledger.calls:
            self.line(
                f"What was done is kept; go on with: promptpo resume {shlex.quote(str(self._directory))}"
            )

    def close(self) -> None:
        """Give the terminal back."""


class LiveDisplay(PlainDisplay):
    """The attempts as they come; below them a part that is kept up to date (see `promptpo.cli.dashboard`)."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console

        from promptpo.cli.resizing import ResizingLive

        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._plain = self._console.options.ascii_only
        self._state: Progress | None = None
        self._live = ResizingLive(self._console, self._status)

    def line(self, text: str) -> None:
        """Print one line above the live part."""
        from rich.text import Text

        self._console.print(Text(clean_line(text)))

    def started(self, config: Config, directory: Path, choice: str, spec: TaskSpec, ledger: Ledger) -> None:
        """Say what begins and start the live part."""
        super().started(config, directory, choice, spec, ledger)
        self._state = Progress(config, ledger)
        self._live.start()

    def event(self, event: Event) -> None:
        """Keep the live part up to date."""
        if self._state is not None:
            self._state.add(event)

    def finished(self, run: RunResult) -> None:
        """Replace the live part by the result."""
        self.close()
        super().finished(run)

    def close(self) -> None:
        """Stop the live part; calling it twice is harmless."""
        self._live.stop()

    def _status(self) -> Any:
        from rich.text import Text

        if self._state is None:
            return Text("")
        width = self._console.width  # asked each time: terminals are resized
        return live_part(self._state, width=width, spending=spending(self._ledger), plain=self._plain)


def _many(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def standing(history: History) -> str:
    """The best so far, in words."""
    best, value = history.best(), history.best_validation()
    if best is None or value is None:
        return "nothing has run yet"
    text = f"best {best.id}: validation return {number(value.mean_return)}"
    if value.success_rate is not None:
        text += f", success {value.success_rate:.0%}"
    return text


def spending(ledger: Ledger | None) -> str:
    """Steps, calls and money so far, in words."""
    if ledger is None:
        return ""
    text = f"{sum(ledger.steps.values()):,} steps"
    if ledger.usage.input_tokens:
        text += f", {ledger.calls} calls, {ledger.usage.input_tokens + ledger.usage.output_tokens:,} tokens"
        known = f"${ledger.cost_usd:.4f}" if ledger.cost_usd else ""
        unknown = f"{ledger.unpriced_calls} calls of unknown price" if ledger.unpriced_calls else ""
        text += "".join(f", {part}" for part in (known, unknown) if part)
    return text


def outcome(run: RunResult) -> str:
    """The result in a few lines."""
    data = run.data
    lines = [f"Stopped: {run.stop_reason}."]
    if data["best"] is None:
        return clean_lines(*lines, f"No policy ran; see what happened with: promptpo show {run.directory}")
    low, high = run.ci95
    test = data["test"]
    success = f", success {test['success_rate']:.0%}" if test["success_rate"] is not None else ""
    lines.append(
        f"Held-out return {run.mean_return:.6g} (95 % interval {low:.6g} to {high:.6g}, {test['episodes']} episodes{success}), "
        f"candidate {data['best']['candidate']}."
    )
    if not data["language_model"]:
        lines.append("Written by program search; no language model was asked.")
    lines.append(f"Policy: {run.policy_path}")
    lines.append(f"Report: {run.directory / REPORT}")
    return clean_lines(*lines)
