"""Display a run in a terminal: a live view, or plain lines if the output is no terminal."""

from __future__ import annotations

import contextvars
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from promptpo.core.candidate import Attempt, Lead, PlannedTest, RoundEnd
from promptpo.core.journal import resume_command
from promptpo.display.console import say, tell, wrap
from promptpo.display.progress import RunProgress
from promptpo.errors import PromptPOError, RewardFaultError
from promptpo.llm.base import Completion
from promptpo.output.observer import Observer
from promptpo.output.outcome import outcome
from promptpo.prompts.columns import MISSING
from promptpo.prompts.feedback import number, summary_line
from promptpo.prompts.shortening import count_of
from promptpo.run.config_file import CONFIG
from promptpo.run.preflight import final_test_in_words
from promptpo.run.state import RunState, TuningBatch
from promptpo_sandbox.text import clean_line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from promptpo.core.journal import Event
    from promptpo.output.run_result import RunResult
    from promptpo.run.preflight import Preflight
    from promptpo.spec import TaskSpec


Result = Literal["stdout", "stderr", "brief"]

POLL_SECONDS, TELL_SECONDS = 5.0, 60.0
"""Interval of checks for answers being streamed, and of lines about a slow one."""


@contextmanager
def choose_display(*, quiet: bool, brief: bool = False) -> Iterator[Observer]:
    """Open the display that suits standard error; a brief one prints the result as one line there."""
    if quiet:
        yield Observer()
    else:
        display = (LiveDisplay if sys.stderr.isatty() else PlainDisplay)("brief" if brief else "stdout")
        try:
            yield display
        except (PromptPOError, OSError) as error:
            display.close()
            display.on_error(error)
            raise
        finally:
            display.close()


class PlainDisplay(Observer):
    """Print events as lines on standard error.

    Args:
        result: Where to print the result; "brief" means one line on standard error.
    """

    def __init__(self, result: Result = "stdout") -> None:
        self._result = result
        self._progress: RunProgress | None = None
        self._directory: Path | None = None
        self._missing = False
        self._reported_at: float | None = None
        self._over = threading.Event()

    def line(self, text: str) -> None:
        """Print one line."""
        tell(text, error=True)

    def on_start(self, state: RunState, directory: Path, choice: str, spec: TaskSpec) -> None:
        """Print the model, the task and the directory, and start watching for streamed answers."""
        del spec
        self._directory = directory
        self._progress, config = RunProgress(state), state.config
        self.line(choice)
        self.line(
            f"{config.task.name}: up to {count_of(config.budget.rounds, 'round')} of "
            f"{count_of(config.candidates, 'policy')}, in {directory}"
        )
        if candidates := self._progress.state.candidates:
            tried = count_of(len(candidates), "policy")
            self.line(f"so far: {tried} tried; best {self._progress.standing}")
        # notebooks identify the printing cell by the context
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._watch,), daemon=True).start()

    def _watch(self) -> None:
        """Report streamed answers between events."""
        while not self._over.wait(POLL_SECONDS):
            self._report_streaming()

    def _report_streaming(self) -> None:
        """Print that answers are being streamed, when the first characters arrive and every `TELL_SECONDS`."""
        chars, now = self._progress.streamed_chars if self._progress else 0, time.monotonic()
        if not chars:
            self._reported_at = None
        elif self._reported_at is None or now - self._reported_at >= TELL_SECONDS:
            self._reported_at = now
            self.line(f"  the model is writing: {chars:,} characters so far")

    def on_preflight(self, preflight: Preflight) -> None:
        """Print the plan and cost of the run."""
        for line in preflight.brief():
            self.line(f"  {line}")

    def warn(self, message: str) -> None:
        """Print the warning."""
        self.line(message)

    def on_event(self, event: Event) -> None:
        """Print the outcome of attempts and rounds, and the beginning of tuning."""
        if self._progress is not None:
            self._progress.add(event)
            for line in self._describe_event(event, self._progress):
                self.line(line)

    def _describe_event(self, event: Event, progress: RunProgress) -> Iterator[str]:
        """Yield lines that describe an event."""
        state = progress.state
        if event.kind == "attempt":
            found = state.candidate(event.key)
            if found is not None:
                yield from self._describe_attempt(found.attempt, state.history.attempts)
        elif event.kind == "completion" and progress.writes_reward:
            yield f"  {event.key}: answered, {event.read(Completion).seconds:.0f} s"
        elif event.kind == "note":
            yield f"  {event.data}"
        elif event.kind == "decision" and event.key.startswith("test."):
            yield from final_test_in_words(event.read(PlannedTest))
        elif event.kind == "experiment":
            from promptpo.features.experiments.records import Experiment
            from promptpo.features.experiments.report import experiment_line

            yield f"  {experiment_line(event.read(Experiment))}"
        elif event.kind == "lead" and (change := event.read(Lead).change):
            yield f"  {change}"
        elif event.kind == "round":
            end = event.read(RoundEnd)
            yield from (f"  no answer: {why}" for why in dict.fromkeys(end.unanswered.values()))
            best = "best " if state.best else ""
            yield f"round {event.key[1:]}: {best}{progress.standing}; {progress.spending}"
            remarks = {"": end.untuned, "another round: ": end.prospect}
            yield from (f"  {head}{words}" for head, words in remarks.items() if words)
        elif event.kind == "tuning" and len(state.tuning) == 1:
            yield f"  tuning {', '.join(event.read(TuningBatch).candidates) or 'numbers'} …"

    def _describe_attempt(self, attempt: Attempt, arrived: Sequence[Attempt]) -> Iterator[str]:
        """Yield a line on an attempt, the latest to arrive, which may be the same program as an earlier one."""
        digest = attempt.candidate.digest
        same = [a.id for a in arrived if a.candidate.digest == digest and a.id != attempt.id]
        yield (
            f"  {attempt.id}: the same program as {same[0]}"
            if digest and same
            else f"  {summary_line(attempt)}"
        )
        yield from self._warn_missing(attempt.diagnosis.trace)

    def _warn_missing(self, trace: str) -> Iterator[str]:
        """Yield a warning, once, if observations lacked numbers."""
        found = [line for line in trace.splitlines() if line.startswith(MISSING)]
        if found and not self._missing:
            self._missing = True
            yield f"  {found[0]} The prompts say so; policies must handle it, or fix the environment."

    def on_finish(self, run: RunResult) -> None:
        """Print the result."""
        if self._result == "brief":
            self.line(f"{run.directory}: held-out return {number(run.mean_return)}; {run.stop_reason}")
        else:
            say(outcome(run.data, run.directory), error=self._result == "stderr", prose=True)

    def on_error(self, error: Exception) -> None:
        """Print how to continue a run after an error."""
        if isinstance(error, RewardFaultError):
            return  # continuing would fail again; the error says what to do
        if self._directory is not None and (self._directory / CONFIG).exists():
            then = resume_command(self._directory)
            if then not in str(error):
                self.line(f"Completed work is kept; continue with: {then}")

    def close(self) -> None:
        """Release the terminal; calling it twice is harmless."""
        self._over.set()


