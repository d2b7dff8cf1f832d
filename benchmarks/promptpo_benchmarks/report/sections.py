"""The parts of a report: text, tables and figures, before they become Markdown or HTML."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from promptpo.prompts.shortening import count_of
from promptpo_benchmarks.report import figures
from promptpo_benchmarks.report.references import load_references, references_for
from promptpo_benchmarks.runner.methods import METHODS
from promptpo_benchmarks.runner.processes import FailedCell
from promptpo_benchmarks.statistics.anchors import Anchors
from promptpo_benchmarks.statistics.bootstrap import MANY_RUNS, Estimated
from promptpo_benchmarks.statistics.rows import FinishedCell
from promptpo_benchmarks.statistics.summary import Comparison, Summary, best_rows, normalize_run


@dataclass(frozen=True, slots=True)
class Link:
    """A text that links to a file in the benchmark's folder."""

    text: str
    target: str


Value = str | Link

DASH = "\N{EN DASH}"


@dataclass(frozen=True, slots=True)
class ReportTable:
    """Column titles and rows."""

    head: Sequence[str]
    rows: Sequence[Sequence[Value]]


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing.

    Attributes:
        name: File name without suffix.
        caption: Its caption.
        drawing: The drawing itself.
    """

    name: str
    caption: str
    drawing: figures.Drawing


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A heading with its text, tables and figures."""

    title: str
    text: Sequence[str] = ()
    tables: Sequence[ReportTable] = ()
    figures: Sequence[Figure] = field(default_factory=tuple)


def format_number(value: float) -> str:
    """Format a number for tables."""
    if not math.isfinite(value):
        return DASH
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def with_interval(value: Estimated | None) -> str:
    """Format a point estimate with its interval."""
    if value is None:
        return DASH
    if value.low == value.high:  # one run, or runs without any spread: nothing to resample
        return format_number(value.value)
    return f"{format_number(value.value)} [{format_number(value.low)}, {format_number(value.high)}]"


def sections(
    rows: Sequence[FinishedCell],
    failures: Sequence[FailedCell],
    summary: Summary,
    anchors: Mapping[str, Anchors],
    kinds: Mapping[str, str],
) -> list[ReportSection]:
    """Return all sections of a report, in order.

    Args:
        rows: Finished cells.
        failures: Cells that failed in the last pass.
        summary: Summary of the rows.
        anchors: Anchors by task label.
        kinds: Score of each task, by label: "return" or "success".
    """
    found = [
        _methods(summary),
        _scores(summary, kinds),
        _aggregates(summary),
        *(_partial(comparison) for comparison in summary.partial),
        _costs(rows, summary, anchors),
        _acting(rows, summary),
        _curves(rows, summary),
        _candidates(summary),
        _policies(rows, summary),
        _failures_section(failures, rows),
        _write_published(summary.tasks),
        _anchors(summary.tasks, anchors),
        _versions(rows),
    ]
    return [section for section in found if section.text or section.tables or section.figures]


def _methods(summary: Summary) -> ReportSection:
    rows = [(column, METHODS[column.split(" (")[0]].about) for column in summary.columns]
    return ReportSection("Methods", tables=[ReportTable(("column", "what it is"), rows)])


def _scores(summary: Summary, kinds: Mapping[str, str]) -> ReportSection:
    rows = [
        (task, kinds[task], *(_score(summary, (task, column)) for column in summary.columns))
        for task in summary.tasks
    ]
    explained = (
        f"Mean over held-out episodes with a 95 % interval, and the number of runs. With {MANY_RUNS} runs or more "
        "the interval is Student's over runs, or a bootstrap over episodes if that is wider; with fewer it is the "
        "latter, which says nothing about other seeds. A dash: no finished run."
    )
    text = [explained]
    if summary.failed:
        text.append(
            f"{sum(summary.failed.values())} RUNS FAILED: no policy ran, or the chosen one failed in held-out "
            "episodes. They count: a failed episode gets the worst return of the others, and a run without a score gets the low anchor, or at most 0 when normalised. Failed runs are listed below."
        )
    return ReportSection("Scores", text, [ReportTable(("task", "score", *summary.columns), rows)])


def _score(summary: Summary, key: tuple[str, str]) -> str:
    """Return one entry of the table of scores: the mean with its interval, runs, and how many of them failed."""
    if key not in summary.runs:
        return DASH
    failed = summary.failed.get(key, 0)
    runs = f"{summary.runs[key]}, {failed} failed" if failed else str(summary.runs[key])
    return f"{with_interval(summary.cells.get(key))} ({runs})"


