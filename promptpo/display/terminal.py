"""Displays in a terminal: a live view, or plain lines where there is no terminal."""

from __future__ import annotations

import contextvars
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from promptpo.core.candidate import Lead, PlannedTest, RoundEnd
from promptpo.core.journal import going_on
from promptpo.display.progress import RunProgress
from promptpo.display.saying import say, tell, wrap
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

LOOK_SECONDS, TELL_SECONDS = 5.0, 60.0
"""How often lines look whether an answer is being written, and how often they say it of a slow one."""


@contextmanager
def choose_display(*, quiet: bool, brief: bool = False) -> Iterator[Observer]:
    """A display that fits where the output goes; a brief one says the result in one line, on standard error."""
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
    """One line for each thing worth a line, on standard error.

    Args:
        result: Where the result is said; brief ones are one line on standard error.
    """

    def __init__(self, result: Result = "stdout") -> None:
        self._result = result
        self._progress: RunProgress | None = None
        self._directory: Path | None = None
        self._missing = False
        self._told_at: float | None = None
        self._over = threading.Event()

    def line(self, text: str) -> None:
        """Print one line."""
        tell(text, error=True)

    def on_start(self, state: RunState, directory: Path, choice: str, spec: TaskSpec) -> None:
        """Say what begins."""
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
        # notebooks know by the context which cell prints
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._watch,), daemon=True).start()

    def _watch(self) -> None:
        """Seconds go by where nothing happens, too."""
        while not self._over.wait(LOOK_SECONDS):
            self._tell_arriving()

    def _tell_arriving(self) -> None:
        """Say that answers are being written: when they begin to arrive, and now and then while they go on."""
        heard, now = self._progress.heard if self._progress else 0, time.monotonic()
        if not heard:
            self._told_at = None
        elif self._told_at is None or now - self._told_at >= TELL_SECONDS:
            self._told_at = now
            self.line(f"  the model is writing: {heard:,} characters so far")

    def on_preflight(self, preflight: Preflight) -> None:
        """Say what the run may do and cost."""
        for line in preflight.brief():
            self.line(f"  {line}")

    def warn(self, message: str) -> None:
        """Print the warning."""
        self.line(message)

    def on_event(self, event: Event) -> None:
        """Say what became of each attempt and round, and when tuning begins."""
        if self._progress is not None:
            self._progress.add(event)
            for line in self._describe_event(event, self._progress):
                self.line(line)

    def _describe_event(self, event: Event, progress: RunProgress) -> Iterator[str]:
        """Describe an event in lines."""
        state = progress.state
        if event.kind == "attempt":
            found = state.candidate(event.key)
            if found is not None:
                yield f"  {summary_line(found.attempt)}"
                yield from self._warn_missing(found.attempt.diagnosis.trace)
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
            told = {"": end.untuned, "another round: ": end.prospect}
            yield from (f"  {head}{words}" for head, words in told.items() if words)
        elif event.kind == "tuning" and len(state.tuning) == 1:
            yield f"  tuning {', '.join(event.read(TuningBatch).candidates) or 'numbers'} …"

    def _warn_missing(self, trace: str) -> Iterator[str]:
        """Say once that observations held no numbers where numbers were due."""
        found = [line for line in trace.splitlines() if line.startswith(MISSING)]
        if found and not self._missing:
            self._missing = True
            yield f"  {found[0]} The prompts say so; policies must handle it, or fix the environment."

    def on_finish(self, run: RunResult) -> None:
        """Say what came out."""
        if self._result == "brief":
            self.line(f"{run.directory}: held-out return {number(run.mean_return)}; {run.stop_reason}")
        else:
            say(outcome(run.data, run.directory), error=self._result == "stderr", prose=True)

    def on_error(self, error: Exception) -> None:
        """After an error: say how to go on, where the run is kept."""
        if isinstance(error, RewardFaultError):
            return  # it would fail again; the error says what to do
        if self._directory is not None and (self._directory / CONFIG).exists():
            then = going_on(self._directory)
            if then not in str(error):
                self.line(f"Completed work is kept; continue with: {then}")

    def close(self) -> None:
        """Give the terminal back; calling it twice is harmless."""
        self._over.set()


class LiveDisplay(PlainDisplay):
    """The attempts as they come; below them a few lines that are kept up to date."""

    def __init__(self, result: Result = "stdout") -> None:
        super().__init__(result)
        from rich.console import Console
        from rich.live import Live

        self._console = Console(stderr=True, highlight=False, soft_wrap=True)
        self._live = Live(
            console=self._console, refresh_per_second=8, get_renderable=self._status, transient=True
        )

    def line(self, text: str) -> None:
        """Print one line above the live part."""
        from rich.text import Text

        self._console.print(Text(wrap(clean_line(text), self._console.width)))

    def on_start(self, state: RunState, directory: Path, choice: str, spec: TaskSpec) -> None:
        """Say what begins and start the live part."""
        super().on_start(state, directory, choice, spec)
        self._live.start()

    def _watch(self) -> None:
        """The live part tells what goes on."""

    def _describe_event(self, event: Event, progress: RunProgress) -> Iterator[str]:
        return iter(()) if event.kind == "tuning" else super()._describe_event(event, progress)

    def on_finish(self, run: RunResult) -> None:
        """Replace the live part by the result."""
        self.close()
        super().on_finish(run)

    def close(self) -> None:
        """Stop the live part; calling it twice is harmless."""
        super().close()
        self._live.stop()

    def _status(self) -> Any:
        return "" if self._progress is None else live_part(self._progress, self._console)


def live_part(progress: RunProgress, console: Console) -> RenderableType:
    """Render the lines kept below the scrolling ones: none wider than the terminal, in ASCII where it has no more."""
    from rich.console import Group
    from rich.spinner import Spinner
    from rich.text import Text

    plain = console.options.ascii_only
    lines = [Text(line.replace("·", "-").replace("±", "+-") if plain else line) for line in progress.lines()]
    for line in lines:
        # here, since a spinner forgets how its text wants to overflow; two columns are its mark's
        line.truncate(max(1, console.width - 2), overflow="crop" if plain else "ellipsis")
    head, *others = lines
    return Group(Spinner("line" if plain else "dots", text=head), *(Text("  ") + line for line in others))
