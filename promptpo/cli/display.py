"""What a person sees while a run goes on: a live view on a terminal, plain lines elsewhere."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.cli.dashboard import RunProgress, live_part, standing
from promptpo.cli.show import came_out
from promptpo.cli.terminal import say, wrapped
from promptpo.errors import PromptPOError, RewardFaultError
from promptpo.output.report.page import REPORT
from promptpo.output.report.result import (
    fidelity_in_words,
    goal_in_words,
    references_in_words,
)
from promptpo.run.journal import JOURNAL, read_events
from promptpo.run.observer import Observer
from promptpo.run.preflight import duration, final_test_in_words
from promptpo.run.state import RunState
from promptpo.search.stopping import NOTHING_BETTER
from promptpo.telling.experiments import one_line as experiment_line
from promptpo.telling.feedback import number, one_line
from promptpo.telling.step_table import MISSING
from promptpo_sandbox.text import clean_line, clean_lines

if TYPE_CHECKING:
    from promptpo.output.run_result import RunResult
    from promptpo.run.config import Config
    from promptpo.run.journal import Event
    from promptpo.run.ledger import Ledger
    from promptpo.run.preflight import Preflight
    from promptpo.spec import TaskSpec


LONG = 60.0
"""Seconds of steps to come that are worth a word."""


@contextmanager
def choose_display(*, quiet: bool, brief: bool = False) -> Iterator[Observer]:
    """A display that fits where the output goes; a brief one says the result in one line, on standard error."""
    if quiet:
        yield Observer()
    else:
        display = LiveDisplay() if sys.stderr.isatty() else PlainDisplay()
        display.brief = brief
        try:
            yield display
        except (PromptPOError, OSError) as error:
            display.close()
            display.failed(error)
            raise
        finally:
            display.close()


class PlainDisplay(Observer):
    """One line for each thing worth a line, on standard error; the result on standard output."""

    brief = False

    def __init__(self) -> None:
        self._state: RunState | None = None
        self._ledger: Ledger | None = None
        self._directory: Path | None = None
        self._tuned = self._changes = 0
        self._missing = False

    def line(self, text: str) -> None:
        """Print one line."""
        say(clean_line(text), error=True)

    def started(self, config: Config, directory: Path, choice: str, spec: TaskSpec, ledger: Ledger) -> None:
        """Say what begins."""
        del spec
        self._ledger, self._directory = ledger, directory
        self._state = RunState.of(config, read_events(directory / JOURNAL))
        self.line(choice)
        self.line(
            f"{config.task.name}: up to {_many(config.budget.rounds, 'round', 'rounds')} of "
            f"{_many(config.candidates, 'policy', 'policies')}, in {directory}"
        )
        if self._state.candidates:
            tried = _many(len(self._state.candidates), "policy", "policies")
            self.line(f"so far: {tried} tried; best {standing(self._state)}")

    def prepared(self, preflight: Preflight) -> None:
        """Say what the run may do and cost."""
        for line in preflight.brief():
            self.line(f"  {line}")

    def warn(self, message: str) -> None:
        """Print the warning."""
        self.line(message)

    def event(self, event: Event) -> None:
        """Say what became of each attempt and round, and when tuning begins."""
        if self._state is not None:
            self._state.add(event)
            self._tell(event, self._state)

    def _tell(self, event: Event, state: RunState) -> None:
        if event.kind == "attempt":
            found = state.candidate(event.key)
            if found is not None:
                self.line(f"  {one_line(found.attempt)}")
                self._tell_missing(found.attempt.diagnosis.trace)
        elif event.kind == "decision" and event.key.startswith("test."):
            for line in final_test_in_words(event.data):
                self.line(line)
        elif event.kind == "experiment":
            self.line(f"  {experiment_line(state.experiments[-1])}")
        elif event.kind == "round":
            self._tell_round(event, state)
        elif event.kind == "tuning" and state.tuning is not None and self._tuned != state.tuning.round:
            self._tuned = state.tuning.round
            self.line(f"  tuning {', '.join(state.tuning.candidates) or 'numbers'} …")

    def _tell_round(self, event: Event, state: RunState) -> None:
        """Say what a round has come to, and how long the others take."""
        seconds = state.seconds_to_come
        left = f"; about {duration(seconds)} for the steps that are left" if seconds >= LONG else ""
        best = "best " if state.best else ""
        self.line(f"round {event.key[1:]}: {best}{standing(state)}; {spending(self._ledger)}{left}")
        if event.data.get("untuned"):
            self.line(f"  {event.data['untuned']}")
        for change in event.data.get("changes", ())[self._changes :]:
            self.line(f"  {change}")
        self._changes = len(event.data.get("changes", ()))
        if event.data.get("prospect"):
            self.line(f"  another round? {event.data['prospect']}")

    def _tell_missing(self, trace: str) -> None:
        """Say once that observations held no numbers where numbers were due."""
        found = next((line for line in trace.splitlines() if line.startswith(MISSING)), "")
        if found and not self._missing:
            self._missing = True
            self.line(f"  {found} The model is told; programs must bear it, or the environment be mended.")

    def finished(self, run: RunResult) -> None:
        """Say what came out, after what the last race changed."""
        for change in run.data.get("changes", ())[self._changes :]:
            self.line(f"  {change}")
        if self.brief:
            self.line(f"{run.directory}: held-out return {number(run.mean_return)}; {run.stop_reason}")
        else:
            say(outcome(run), prose=True)

    def failed(self, error: Exception) -> None:
        """After an error: say how to go on, where something was paid for or rolled out."""
        if isinstance(error, RewardFaultError):
            return  # it would fail again; the error says what to do
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

        from promptpo.cli.resizable_live import ResizingLive

        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._plain = self._console.options.ascii_only
        self._progress: RunProgress | None = None
        self._live = ResizingLive(self._console, self._status)

    def line(self, text: str) -> None:
        """Print one line above the live part."""
        from rich.text import Text

        self._console.print(Text(wrapped(clean_line(text), self._console.width)))

    def started(self, config: Config, directory: Path, choice: str, spec: TaskSpec, ledger: Ledger) -> None:
        """Say what begins and start the live part."""
        super().started(config, directory, choice, spec, ledger)
        if self._state is not None:
            self._progress = RunProgress(self._state, ledger)
        self._live.start()

    def event(self, event: Event) -> None:
        """Keep the live part up to date; what became of attempts and rounds scrolls above it."""
        if self._progress is not None:
            self._progress.add(event)
            if event.kind != "tuning":  # the live part tells it
                self._tell(event, self._progress.state)

    def finished(self, run: RunResult) -> None:
        """Replace the live part by the result."""
        self.close()
        super().finished(run)

    def close(self) -> None:
        """Stop the live part; calling it twice is harmless."""
        self._live.stop()

    def _status(self) -> Any:
        from rich.text import Text

        if self._progress is None:
            return Text("")
        width = self._console.width  # asked each time: terminals are resized
        return live_part(self._progress, width=width, spending=spending(self._ledger), plain=self._plain)


def _many(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def spending(ledger: Ledger | None) -> str:
    """Steps that count against the budget, calls and money so far, in words."""
    if ledger is None:
        return ""
    text = f"{ledger.searched_steps:,} steps"
    if ledger.usage.input_tokens:
        text += f", {_many(ledger.calls, 'call', 'calls')}, {ledger.usage.input_tokens + ledger.usage.output_tokens:,} tokens"
        known = f"${ledger.cost_usd:.4f}" if ledger.cost_usd else ""
        unknown = (
            f"{_many(ledger.unpriced_calls, 'call', 'calls')} of unknown price"
            if ledger.unpriced_calls
            else ""
        )
        text += "".join(f", {part}" for part in (known, unknown) if part)
    return text


HOW = (
    "  class Policy:  # mine.py, for: promptpo optimize ENV --start mine.py",
    "      def act(self, obs):",
    "          return ...  # what you would do; numbers declared in PARAMS are tuned",
)
"""How a controller of one's own is written."""


