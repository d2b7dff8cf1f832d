"""``promptpo benchmark``."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from promptpo.cli.arguments import AsJson
from promptpo.cli.document import print_json
from promptpo.cli.groups import expand_groups
from promptpo.errors import UsageError
from promptpo_benchmarks.flags import CellFlags, ComparedFlags, KeptFlags, WorkFlags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo_benchmarks.benchmark import Benchmark
    from promptpo_benchmarks.runner.processes import FailedCell

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.command(epilog="Example: promptpo benchmark classic --methods search,ppo,random --seeds 3 --jobs 2")
@expand_groups
def benchmark(
    suite: Annotated[
        str, typer.Argument(help="Name of a suite, or a TOML file; 'list' shows the available suites.")
    ],
    compared: ComparedFlags,
    cell: CellFlags,
    work: WorkFlags,
    kept: KeptFlags,
    as_json: AsJson = False,
) -> None:
    """Compare methods and models on a suite of tasks.

    Every run is a normal run directory under OUT/cells. Finished runs are skipped, so the same command
    continues where it stopped. A run that fails is reported and does not stop the others. The folder also
    contains results.csv, report.md and report.html.
    """
    if suite == "list":
        _list(as_json=as_json)
        return
    asked = _build_benchmark(suite, compared, cell, kept)
    if work.dry_run:
        _show_estimate(asked, work.jobs, as_json=as_json)
        return
    failures = _run_missing(asked, work)
    page = asked.root / "report.html"
    if as_json:
        print_json({"out": str(asked.root), "report": str(page), **_as_json(asked, failures)}, indent=2)
    else:
        print(page)


def _run_missing(asked: Benchmark, work: WorkFlags) -> Sequence[FailedCell]:
    """Run what is missing, or only write the report; return the cells that failed."""
    from promptpo_benchmarks.benchmark import report, run
    from promptpo_benchmarks.runner.processes import read_failures

    if not work.resume and asked.root.exists():
        raise UsageError(f"{asked.root} exists; leave out --fresh to continue it, or choose another --out.")
    if work.report_only:
        report(asked)
        return read_failures(asked.root)
    failures = run(
        asked,
        work.jobs,
        lambda line: print(f"{datetime.now(UTC):%H:%M:%S} {line}", file=sys.stderr, flush=True),
        work.max_seconds,
    )
    for failure in failures:
        print(f"failed: {failure.cell}: {failure.message} (full log: {failure.log})", file=sys.stderr)
    return failures


def _as_json(asked: Benchmark, failures: Sequence[FailedCell]) -> dict[str, Any]:
    """Return finished runs as in results.csv, and those that failed."""
    from promptpo_benchmarks.statistics.rows import read_csv

    return {"runs": read_csv(asked.root), "failed": [asdict(failure) for failure in failures]}


def _build_benchmark(suite: str, compared: ComparedFlags, cell: CellFlags, kept: KeptFlags) -> Benchmark:
    from promptpo.llm.choose import choose as choose_model
    from promptpo_benchmarks.benchmark import Benchmark
    from promptpo_benchmarks.runner.methods import CellBudget, choose
    from promptpo_benchmarks.runner.suite import load_suite

    chosen = choose(_split(compared.methods))
    named = _split(compared.models)
    if not named and any(method.asks_model for method in chosen):
        named = [choose_model().name]
    for name in named:
        choose_model(name)
    loaded = load_suite(suite)
    root = kept.out or Path("runs") / f"benchmark-{loaded.name}"
    arguments = sys.argv[1:]
    if "benchmark" in arguments:
        arguments = arguments[arguments.index("benchmark") + 1 :]
    budget = CellBudget(
        steps=cell.steps,
        rounds=cell.rounds,
        candidates=cell.candidates,
        test_episodes=cell.test_episodes,
        usd=cell.max_usd,
        calls=cell.max_calls,
        executor=cell.executor,
    )
    return Benchmark(loaded, chosen, named, compared.seeds, budget, root, arguments, kept.publish)


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _list(*, as_json: bool) -> None:
    from promptpo_benchmarks.runner.suite import load_suite, suite_names

    if as_json:
        suites = [load_suite(name) for name in suite_names()]
        print_json(
            [
                {"suite": suite.name, "title": suite.title, "tasks": [t.label for t in suite.tasks]}
                for suite in suites
            ],
            indent=2,
        )
        return
    for name in suite_names():
        suite = load_suite(name)
        print(f"{name:20} {len(suite.tasks):3} tasks  {suite.title}")


def _show_tasks(asked: Benchmark) -> None:
    """List the tasks by their names here and as arguments of ``promptpo optimize``."""
    width = max(len(task.label) for task in asked.suite.tasks)
    for task in asked.suite.tasks:
        kwargs = f" --env-kwargs '{json.dumps(dict(task.kwargs), sort_keys=True)}'" if task.kwargs else ""
        horizon = f" --max-episode-steps {task.max_episode_steps}" if task.max_episode_steps else ""
        print(f"{task.label:{width}}  {task.env}{kwargs}{horizon}")
    print()


def _show_estimate(asked: Benchmark, jobs: int, *, as_json: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    from promptpo_benchmarks.runner import estimate as estimates

    if not as_json:
        _show_tasks(asked)
    found = estimates.estimate(asked.suite, asked.cells(), asked.budget)
    if as_json:
        print_json(
            {"tasks": [t.label for t in asked.suite.tasks], "columns": [asdict(row) for row in found]},
            indent=2,
        )
        return
    table = Table(
        "column",
        "runs",
        "each run",
        "steps",
        "calls",
        "tokens in",
        "tokens out",
        "US dollars",
        "time",
        box=None,
    )
    for row in found:
        usd = "unknown" if row.usd is None else f"{row.usd:.2f}"
        counts = (f"{n:,}" for n in (row.steps, row.calls, *row.tokens))
        time = estimates.describe_duration(row.hours * 3600)
        table.add_row(row.column, f"{row.cells:,}", row.each, *counts, usd, time)
    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(table)
    time = estimates.describe_duration(sum(row.hours for row in found) * 3600 / jobs)
    print(
        f"At most {sum(row.steps for row in found):,} environment steps and about {time} with --jobs {jobs}. "
        f"Assumed for a call: {estimates.INPUT_TOKENS:,} tokens in, {estimates.OUTPUT_TOKENS:,} out, "
        f"{estimates.SECONDS_PER_CALL:.0f} s; environment speed measured just now."
    )
