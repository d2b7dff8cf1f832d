"""Runs as numbers: curves, a CSV of them, and a table of what each variant needs."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from variants import VARIANTS

if TYPE_CHECKING:
    from runs import Run

POINTS = 40
"""Points of a curve."""


@dataclass(frozen=True, slots=True)
class RegretPoint:
    """A point of a curve.

    Attributes:
        env_id: The domain.
        variant: Key of `VARIANTS`.
        engine: Who was asked; None where nobody was.
        step: Training steps so far.
        regret: Mean over seeds of the mean regret of the latest four episodes.
        error: Standard error of that mean; 0 with one seed.
        seeds: Runs that the mean is of.
    """

    env_id: str
    variant: str
    engine: str | None
    step: float
    regret: float
    error: float
    seeds: int


def mean_error(values: Sequence[float]) -> tuple[float, float]:
    """Mean and its standard error; 0 with one value."""
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return statistics.fmean(values), error


def groups(runs: Iterable[Run]) -> Iterator[list[Run]]:
    """The runs that differ in their seeds only."""

    def key(run: Run) -> tuple[str, str, str]:
        return run.env_id, run.variant, run.engine or ""

    order = {name: n for n, name in enumerate(VARIANTS)}
    for _, some in groupby(sorted(runs, key=lambda run: (run.env_id, order[run.variant], key(run))), key):
        yield list(some)


def curve(runs: Sequence[Run]) -> list[RegretPoint]:
    """The regret of runs that differ in their seeds only, over training steps.

    It begins where every run has finished an episode: the first ones to do so are the lucky ones.
    """
    first = runs[0]
    points = []
    for n in range(1, POINTS + 1):
        step = first.steps * n / POINTS
        found = [regret for run in runs if (regret := run.regret_at(step)) is not None]
        if len(found) == len(runs):
            regret, error = mean_error(found)
            points.append(
                RegretPoint(first.env_id, first.variant, first.engine, step, regret, error, len(found))
            )
    return points


def curves_csv(runs: Iterable[Run]) -> str:
    """All curves, one point a line."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["env_id", "variant", "engine", "step", "regret", "standard_error", "seeds"])
    for group in groups(runs):
        for point in curve(group):
            writer.writerow(
                [point.env_id, point.variant, point.engine or "", f"{point.step:g}", f"{point.regret:.4f}",
                 f"{point.error:.4f}", point.seeds]
            )  # fmt: skip
    return file.getvalue()


SUMMARY = (
    "domain", "variant", "engine", "seeds", "last quarter", "calls/decision", "serial/decision", "invalid", "CPU s",
)  # fmt: skip


def summary(runs: Iterable[Run]) -> list[tuple[str, ...]]:
    """One line per domain and variant, under `SUMMARY`.

    Regret is the mean over seeds, with its standard error, in the last quarter of the steps. A decision
    is a step that the agent did not take at random; serial calls are those that wait for each other.
    """
    lines: list[tuple[str, ...]] = []
    for group in groups(runs):
        first = group[0]
        late = [run.last_quarter for run in group if run.last_quarter is not None]
        regret, error = mean_error(late)
        decisions = sum(run.planned for run in group)
        calls = sum(run.calls for run in group)
        lines.append(
            (
                short(first.env_id), VARIANTS[first.variant].title, first.engine or "", str(len(late)),
                f"{regret:.3f} ± {error:.3f}",
                f"{calls / decisions:.1f}" if calls else "",
                f"{sum(run.rounds for run in group) / decisions:.1f}" if calls else "",
                f"{sum(run.invalid for run in group) / calls:.1%}" if calls else "",
                f"{statistics.fmean(run.cpu_seconds for run in group):.2f}",
            )
        )  # fmt: skip
    return lines


def short(env_id: str) -> str:
    """``promptpo/Chain-v0`` as ``Chain``."""
    return env_id.removeprefix("promptpo/").removesuffix("-v0")