def _aggregates(summary: Summary) -> ReportSection:
    return ReportSection(
        "Over all tasks",
        *_comparison(summary.overall),
        _drawn(
            (
                "profiles",
                "Performance profiles, with 95 % bands: curves further up and to the right are better.",
                figures.profiles(summary),
            ),
        ),
    )


def _partial(comparison: Comparison) -> ReportSection:
    return ReportSection(f"On the tasks of {' and '.join(comparison.columns)}", *_comparison(comparison))


def _comparison(comparison: Comparison) -> tuple[list[str], list[ReportTable]]:
    """Compare columns on the tasks they share, in words and tables."""
    left = [f"{task} ({reason})" for task, reason in comparison.left_out.items()]
    text = [f"Left out of the aggregates: {'; '.join(left)}."] if left else []
    if not comparison.aggregates:
        return [*text, "There is no task on which all columns can be compared."], []
    text.insert(
        0, f"Normalised scores on {count_of(len(comparison.shared), 'task')}: {', '.join(comparison.shared)}."
    )
    if all(len(aggregate.scores) == 1 for aggregate in comparison.aggregates.values()):
        text.append("With one run of each, there is nothing to resample, so the intervals are points.")
    iqms = ReportTable(
        ("column", "interquartile mean", "mean rank", "runs per task"),
        [
            (c, with_interval(a.iqm), f"{a.rank:.3g}", str(len(a.scores)))
            for c, a in comparison.aggregates.items()
        ],
    )
    names = list(comparison.aggregates)
    improvements = ReportTable(
        ("probability that a run of … beats one of", *names),
        [
            (a, *(with_interval(comparison.improvements.get((a, b))) if a != b else "" for b in names))
            for a in names
        ],
    )
    return text, [iqms, improvements]


def _costs(rows: Sequence[FinishedCell], summary: Summary, anchors: Mapping[str, Anchors]) -> ReportSection:
    def normalise(row: FinishedCell) -> float | None:
        known = anchors.get(row.cell.task.label)
        return None if known is None else normalize_run(row, known)

    table = []
    for column in summary.columns:
        group = [row for row in rows if row.cell.column == column]
        llm = [row.llm for row in group]
        unknown = sum(int(entry.get("calls_of_unknown_price", 0)) for entry in llm)
        table.append((
            column,
            str(len(group)),
            format_number(sum(row.searched for row in group)),
            format_number(sum(float(row.content.get("wall_seconds") or 0) for row in group) / 60),
            format_number(sum(int(entry.get("calls", 0)) for entry in llm)),
            format_number(sum(int(entry.get("input_tokens", 0)) + int(entry.get("output_tokens", 0)) for entry in llm)),
            f"{sum(row.usd for row in group):.2f}" + (f" and {unknown} calls of unknown price" if unknown else ""),
        ))  # fmt: skip
    head = (
        "column",
        "runs",
        "environment steps before the test",
        "minutes",
        "model calls",
        "tokens",
        "US dollars",
    )
    drawn = figures.cost_against_score(rows, summary.columns, normalise)
    return ReportSection(
        "Cost",
        [
            "Every environment step counts: training, repairs, tuning, validation and exploring the environment."
        ],
        [ReportTable(head, table)],
        _drawn(("cost", "Normalised score of each run against its cost.", drawn)),
    )


def _acting(rows: Sequence[FinishedCell], summary: Summary) -> ReportSection:
    """Report the costs of an episode for methods in which a model acts; acting costs nothing elsewhere."""
    if not any(row.acting is not None and row.acting["calls"] for row in rows):
        return ReportSection("Cost of an episode")
    table = []
    for task in summary.tasks:
        for column in summary.columns:
            found = [
                row.acting
                for row in rows
                if row.cell.column == column and row.cell.task.label == task and row.acting is not None
            ]
            if found:
                table.append(
                    (task, column, *(_mean(found, name) for name in ("calls", "seconds", "cost_usd")))
                )
    return ReportSection(
        "Cost of an episode",
        ["Means over held-out episodes. Programs are written once and then act without a model."],
        [ReportTable(("task", "column", "model calls", "seconds to act", "US dollars"), table)],
    )


