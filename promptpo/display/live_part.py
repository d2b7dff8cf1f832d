"""The live part of the terminal display: a few lines when narrow, a small dashboard when wide."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from promptpo.display.results import with_error
from promptpo.telling.feedback import number

if TYPE_CHECKING:
    from rich.console import OverflowMethod, RenderableType

    from promptpo.run.journal import Event
    from promptpo.run.ledger import Ledger
    from promptpo.run.state import RunState
    from promptpo.run.state_values import TuningState

WIDE = 96
"""Columns from which the dashboard is shown."""


class RunProgress:
    """What goes on in a run, in words.

    Args:
        state: What the journal has told so far; feed new events to `add`, not to the state.
        ledger: Of the run.
    """

    def __init__(self, state: RunState, ledger: Ledger) -> None:
        self.state, self.ledger = state, ledger
        self.started = time.monotonic()
        self._now = state.last.t if state.last else time.time()
        self._clock = time.monotonic()
        self._asked_at: float | None = None
        self._tuning_from: tuple[float, float] | None = None

    def add(self, event: Event) -> None:
        """Take one event into account."""
        self.state.add(event)
        self._now, self._clock = event.t, time.monotonic()
        if event.kind == "prompt" and self._asked_at is None:
            self._asked_at = event.t
        elif event.kind == "round":
            self._asked_at = None
        elif event.kind == "decision":
            self._tuning_from = None
        if event.kind in ("decision", "tuning") and self._tuning_from is None and self.state.tuning:
            self._tuning_from = (event.t, self.state.tuning.share)

    @property
    def now(self) -> float:
        """Seconds since the epoch, on the clock of the events."""
        return self._now + time.monotonic() - self._clock

    @property
    def round(self) -> int:
        """The round that is going on, from 1."""
        return min(self.state.config.budget.rounds, len(self.state.rounds) + 1)

    @property
    def seconds(self) -> float:
        """Since this process began."""
        return time.monotonic() - self.started

    @property
    def doing(self) -> str:
        """What is going on, for a person who waits."""
        state, last = self.state, str(self.state.last.kind) if self.state.last else ""
        if last in ("test", "held_out", "stop"):
            return "writing the result"
        if len(state.rounds) >= state.config.budget.rounds:
            return f"testing {state.best.id} on held-out episodes" if state.best else "writing the result"
        if last == "reference" and not state.candidates:
            return "measuring marks to compare with"
        if last in ("decision", "tuning") and state.tuning and state.tuning.planned_steps != 0:
            return self._tuning(state.tuning)
        if last == "round":
            return f"preparing round {self.round}"
        if last == "validation" or (last == "attempt" and state.last and state.last.key.endswith("t")):
            return "validating the round's best"
        return self._trying_out()

    def _trying_out(self) -> str:
        samples = self.samples
        asking = [name for name, at in samples if at == "asking"]
        if asking and not self.state.prompts:
            return "starting"
        if asking:
            since = f", {self.now - self._asked_at:.0f} s" if self._asked_at is not None else ""
            heard = sum(list(self.ledger.arriving.values()))  # they come in another thread
            arriving = f", {heard:,} characters so far" if heard else ""
            return f"asking, {len(samples) - len(asking)} of {len(samples)} answered{since}{arriving}"
        for at, words in (("repairing", "repairing"), ("running", "rolling out")):
            names = [name for name, state in samples if state == at]
            if names:
                return f"{words} {', '.join(names)}"
        return "choosing what to tune and to validate"

    def _tuning(self, tuning: TuningState) -> str:
        """For example "tuning r2c1: 4,100 of 12,000 steps, best 1,204, about 25 s left"."""
        names = ", ".join(tuning.candidates) or "numbers"
        if tuning.planned_steps:
            parts = [f"{tuning.steps:,} of {tuning.planned_steps:,} steps"]
        else:
            parts = [f"{tuning.steps:,} steps"]
        if not math.isnan(tuning.best_return):
            parts.append(f"best {_grouped(tuning.best_return)}")
        left = self._seconds_left(tuning.share)
        if left is not None:
            parts.append(f"about {left:.0f} s left")
        return f"tuning {names}: {', '.join(parts)}"

    def _seconds_left(self, share: float) -> float | None:
        """From the pace since this process saw tuning begin; None while there is none."""
        if self._tuning_from is None:
            return None
        began, before = self._tuning_from
        if share <= before:
            return None
        pace = (share - before) / max(1e-3, self._now - began)
        return max(0.0, (1.0 - share) / pace - (self.now - self._now))

    @property
    def standing(self) -> str:
        """The best so far, in words."""
        return standing(self.state)

    @property
    def samples(self) -> list[tuple[str, str]]:
        """(id, state) of each sample of the round."""
        names = (f"r{self.round}c{n}" for n in range(1, self.state.config.candidates + 1))
        return [(name, self._at(name)) for name in names]

    def _at(self, name: str) -> str:
        """What a sample is at: asking, running, repairing, or what it came to."""
        found = self.state.candidate(name)
        if found is not None:
            evaluation = found.attempt.evaluation
            return number(evaluation.mean_return) if evaluation.outcome == "ok" else evaluation.outcome.replace("_", " ")  # fmt: skip
        calls = self.state.calls_for(name)
        if not calls:
            return "asking"
        mending = "repair" in calls[-1].key or self.state.failed_programs(name)
        return "repairing" if mending else "running"

    @property
    def limits(self) -> list[tuple[str, float, float, str]]:
        """(name, spent, limit, in words) of every limit that there is."""
        ledger, budget = self.ledger, self.state.config.budget
        tokens = ledger.usage.input_tokens + ledger.usage.output_tokens
        of: list[tuple[str, float, float | None, str]] = [
            ("rounds", len(self.state.rounds), budget.rounds, "{:.0f}"),
            ("steps", ledger.searched_steps, budget.steps, "{:,.0f}"),
            ("calls", ledger.calls, budget.calls, "{:,.0f}"),
            ("tokens", tokens, budget.tokens, "{:,.0f}"),
            ("money", ledger.cost_usd, budget.usd, "${:.4g}"),
            ("time", ledger.seconds, budget.seconds, "{:,.0f} s"),
        ]
        return [
            (name, spent, limit, f"{form.format(spent)} of {form.format(limit)}")
            for name, spent, limit, form in of
            if limit is not None
        ]


def standing(state: RunState) -> str:
    """The best of a run so far, in words."""
    best = state.best
    if best is not None:
        return f"{best.id}: return {with_error(best.evidence)}"
    count = len(state.candidates)
    return f"none of {count} {'policy' if count == 1 else 'policies'} ran" if count else "nothing has run yet"


def _grouped(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else number(value)  # noqa: PLR2004 - as `number` does


def sparkline(values: Sequence[float], *, width: int, plain: bool) -> str:
    """Values as a row of marks of different heights, the last `width` of them."""
    marks = "_.-=*#" if plain else "▁▂▃▄▅▆▇█"
    shown = list(values)[-width:]
    if not shown:
        return ""
    low, high = min(shown), max(shown)
    span = (high - low) or 1.0
    return "".join(marks[round((value - low) / span * (len(marks) - 1))] for value in shown)


def bar(share: float, *, width: int, plain: bool) -> str:
    """How much of a limit is spent."""
    full, empty = ("#", "-") if plain else ("█", "░")
    done = round(max(0.0, min(1.0, share)) * width)
    return full * done + empty * (width - done)


def live_part(progress: RunProgress, *, width: int, spending: str, plain: bool) -> RenderableType:
    """What is kept up to date below the scrolling lines.

    Args:
        progress: What is known.
        width: Of the terminal, in columns.
        spending: What was spent, in words.
        plain: The terminal knows ASCII only.
    """
    from rich.console import Group
    from rich.spinner import Spinner
    from rich.text import Text

    between = " - " if plain else " · "
    overflow: OverflowMethod = "crop" if plain else "ellipsis"
    budget = progress.state.config.budget
    head = [f"round {progress.round} of {budget.rounds}", progress.doing, f"{progress.seconds:.0f} s"]
    # cropped here, since a spinner forgets how its text wants to overflow; the mark and a space take two columns
    text = Text(between.join(head))
    text.truncate(max(1, width - 2), overflow=overflow)
    spinner = Spinner("line" if plain else "dots", text=text)
    best = f"best {progress.standing}" if progress.state.best else progress.standing
    best = best.replace("±", "+-") if plain else best
    if width < WIDE:
        lines = [best, spending]
        return Group(spinner, *(Text(f"  {line}", overflow=overflow, no_wrap=True) for line in lines if line))
    return Group(spinner, _table(progress, best.removeprefix("best "), spending, plain=plain))


def _table(progress: RunProgress, best: str, spending: str, *, plain: bool) -> Any:
    """Rows of a name and what belongs to it."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(no_wrap=True, overflow="crop" if plain else "ellipsis")
    line = sparkline([one.mean_return for one in progress.state.best_so_far], width=30, plain=plain)
    table.add_row("  best", Text(f"{best}  {line}"))
    samples = Text("  ").join(
        Text(f"{name} {state}", style=_colour(state)) for name, state in progress.samples
    )
    table.add_row("  samples", samples)
    table.add_row("  spent", Text(spending))
    for name, spent, limit, words in progress.limits:
        table.add_row(f"  {name}", Text(f"{bar(spent / limit, width=24, plain=plain)}  {words}"))
    return table


def _colour(state: str) -> str:
    if state == "asking":
        return "dim"
    if state in ("running", "repairing"):
        return "yellow"
    return "red" if state[0].isalpha() and state != "NaN" else "green"
