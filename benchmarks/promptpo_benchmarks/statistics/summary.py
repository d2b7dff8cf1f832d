"""The numbers of a report, computed from rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from promptpo_benchmarks.statistics.anchors import Anchors
from promptpo_benchmarks.statistics.bootstrap import (
    Estimated,
    Scores,
    complete,
    improvement_interval,
    interval,
    iqm,
    mean_interval,
    mean_ranks,
)
from promptpo_benchmarks.statistics.rows import FinishedCell

FLOOR = 0.0
"""Maximum normalised score of a run whose policy failed in the final test: it is no better than random actions."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One column over all tasks that every column has and that have anchors.

    Attributes:
        iqm: Interquartile mean of the normalised scores.
        scores: Normalised scores, shape (runs, tasks).
        rank: Mean over tasks of the rank of its mean score, 1 for the best; equal scores share ranks.
    """

    iqm: Estimated
    scores: Scores
    rank: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Columns side by side on the tasks that all of them have.

    Attributes:
        columns: Columns for which the tasks were chosen; all, or those that play these tasks only.
        shared: Tasks in the aggregates.
        left_out: Other tasks, with the reason.
        aggregates: Aggregates by column; columns without learning runs included.
        improvements: Probability that a run of the first column beats one of the second, by (column, other).
    """

    columns: tuple[str, ...]
    shared: tuple[str, ...]
    left_out: Mapping[str, str]
    aggregates: Mapping[str, Aggregate]
    improvements: Mapping[tuple[str, str], Estimated]


@dataclass(frozen=True, slots=True)
class Summary:
    """All numbers of a report.

    Attributes:
        columns: Methods with their models, in the order requested.
        tasks: Labels, in the order of the suite.
        cells: Mean score with its interval, by (task, column); a run without a score counts with the low anchor of the
            task; without an anchor the whole entry is missing.
        runs: Number of finished runs, failed ones included, by (task, column).
        failed: Number of runs that failed in the final test, if any, by (task, column).
        overall: The columns that play every task of the suite.
        partial: Those that play only some tasks, beside these, on the same tasks.
        outcomes: Outcomes of candidates by column.
    """

    columns: tuple[str, ...]
    tasks: tuple[str, ...]
    cells: Mapping[tuple[str, str], Estimated]
    runs: Mapping[tuple[str, str], int]
    failed: Mapping[tuple[str, str], int]
    overall: Comparison
    partial: tuple[Comparison, ...]
    outcomes: Mapping[str, Mapping[str, int]]


def relative_anchors(rows: Sequence[FinishedCell], known: Mapping[str, Anchors]) -> dict[str, Anchors]:
    """Return anchors from the table itself, for tasks that have no others: 0 is random actions, 1 the best column.

    If nobody played random actions or none is better, 0 is the worst column. A task on which all are equal has none.
    """
    scores: dict[str, dict[str, list[float]]] = {}
    random: dict[str, float] = {}
    for row in rows:
        task = row.cell.task.label
        if task in known or not row.values:
            continue
        scores.setdefault(task, {}).setdefault(row.cell.column, []).append(row.score)
        reference = (row.content.get("references") or {}).get("random") or {}
        if row.kind == "return" and reference.get("mean_return") is not None:
            random.setdefault(task, float(reference["mean_return"]))
    found = {}
    for task, columns in scores.items():
        means = {column: math.fsum(values) / len(values) for column, values in columns.items()}
        worst, best = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
        low, source = means.get("random", random.get(task)), "random actions, played here"
        if low is None or low >= means[best]:
            low, source = means[worst], f"the worst column here, {worst}"
        if means[best] > low:
            found[task] = Anchors(low, means[best], source, f"the best column here, {best}")
    return found


def summarise(
    rows: Sequence[FinishedCell],
    anchors: Mapping[str, Anchors],
    tasks: Sequence[str],
    planned: Mapping[str, Collection[str]] | None = None,
) -> Summary:
    """Summarise the rows.

    Args:
        rows: Finished cells.
        anchors: Anchors by task label.
        tasks: All task labels, in the order of the suite.
        planned: Tasks that a column is to play; columns not in it play all.
    """
    columns = tuple(dict.fromkeys(row.cell.column for row in rows))
    grouped: dict[tuple[str, str], list[FinishedCell]] = {}
    for row in rows:
        grouped.setdefault((row.cell.task.label, row.cell.column), []).append(row)
    compared = tuple(c for c in columns if c != "oracle")
    plays = {c: tuple(t for t in tasks if t in (planned or {}).get(c, tasks)) for c in compared}
    everywhere = tuple(c for c in compared if len(plays[c]) == len(tasks)) or compared
    partly: dict[tuple[str, ...], list[str]] = {}
    for column in compared:
        if column not in everywhere and plays[column]:
            partly.setdefault(plays[column], []).append(column)
    return Summary(
        columns=columns,
        tasks=tuple(tasks),
        cells={
            key: mean_interval(values)
            for key, group in grouped.items()
            if all(values := [_held_out_scores(row, anchors.get(key[0])) for row in group])
        },
        runs={key: len(group) for key, group in grouped.items()},
        failed={key: n for key, group in grouped.items() if (n := sum(bool(row.failure) for row in group))},
        overall=_compare(everywhere, everywhere, tasks, grouped, anchors),
        partial=tuple(
            _compare(tuple(some), (*everywhere, *some), theirs, grouped, anchors)
            for theirs, some in partly.items()
        ),
        outcomes=_outcomes(rows),
    )


def _compare(
    chosen: tuple[str, ...],
    columns: Sequence[str],
    tasks: Sequence[str],
    grouped: Mapping[tuple[str, str], list[FinishedCell]],
    anchors: Mapping[str, Anchors],
) -> Comparison:
    left_out = {t: r for t in tasks if (r := _why_left_out(t, columns, grouped, anchors))}
    by_task = {
        column: {
            task: [normalize_run(row, anchors[task]) for row in grouped[task, column]]
            for task in tasks
            if task not in left_out
        }
        for column in columns
    }
    shared, matrices = complete(by_task)
    ranks = mean_ranks(matrices)
    return Comparison(
        columns=chosen,
        shared=tuple(shared),
        left_out=left_out,
        aggregates={c: Aggregate(interval(scores, iqm), scores, ranks[c]) for c, scores in matrices.items()},
        improvements={
            (a, b): improvement_interval(matrices[a], matrices[b])
            for a in matrices
            for b in matrices
            if a != b
        },
    )


def normalize_run(row: FinishedCell, anchors: Anchors) -> float:
    """Return the normalised score of a run: at most `FLOOR` if its policy failed in the final test, which always counts."""
    if not row.values:
        return FLOOR
    value = anchors.normalize(row.score)
    return min(value, FLOOR) if row.failure else value


def _held_out_scores(row: FinishedCell, anchors: Anchors | None) -> tuple[float, ...]:
    """Return the held-out scores of a run; the low anchor if it has none; empty if that is unknown, too."""
    return row.values or ((anchors.low,) if anchors else ())


def _why_left_out(
    task: str,
    columns: Sequence[str],
    grouped: Mapping[tuple[str, str], list[FinishedCell]],
    anchors: Mapping[str, Anchors],
) -> str:
    """Return why a task cannot be in the aggregates; empty if it can."""
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
    """Return the best run by (task, column), of those that did not fail in the final test."""
    best: dict[tuple[str, str], FinishedCell] = {}
    for row in rows:
        key = (row.cell.task.label, row.cell.column)
        if not row.failure and (key not in best or row.score > best[key].score):
            best[key] = row
    return best
