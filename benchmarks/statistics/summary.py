"""From rows to the numbers that a report shows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.statistics.anchors import Anchors
from benchmarks.statistics.bootstrap import (
    Interval,
    Scores,
    complete,
    improvement_interval,
    interval,
    iqm,
    mean_interval,
)
from benchmarks.statistics.rows import FinishedCell


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One column over all tasks that every column has and that have anchors.

    Attributes:
        iqm: Interquartile mean of the normalised scores.
        scores: Normalised scores, shape (runs, tasks).
    """

    iqm: Interval
    scores: Scores


@dataclass(frozen=True, slots=True)
class Summary:
    """All numbers of a report.

    Attributes:
        columns: Methods with their models, in the order in which they were asked for.
        tasks: Labels, in the order of the suite.
        cells: (task, column) to the mean score with its interval.
        runs: (task, column) to the number of finished runs.
        shared: Tasks that went into the aggregates.
        left_out: Tasks that did not, with the reason.
        aggregates: Column to its aggregate; columns without learning runs included.
        improvements: (column, other) to the probability that a run of the first beats one of the other.
        outcomes: Column to how its candidates ended.
    """

    columns: tuple[str, ...]
    tasks: tuple[str, ...]
    cells: Mapping[tuple[str, str], Interval]
    runs: Mapping[tuple[str, str], int]
    shared: tuple[str, ...]
    left_out: Mapping[str, str]
    aggregates: Mapping[str, Aggregate]
    improvements: Mapping[tuple[str, str], Interval]
    outcomes: Mapping[str, Mapping[str, int]]


def summarise(rows: Sequence[FinishedCell], anchors: Mapping[str, Anchors], tasks: Sequence[str]) -> Summary:
    """Fold the rows.

    Args:
        rows: Finished cells.
        anchors: Task label to its anchors.
        tasks: All task labels, in the order of the suite.
    """
    columns = tuple(dict.fromkeys(row.cell.column for row in rows))
    grouped: dict[tuple[str, str], list[FinishedCell]] = {}
    for row in rows:
        if row.values:
            grouped.setdefault((row.cell.task.label, row.cell.column), []).append(row)
    compared = tuple(c for c in columns if c != "oracle")
    left_out = {t: r for t in tasks if (r := _why_left_out(t, compared, grouped, anchors))}
    normalised = {
        column: {
            task: [anchors[task].normalised(row.score) for row in grouped[task, column]]
            for task in tasks
            if task not in left_out
        }
        for column in compared
    }
    shared, matrices = complete(normalised)
    return Summary(
        columns=columns,
        tasks=tuple(tasks),
        cells={key: mean_interval([row.values for row in group]) for key, group in grouped.items()},
        runs={key: len(group) for key, group in grouped.items()},
        shared=tuple(shared),
        left_out=left_out,
        aggregates={c: Aggregate(interval(scores, iqm), scores) for c, scores in matrices.items()},
        improvements={
            (a, b): improvement_interval(matrices[a], matrices[b])
            for a in matrices
            for b in matrices
            if a != b
        },
        outcomes=_outcomes(rows),
    )


def _why_left_out(
    task: str,
    columns: Sequence[str],
    grouped: Mapping[tuple[str, str], list[FinishedCell]],
    anchors: Mapping[str, Anchors],
) -> str:
    """Why a task cannot be in the aggregates; empty when it can."""
    if task not in anchors:
        return "no anchors to normalise by"
    missing = [column for column in columns if (task, column) not in grouped]
    return f"no finished run of {', '.join(missing)}" if missing else ""


def _outcomes(rows: Sequence[FinishedCell]) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for row in rows:
        if row.outcomes:
            found.setdefault(row.cell.column, Counter()).update(row.outcomes)
    return found


def best_rows(rows: Sequence[FinishedCell]) -> dict[tuple[str, str], FinishedCell]:
    """(task, column) to its best run."""
    best: dict[tuple[str, str], FinishedCell] = {}
    for row in rows:
        key = (row.cell.task.label, row.cell.column)
        if not math.isnan(row.score) and (key not in best or row.score > best[key].score):
            best[key] = row
    return best
