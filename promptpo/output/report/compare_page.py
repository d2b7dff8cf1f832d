"""One page about several runs: a table that can be sorted and filtered, returns with intervals, and learning curves."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from markupsafe import Markup

from promptpo.output.report.charts import SPARKLINE_SIZE, Points, Series, chart, extent, over, sparkline
from promptpo.output.report.result import REPORT
from promptpo.output.report.templates import render_page
from promptpo.output.runs import RunLine
from promptpo.output.sentences import sentence
from promptpo.prompts.feedback import number


def runs_page(lines: Sequence[RunLine], path: Path, *, compared: bool = True) -> str:
    """Return the text of the page.

    Args:
        lines: The runs; differences are to the first.
        path: Path of the page, to which its links are relative.
        compared: Show differences, and charts of all runs of a task; otherwise a line for each, with its own curve.
    """
    table = table_rows(lines, lines[0] if compared else None)
    return render_page(
        "runs.html.j2",
        "runs.js",
        title=f"{len(lines)} runs" if compared else f"{len(lines)} runs in {path.resolve().parent.name}",
        compared=compared,
        columns=list(table[0]),
        rows=[
            (
                _colour(n) if compared else None,
                _report(line, path),
                list(table[n].values()),
                {
                    "interval": _interval(n, lines),
                    "curve": sparkline(_points(line), _kind(line)) if line.curve else "",
                },
            )
            for n, line in enumerate(lines)
        ],
        tasks=[(sentence("task_cell", runs[0][1].facts), _curves(runs)) for runs in _by_task(lines)]
        if compared
        else [],
    )


def _report(line: RunLine, path: Path) -> str:
    """Return the relative path to a run's own page; empty if it has none."""
    report = line.directory.resolve() / REPORT
    return os.path.relpath(report, path.resolve().parent) if report.is_file() else ""


def table_rows(lines: Sequence[RunLine], first: RunLine | None = None) -> list[dict[str, str]]:
    """Return a row for each run, by column; columns that are empty for all runs are left out."""
    rows = [_cells(line, first) for line in lines]
    return [{name: row[name] for name in row if any(other[name] for other in rows)} for row in rows]


def _cells(line: RunLine, first: RunLine | None = None) -> dict[str, str]:
    """Return a run's cells by column, with its difference from the first run if that is given."""
    facts = line.facts

    def format_known(key: str, form: str) -> str:
        return "" if facts[key] is None else form.format(facts[key])

    return {
        "run": label_of(line.directory),
        "held-out return": sentence("return_cell", facts),
        **({"difference from the first": _against(line, first)} if first else {}),
        "success": format_known("success_rate", "{:.0%}"),
        "written by": sentence("writer_cell", facts),
        "reveal": format_known("reveal", "{}"),
        "seed": format_known("seed", "{}"),
        "agent of step": "0 (untrained)" if facts["untrained"] else format_known("agent_steps", "{:,}"),
        "last agent": "" if facts["last_agent_return"] is None else number(facts["last_agent_return"]),
        "training steps": f"{facts['searched_steps'] - facts['validation_steps']:,}",
        "validation steps": format_known("validation_steps", "{:,}"),
        "calls": format_known("calls", "{:,}"),
        "US dollars": sentence("price_cell", facts),
        "seconds": format_known("wall_seconds", "{:,.0f}"),
        "environment": sentence("task_cell", facts),
    }


def _against(line: RunLine, first: RunLine) -> str:
    """Describe the difference from the first run, or say that the run has another task."""
    if line.task != first.task:
        return "another task"
    return sentence("difference_cell", line.paired_difference(first), line.episodes_with(first))


def label_of(directory: Path) -> str:
    """Label a run by its folder, and by the folder above if that has a name."""
    return "/".join(directory.parts[-2:]) or directory.resolve().name


def _by_task(lines: Sequence[RunLine]) -> Iterable[list[tuple[int, RunLine]]]:
    """Group runs, with their places in the table, by task: returns of different tasks share no axis."""
    found: dict[str, list[tuple[int, RunLine]]] = {}
    for n, line in enumerate(lines):
        found.setdefault(repr(line.task), []).append((n, line))
    return found.values()


def _colour(n: int) -> str:
    """Return the colour of a run, which differs clearly from those before it."""
    return f"hsl({(210 + 137.5 * n) % 360:.0f} 65% 48%)"


def _points(line: RunLine) -> Points:
    """Return a run's curve; the best so far is extended to the end of its search."""
    steps, value = line.curve[-1]
    return (
        line.curve if line.trains else (*line.curve, (max(float(line.facts["searched_steps"]), steps), value))
    )


def _kind(line: RunLine) -> Literal["line", "step"]:
    return "line" if line.trains else "step"


def _interval(n: int, lines: Sequence[RunLine]) -> Markup | str:
    """Draw a run's interval and mean, on the range of all runs of its task."""
    mean, ends = (lines[n].facts[name] for name in ("mean_return", "ci95"))
    if mean is None or None in ends:
        return ""
    all_ends = [end for line in lines if line.task == lines[n].task for end in line.facts["ci95"]]
    bar = Series([(end, 0.0) for end in ends], "interval", "line", _colour(n))
    mark = Series([(mean, -1.0), (mean, 1.0)], "interval", "line", _colour(n))
    x = extent([end for end in all_ends if end is not None])
    label = "{} to {}, with the mean".format(*map(number, ends))
    return chart([bar, mark], label=label, x=x, y=(-1.2, 1.2), small=SPARKLINE_SIZE)


def _curves(runs: Sequence[tuple[int, RunLine]]) -> Markup | None:
    found = [
        Series(_points(line), "curve", _kind(line), _colour(n), label_of(line.directory))
        for n, line in runs
        if line.curve
    ]
    label = "Mean return against environment steps, one line per run"
    return over("environment steps", found, label=label) if found else None