def outcome(run: RunResult) -> str:
    """The result in a few lines."""
    data = run.data
    lines = [f"Stopped: {run.stop_reason}.", *(HOW if run.stop_reason == NOTHING_BETTER else ())]
    if data["best"] is None:
        return clean_lines(
            *lines,
            f"{data.get('verdict') or 'No policy ran.'}",
            f"See what happened with: promptpo show {run.directory}",
        )
    lines += came_out(data, run.directory)
    if data.get("references"):
        lines.append(f"On the same seeds {references_in_words(data['references'])}.")
    lines.extend(
        filter(
            None,
            [
                data.get("verdict"),
                goal_in_words(data),
                fidelity_in_words((data.get("teacher") or {}).get("fidelity")),
            ],
        )
    )
    whence = {
        "user": "Tuned from what was given at the start" if data["best"]["tuned"] else "Given at the start",
        "goal": "Written while its reward was judged",
        "world model": "Found in a world model, before the first round",
    }.get(data["best"].get("origin", ""))
    if whence is not None:
        lines.append(f"{whence}; nothing that was written since is better.")
    elif not data["language_model"]:
        lines.append("Written by program search; no language model was asked.")
    lines.append(f"Policy: {run.policy_path}")
    lines.append(f"Report: {run.directory / REPORT}")
    return clean_lines(*lines)
