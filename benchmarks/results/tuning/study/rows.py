"""Rows of the tuning benchmark: on disk, so that none is measured twice, and as tables."""

from __future__ import annotations

import csv
import io
import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from promptpo_benchmarks.measuring.tables import align_columns, markdown

ROWS, CSV, MARKDOWN = "rows.jsonl", "rows.csv", "table.md"
HEADER = (
    "environment", "steps", "method", "before", "after", "per seed", "episodes", "wall s", "CPU s",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Measurement:
    """One run.

    Attributes:
        env: Environment id, with keyword arguments where there are any.
        method: "search" (no model, no hand), "model" (recorded answers of a language model, tuned), "hand"
            (written for this benchmark, tuned), "ppo" or "trpo".
        budget: Environment steps granted for everything but the test.
        seed: Of training seeds and the optimizer.
        before: Mean test return of the best structure with its own numbers; None where there was none.
        after: Mean test return of the result.
        episodes: Test episodes, on held-out seeds.
        steps: Environment steps taken, test and `before` excluded.
        seconds: Wall time for these steps.
        cpu_seconds: CPU time for these steps, of all processes together.
        winner: Which structure won; the hyperparameters of a baseline.
        date: When it ended, UTC.
        versions: Of Python and the packages that decide the result.
    """

    env: str
    method: str
    budget: int
    seed: int
    before: float | None
    after: float
    episodes: int
    steps: int
    seconds: float
    cpu_seconds: float
    winner: str
    date: str
    versions: dict[str, str]

    @property
    def key(self) -> tuple[str, str, int, int]:
        """Identity of the run that a row belongs to."""
        return self.env, self.method, self.budget, self.seed


class RowStore:
    """The rows in a folder: ``rows.jsonl``, one run a line, and tables made of it.

    Args:
        folder: Made if need be.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = folder / ROWS
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.rows = [Measurement(**json.loads(line)) for line in lines]

    def find(self, env: str, method: str, budget: int, seed: int) -> Measurement | None:
        """The row that is already there."""
        return next((row for row in self.rows if row.key == (env, method, budget, seed)), None)

    def add(self, row: Measurement) -> None:
        """Keep a row."""
        self.rows.append(row)
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / ROWS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(row)) + "\n")

    def write_tables(self, command: str) -> None:
        """Write all rows as CSV, and their means over seeds as markdown.

        Args:
            command: The command line that made them.
        """
        if not self.rows:
            return
        (self.folder / CSV).write_text(as_csv(self.rows), encoding="utf-8")
        days = sorted({row.date[:10] for row in self.rows})
        made = f"{command}, {days[0]}" + (f" to {days[-1]}" if days[-1] != days[0] else "")
        used = ", ".join(f"{name} {number}" for name, number in self.rows[-1].versions.items())
        text = f"{made}\n{used}\n\n{as_markdown(self.rows)}"
        (self.folder / MARKDOWN).write_text(text, encoding="utf-8")


def now() -> str:
    """The time, as rows keep it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def as_csv(rows: Iterable[Measurement]) -> str:
    """All rows, without versions."""
    names = [field.name for field in fields(Measurement) if field.name != "versions"]
    file = io.StringIO()
    writer = csv.DictWriter(file, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in _sorted(rows))
    return file.getvalue()


def as_markdown(rows: Iterable[Measurement]) -> str:
    """Means over seeds as a markdown table."""
    return markdown(HEADER, cells(rows))


def as_text(rows: Iterable[Measurement]) -> str:
    """Means over seeds in align_columns columns."""
    return align_columns(HEADER, cells(rows))


def cells(rows: Iterable[Measurement]) -> list[tuple[str, ...]]:
    """One line of text per environment, budget and method."""
    return [
        _line(list(group))
        for _, group in groupby(_sorted(rows), key=lambda row: (row.env, row.budget, row.method))
    ]


def _line(some: Sequence[Measurement]) -> tuple[str, ...]:
    first = some[0]
    return (
        first.env,
        f"{first.budget:,}",
        first.method,
        "" if first.before is None else _number(first.before),
        _number(statistics.fmean(row.after for row in some)),
        ", ".join(_number(row.after) for row in some),
        str(first.episodes),
        f"{statistics.fmean(row.seconds for row in some):.0f}",
        f"{statistics.fmean(row.cpu_seconds for row in some):.0f}",
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}"


def _sorted(rows: Iterable[Measurement]) -> list[Measurement]:
    """By environment in the order of first appearance, budget, method and seed."""
    some = list(rows)
    order = list(dict.fromkeys(row.env for row in some))
    return sorted(some, key=lambda row: (order.index(row.env), row.budget, row.method, row.seed))
