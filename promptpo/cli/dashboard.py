"""The live part of the terminal display: a few lines when narrow, a small dashboard when wide."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from promptpo.run.journal import from_json
from promptpo.run.records import Measured
from promptpo.telling.feedback import number

if TYPE_CHECKING:
    from rich.console import OverflowMethod, RenderableType

    from promptpo.run.config import Config
    from promptpo.run.journal import Event
    from promptpo.run.ledger import Ledger

WIDE = 96
"""Columns from which the dashboard is shown."""

SLOT = re.compile(r"r(\d+)\.?c(\d+)(.*)")
DOING = {
    "prompt": "asking",
    "completion": "rolling out",
    "evaluation": "rolling out",
    "tuning": "tuning numbers",
    "validation": "validating",
    "test": "testing",
    "round": "asking",
}


@dataclass
class Progress:
    """What the events of a run have told so far.

    Attributes:
        config: Of the run.
        ledger: Of the run.
        started: When this process began, on the monotonic clock.
        round: The round that is going on, from 1.
        doing: The newest activity, in words.
        slots: What each sample of the round is at.
        best: The best validation return each time it improved.
        best_id: The best's id, as far as it is known.
    """

    config: Config
    ledger: Ledger
    started: float = field(default_factory=time.monotonic)
    round: int = 1
    doing: str = "starting"
    slots: dict[int, str] = field(default_factory=dict)
    best: list[float] = field(default_factory=list)
    best_id: str = ""
    _best_score: tuple[float, ...] = ()
    _ids: dict[str, str] = field(default_factory=dict)

    def add(self, event: Event) -> None:
        """Take one event into account."""
        self.doing = DOING.get(event.kind, self.doing)
        match = SLOT.fullmatch(event.key)
        if event.kind == "round":
            self.round = min(self.config.budget.rounds, int(event.key[1:]) + 1)
            self.slots = {}
        elif event.kind == "completion" and match:
            self._at(match, "repairing" if "repair" in match[3] else "running")
        elif event.kind == "attempt" and match:
            evaluation = event.data["evaluation"]
            self._ids.setdefault(event.data["candidate"]["digest"], event.key)
            returns = [episode["return_"] for episode in evaluation["episodes"]]
            done = number(sum(returns) / len(returns)) if returns else evaluation["outcome"].replace("_", " ")
            self._at(match, done)
        elif event.kind == "validation":
            self._validated(event)

    def _at(self, match: re.Match[str], state: str) -> None:
        if int(match[1]) == self.round and match[3] != "t":
            self.slots[int(match[2])] = state

    def _validated(self, event: Event) -> None:
        evaluation = from_json(Measured, event.data).evaluation
        if evaluation.outcome == "ok" and evaluation.score() > self._best_score:
            self._best_score = evaluation.score()
            self.best.append(evaluation.mean_return)
            self.best_id = self._ids.get(event.key.split(".")[0], "")

    @property
    def seconds(self) -> float:
        """Since this process began."""
        return time.monotonic() - self.started

    @property
    def standing(self) -> str:
        """The best so far, in words."""
        if not self.best:
            return "nothing has run yet"
        name = f"{self.best_id}: " if self.best_id else ""
        return f"{name}validation return {number(self.best[-1])}"

    @property
    def samples(self) -> list[tuple[str, str]]:
        """(id, state) of each sample of the round."""
        return [
            (f"r{self.round}c{n}", self.slots.get(n, "asking")) for n in range(1, self.config.candidates + 1)
        ]

    @property
    def limits(self) -> list[tuple[str, float, float, str]]:
        """(name, spent, limit, in words) of every limit that there is."""
        ledger, budget = self.ledger, self.config.budget
        tokens = ledger.usage.input_tokens + ledger.usage.output_tokens
        of: list[tuple[str, float, float | None, str]] = [
            ("rounds", self.round - 1, budget.rounds, "{:.0f}"),
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


def live_part(progress: Progress, *, width: int, spending: str, plain: bool) -> RenderableType:
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
    budget = progress.config.budget
    head = [f"round {progress.round} of {budget.rounds}", progress.doing, f"{progress.seconds:.0f} s"]
    spinner = Spinner(
        "line" if plain else "dots", text=Text(between.join(head), overflow=overflow, no_wrap=True)
    )
    if width < WIDE:
        lines = [f"best {progress.standing}" if progress.best else progress.standing, spending]
        return Group(spinner, *(Text(f"  {line}", overflow=overflow, no_wrap=True) for line in lines if line))
    return Group(spinner, _table(progress, spending, plain=plain))


def _table(progress: Progress, spending: str, *, plain: bool) -> Any:
    """Rows of a name and what belongs to it."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(no_wrap=True, overflow="crop" if plain else "ellipsis")
    line = sparkline(progress.best, width=30, plain=plain)
    table.add_row("  best", Text(f"{progress.standing}  {line}"))
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