def _mean(found: Sequence[Mapping[str, float | None]], name: str) -> str:
    values = [value for row in found if (value := row[name]) is not None]
    return f"{sum(values) / len(values):,.4g}" if len(values) == len(found) else "unknown"


def _curves(rows: Sequence[FinishedCell], summary: Summary) -> ReportSection:
    return ReportSection(
        "Learning curves",
        figures=_drawn(
            *(
                (f"learning-{axis}", f"Mean return of the best policy so far on validation seeds, by {words}; one line per run.",
                 figures.learning_curves(rows, summary.columns, axis))
                for axis, words in (("steps", "environment steps"), ("seconds", "wall time"), ("usd", "money"))
            )
        ),
    )  # fmt: skip


def _candidates(summary: Summary) -> ReportSection:
    if not summary.outcomes:
        return ReportSection("Candidates")
    kinds = ["ok", *sorted({kind for counts in summary.outcomes.values() for kind in counts} - {"ok"})]
    rows = [(name, *(str(counts.get(k, 0)) for k in kinds)) for name, counts in summary.outcomes.items()]
    text = [
        "Outcomes of the candidates of each column. All except ok are reported to the model and have no score."
    ]
    return ReportSection("Candidates", text, [ReportTable(("column", *kinds), rows)])


def _policies(rows: Sequence[FinishedCell], summary: Summary) -> ReportSection:
    table: list[Sequence[Value]] = []
    best = best_rows([row for row in rows if row.cell.method.kind == "optimize"])
    for task in summary.tasks:
        for column in summary.columns:
            row = best.get((task, column))
            if row is not None:
                where = (
                    f"cells/{row.cell.task.slug}/{row.cell.directory.parent.name}/{row.cell.directory.name}"
                )
                table.append(
                    (
                        task,
                        column,
                        format_number(row.score),
                        Link("best.py", f"{where}/best.py"),
                        Link("report", f"{where}/report.html"),
                    )
                )
    text = ["The run with the best held-out score on each task; links need the run directories."]
    return (
        ReportSection(
            "Best policies", text, [ReportTable(("task", "column", "score", "policy", "run"), table)]
        )
        if table
        else ReportSection("Best policies")
    )


def _failures_section(failures: Sequence[FailedCell], rows: Sequence[FinishedCell]) -> ReportSection:
    table = [(f.cell, str(f.code), f.message) for f in failures]
    table += [(row.cell.name, "0", row.failure) for row in rows if row.failure]
    return ReportSection(
        "Failed runs", tables=[ReportTable(("run", "exit code", "last words"), table)] if table else ()
    )


def _write_published(tasks: Sequence[str]) -> ReportSection:
    table, used = [], []
    for task in tasks:
        for reference, scores in references_for(task):
            used.append(reference)
            table += [
                (task, method, format_number(score), reference.title) for method, score in scores.items()
            ]
    claims = [r for r in load_references() if r.claims]
    used = [r for r in load_references() if r in used]
    text = [
        "Published scores, obtained by others under other conditions. They are part of no aggregate above.",
        *(f"{r.title}. {r.protocol} {r.caution} Source: {r.source}." for r in used),
        *(f"{r.title}: {' '.join(r.claims)} {r.protocol} {r.caution} Source: {r.source}." for r in claims),
    ]
    return ReportSection(
        "Published elsewhere",
        text,
        [ReportTable(("task", "method", "published score", "by"), table)] if table else (),
    )


def _anchors(tasks: Sequence[str], anchors: Mapping[str, Anchors]) -> ReportSection:
    table = [
        (task, format_number(a.low), a.low_source, format_number(a.high), a.high_source)
        for task in tasks
        if (a := anchors.get(task)) is not None
    ]
    head = ("task", "0 is", "which is", "1 is", "which is")
    return ReportSection("Normalisation", tables=[ReportTable(head, table)] if table else ())


def _versions(rows: Sequence[FinishedCell]) -> ReportSection:
    found: dict[str, set[str]] = {}
    for row in rows:
        for name, version in row.content.get("versions", {}).items():
            found.setdefault(name, set()).add(version)
    table = [(name, ", ".join(sorted(versions))) for name, versions in found.items()]
    return ReportSection("Versions", tables=[ReportTable(("package", "version"), table)] if table else ())


def _drawn(*drawings: tuple[str, str, figures.Drawing | None]) -> list[Figure]:
    return [Figure(name, caption, drawn) for name, caption, drawn in drawings if drawn is not None]