class LiveDisplay(PlainDisplay):
    """Print events above a few lines that are kept up to date."""

    def __init__(self, result: Result = "stdout") -> None:
        super().__init__(result)
        from rich.console import Console
        from rich.live import Live

        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._live = Live(
            console=self._console, refresh_per_second=8, get_renderable=self._status, transient=True
        )

    def line(self, text: str) -> None:
        """Print one line above the live lines."""
        from rich.text import Text

        self._console.print(Text(wrap(clean_line(text), self._console.width)))

    def on_start(self, state: RunState, directory: Path, choice: str, spec: TaskSpec) -> None:
        """Print the beginning of the run, and start the live lines."""
        super().on_start(state, directory, choice, spec)
        self._live.start()

    def _watch(self) -> None:
        """Do nothing: the live lines show streamed answers."""

    def _describe_event(self, event: Event, progress: RunProgress) -> Iterator[str]:
        return iter(()) if event.kind == "tuning" else super()._describe_event(event, progress)

    def on_finish(self, run: RunResult) -> None:
        """Replace the live lines by the result."""
        self.close()
        super().on_finish(run)

    def close(self) -> None:
        """Stop the live lines; calling it twice is harmless."""
        super().close()
        self._live.stop()

    def _status(self) -> Any:
        return "" if self._progress is None else render_live_lines(self._progress, self._console)


def render_live_lines(progress: RunProgress, console: Console) -> RenderableType:
    """Render the live lines, cut to the terminal's width, and in ASCII if it supports no more."""
    from rich.console import Group
    from rich.spinner import Spinner
    from rich.text import Text

    plain = console.options.ascii_only
    lines = [Text(line.replace("·", "-").replace("±", "+-") if plain else line) for line in progress.lines()]
    for line in lines:
        # truncated here, since a spinner ignores its text's overflow setting; it takes two columns itself
        line.truncate(max(1, console.width - 2), overflow="crop" if plain else "ellipsis")
    head, *others = lines
    return Group(Spinner("line" if plain else "dots", text=head), *(Text("  ") + line for line in others))
