"""A benchmark as a whole: plan, run, report."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from promptpo.errors import UsageError
from promptpo.files import create_directory
from promptpo.output.report import write_atomically
from promptpo.run.recording import SUFFIX, recording
from promptpo_benchmarks.report.sections import sections
from promptpo_benchmarks.report.writing import Report, publish, write_report
from promptpo_benchmarks.runner.cells import Cell, plan
from promptpo_benchmarks.runner.methods import BenchmarkMethod, CellBudget
from promptpo_benchmarks.runner.processes import CellRunner, FailedCell, read_failures, write_failures
from promptpo_benchmarks.runner.suite import Suite
from promptpo_benchmarks.statistics.anchors import Anchors, anchors_of
from promptpo_benchmarks.statistics.rows import CSV, FinishedCell, read_rows, write_csv
from promptpo_benchmarks.statistics.summary import relative_anchors, summarise

PLAN = "plan.json"


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark as it was requested.

    Attributes:
        suite: Tasks and budgets.
        methods: Columns of the tables.
        models: Models for the methods that query one.
        seeds: Number of runs of each task and column.
        budget: Overrides the suite's budget.
        root: The folder in which it is written.
        arguments: The command line, without the program's name.
        published: Folder for what is worth keeping in a repository; None publishes nothing.
    """

    suite: Suite
    methods: Sequence[BenchmarkMethod]
    models: Sequence[str]
    seeds: int
    budget: CellBudget
    root: Path
    arguments: Sequence[str]
    published: Path | None = None

    def cells(self) -> list[Cell]:
        """Return all cells."""
        return plan(self.suite, self.methods, self.models, self.seeds, self.root)


def run(
    benchmark: Benchmark, jobs: int, tell: Callable[[str], None], limit: float | None = None
) -> list[FailedCell]:
    """Run unfinished cells, write the report after every pass, and return the cells that failed.

    Raises:
        UsageError: The directory holds a benchmark with another budget.
    """
    cells = benchmark.cells()
    create_directory(benchmark.root)
    _keep_to_plan(benchmark)
    try:
        failures = CellRunner(benchmark.suite, benchmark.budget, jobs, tell, limit).run(cells)
        write_failures(benchmark.root, failures)
    finally:
        report(benchmark)
    return failures


def report(benchmark: Benchmark) -> None:
    """Write the CSV and the reports from what is on disk."""
    cells = benchmark.cells()
    rows = read_rows(benchmark.suite, cells)
    tasks = [task.label for task in benchmark.suite.tasks]
    kinds = {task.label: benchmark.suite.score_of(task) for task in benchmark.suite.tasks}
    given = {
        task.label: Anchors(*task.anchors, *["given by the suite"] * 2)
        for task in benchmark.suite.tasks
        if task.anchors
    }
    anchors = anchors_of(kinds) | given
    relative = relative_anchors(rows, anchors)
    anchors |= relative
    planned: dict[str, set[str]] = {}
    for cell in cells:
        planned.setdefault(cell.column, set()).add(cell.task.label)
    summary = summarise(rows, anchors, tasks, planned)
    command = shlex.join(["promptpo", "benchmark", *benchmark.arguments])
    seeds_apart = (
        "All numbers are held-out scores of the policy that each run chose on validation seeds, on the same "
        "test seeds for every method; these seeds are used for nothing else."
    )
    lead = [
        f"{benchmark.suite.title}. {len(rows)} of {len(cells)} runs are finished.",
        f"Written on {datetime.now(UTC):%Y-%m-%d}. {seeds_apart}",
    ]
    if any((model or "").startswith("replay:") for model in benchmark.models):
        lead.append(
            "replay: the answers of a model that were recorded earlier, played back; without feedback between them "
            "unless the recording is a run of promptpo."
        )
    if relative:
        lead.append(
            f"0 and 1 of {', '.join(relative)} are taken from this table (see Normalisation) and move with it; "
            "anchors = [LOW, HIGH] in the suite fixes them."
        )
    redraw = command if "--report-only" in benchmark.arguments else f"{command} --report-only"
    found = sections(rows, read_failures(benchmark.root), summary, anchors, kinds)
    write_csv(benchmark.root / CSV, rows, anchors)
    title = f"Benchmark: {benchmark.suite.name}"
    written = Report(title, lead, command.replace(" --report-only", ""), redraw, found)
    write_report(benchmark.root, written)
    if benchmark.published is not None:
        csv = (benchmark.root / CSV).read_text(encoding="utf-8")
        publish(benchmark.published, written, csv, _recordings(rows))


def _recordings(rows: Sequence[FinishedCell]) -> dict[str, bytes]:
    """Collect the language models' answers in finished runs, unless they were a recording already.

    The names let ``--models "replay:FOLDER/{task}--{method}--seed-{seed}.jsonl.xz"`` replay all answers of one model.
    """
    cells = [
        row.cell
        for row in rows
        if row.llm and row.cell.method.kind == "optimize" and not (row.cell.model or "").startswith("replay:")
    ]
    several = len({cell.model for cell in cells}) > 1
    return {
        f"{cell.task.slug}--{cell.directory.parent.name if several else cell.method.name}--{cell.directory.name}{SUFFIX}": recording(
            cell.directory
        )
        for cell in cells
    }


def _keep_to_plan(benchmark: Benchmark) -> None:
    """Check that all cells of a folder have one budget; methods, models and seeds may be added."""
    path = benchmark.root / PLAN
    # The cap on answers applies to a pass, not to a cell.
    budget = asdict(replace(benchmark.budget, calls=None))
    wanted = {"suite": benchmark.suite.name, "budget": budget, "search": "tuned"}
    if path.exists():
        held = json.loads(path.read_text(encoding="utf-8"))
        held["budget"].setdefault("calls", None)  # folders of older versions
        held.setdefault("search", "untuned" if any(benchmark.root.glob("cells/*/search")) else "tuned")
        if held != wanted:
            raise UsageError(
                f"{benchmark.root} holds a benchmark of suite {held['suite']} with another budget, or with `search` untuned; choose another --out."
            )
    write_atomically(path, json.dumps(wanted, indent=2) + "\n")
