"""``promptpo benchmark``."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from promptpo.cli.arguments import AsJson
from promptpo.cli.terminal import print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.benchmark import Benchmark
    from benchmarks.runner.processes import FailedCell

AgentWhen = Literal["passed", "always", "never"]
SHOWN_VERSIONS = ("python", "promptpo", "numpy", "gymnasium")

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


@app.command(epilog="Example: promptpo benchmark classic --methods search,tune,random --seeds 3 --jobs 2")
def benchmark(
    suite: Annotated[
        str, typer.Argument(help="A suite by name, or a TOML file; 'list' shows the suites that there are.")
    ],
    methods: Annotated[
        str,
        typer.Option(
            help="promptpo, promptpo-paper, promptpo-anonymous, promptpo-bare, best-of-n, search, tune, ppo, trpo, sac, icpi, llm-agent, random, zero, oracle."
        ),
    ] = "promptpo,search,random,zero",
    models: Annotated[
        str,
        typer.Option(
            help="For promptpo, best-of-n and llm-agent: models as --model of optimize takes them; {task}, {method} and {seed} stand for those of a run. By default the provider whose key is set."
        ),
    ] = "",
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each task and method, from seed 0 on.")] = 1,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Environment steps of a run; by default the suite's.")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="Prompts of a run; by default the suite's.")
    ] = None,
    candidates: Annotated[int | None, typer.Option(min=1, help="Policies asked for in each round.")] = None,
    test_episodes: Annotated[
        int | None, typer.Option(min=1, help="Held-out episodes; by default the suite's.")
    ] = None,
    max_usd: Annotated[float | None, typer.Option(help="Money for each run that asks a model.")] = None,
    max_calls: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Answers of language models, all runs and passes together; runs that need more are not begun.",
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Runs at the same time.")] = 1,
    max_seconds: Annotated[
        float | None,
        typer.Option(
            min=1,
            help="Wall time of a run, after which it is ended and has failed.  [default: 14400; none for inbox:]",
            show_default=False,
        ),
    ] = None,
    executor: Annotated[str, typer.Option(help="Where promptpo's rollouts run: local, or ray.")] = "local",
    out: Annotated[
        Path | None, typer.Option(help="Folder of the benchmark; runs/benchmark-SUITE when not given.")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume/--fresh", help="Go on with what the folder holds; --fresh refuses a folder in use."
        ),
    ] = True,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it will take, and run nothing.")
    ] = False,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Write the report from what is on disk.")
    ] = False,
    publish: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Also write what is worth keeping in a repository there: report.md, its figures as pictures, results.csv.",
        ),
    ] = None,
    probe: Annotated[
        bool,
        typer.Option(
            "--probe",
            help="For icpi: ask each of --models (any engine of ICPI; SIZE=ENGINE@ADDRESS) its four questions, and run it where it passes.",
        ),
    ] = False,
    agent: Annotated[AgentWhen, typer.Option(help="With --probe: when ICPI runs.")] = "passed",
    domains: Annotated[str, typer.Option(help="With --probe: ICPI's domains.")] = "Chain",
    examples: Annotated[str, typer.Option(help="With --probe: sizes of the memory.")] = "20,60",
    questions: Annotated[
        int, typer.Option(min=2, help="With --probe: questions of each kind, size and domain.")
    ] = 20,
    prompt_tokens: Annotated[int, typer.Option(min=50, help="With --probe: budget of a prompt.")] = 3800,
    as_json: AsJson = False,
) -> None:
    """Compare methods and models on a suite of tasks.

    Every run is a normal run directory under OUT/cells. Finished runs are skipped, so the same command
    goes on where it stopped. A run that fails is reported and does not stop the others. The folder gets
    results.csv, report.md and report.html.
    """
    from benchmarks.benchmark import report, run
    from benchmarks.runner.processes import read_failures
    from promptpo.errors import UsageError

    if suite == "list":
        _list(as_json=as_json)
        return
    if probe:
        if suite != "icpi":
            raise UsageError(f"--probe is for icpi, not {suite}.")
        _probe_sizes(
            models, domains, examples, out or Path("runs/benchmark-icpi-sizes"), dry_run=dry_run,
            questions=questions, prompt_tokens=prompt_tokens, agent=agent, seeds=seeds, usd=max_usd,
        )  # fmt: skip
        return
    asked = _asked(
        suite, methods, models, seeds, out, publish,
        steps=steps, rounds=rounds, candidates=candidates, test_episodes=test_episodes, usd=max_usd,
        calls=max_calls, executor=executor,
    )  # fmt: skip
    if dry_run:
        _show_estimate(asked, jobs, as_json=as_json)
        return
    if not resume and asked.root.exists():
        raise UsageError(f"{asked.root} exists; leave --fresh out to go on with it, or choose another --out.")
    failures = []
    if report_only:
        report(asked)
        failures = read_failures(asked.root)
    else:
        failures = run(
            asked,
            jobs,
            lambda line: print(f"{datetime.now(UTC):%H:%M:%S} {line}", file=sys.stderr, flush=True),
            max_seconds,
        )
        for failure in failures:
            print(f"failed: {failure.cell}: {failure.message} (all of it in {failure.log})", file=sys.stderr)
    page = asked.root / "report.html"
    if as_json:
        print_json({"out": str(asked.root), "report": str(page), **_told(asked, failures)}, indent=2)
    else:
        print(page)


def _told(asked: Benchmark, failures: Sequence[FailedCell]) -> dict[str, Any]:
    """Finished runs as results.csv has them, and those that failed."""
    from benchmarks.statistics.rows import read_csv

    return {"runs": read_csv(asked.root), "failed": [asdict(failure) for failure in failures]}


def _asked(
    suite: str,
    methods: str,
    models: str,
    seeds: int,
    out: Path | None,
    published: Path | None,
    **budget: float | str | None,
) -> Benchmark:
    from benchmarks.benchmark import Benchmark
    from benchmarks.runner.methods import CellBudget, choose
    from benchmarks.runner.suite import load_suite
    from promptpo.llm.choose import choose as choose_model

    chosen = choose(_split(methods))
    named = _split(models)
    if not named and any(method.asks_model for method in chosen):
        named = [choose_model().name]
    for name in named:
        choose_model(name)
    loaded = load_suite(suite)
    root = out or Path("runs") / f"benchmark-{loaded.name}"
    arguments = sys.argv[1:]
    if "benchmark" in arguments:
        arguments = arguments[arguments.index("benchmark") + 1 :]
    return Benchmark(loaded, chosen, named, seeds, CellBudget(**budget), root, arguments, published)  # type: ignore[arg-type] # as declared


def _probe_sizes(
    models: str,
    domains: str,
    examples: str,
    folder: Path,
    *,
    dry_run: bool,
    usd: float | None,
    **options: Any,
) -> None:
    """Which models are large enough for ICPI: a table and a figure."""
    from benchmarks.icpi.__main__ import full_id
    from benchmarks.icpi.sizes import SizesStudy, sized_models
    from benchmarks.icpi.sizes_report import HEAD, table, write
    from benchmarks.measuring.tables import aligned
    from promptpo.errors import UsageError
    from promptpo.output.report import versions
    from promptpo.run.config import Budget

    sizes = [int(part) if part.strip().isdecimal() else 0 for part in examples.split(",")]
    if min(sizes) < 1:
        raise UsageError(
            f"--examples takes numbers with commas between them, such as 20,60, not {examples!r}."
        )
    env_ids = [full_id(name) for name in domains.split(",")]
    study = SizesStudy(
        sized_models(models),
        env_ids,
        sorted(set(sizes)),
        folder=folder,
        budget=Budget(steps=None, usd=usd),
        **options,
    )
    if not dry_run:
        study.check()
    for line in study.estimates():
        print(line, file=sys.stdout if dry_run else sys.stderr, flush=True)
    if dry_run:
        return
    probed, runs = study.run(lambda line: print(line, file=sys.stderr, flush=True))
    arguments = sys.argv[1:]
    made = ", ".join(f"{name} {number}" for name, number in versions().items() if name in SHOWN_VERSIONS)
    write(
        folder, study.models, probed, runs,
        origin=f"`{shlex.join(['promptpo', *arguments])}`, {datetime.now(UTC):%Y-%m-%d}; {made}",
    )  # fmt: skip
    print(aligned(HEAD, table(study.models, probed, runs)))
    print(folder / "sizes.png")


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _list(*, as_json: bool) -> None:
    from benchmarks.runner.suite import load_suite, suite_names

    if as_json:
        suites = [load_suite(name) for name in suite_names()]
        print_json(
            [
                {"suite": one.name, "title": one.title, "tasks": [t.label for t in one.tasks]}
                for one in suites
            ],
            indent=2,
        )
        return
    for name in suite_names():
        suite = load_suite(name)
        print(f"{name:20} {len(suite.tasks):3} tasks  {suite.title}")


def _show_tasks(asked: Benchmark) -> None:
    """What each task is called here, and as ``promptpo optimize`` takes it."""
    width = max(len(task.label) for task in asked.suite.tasks)
    for task in asked.suite.tasks:
        kwargs = f" --env-kwargs '{json.dumps(dict(task.kwargs), sort_keys=True)}'" if task.kwargs else ""
        horizon = f" --max-episode-steps {task.max_episode_steps}" if task.max_episode_steps else ""
        print(f"{task.label:{width}}  {task.env}{kwargs}{horizon}")
    print()


def _show_estimate(asked: Benchmark, jobs: int, *, as_json: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    from benchmarks.runner import estimate as estimates

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
        "column", "runs", "steps", "calls", "tokens in", "tokens out", "US dollars", "hours", box=None
    )
    for row in found:
        usd = "unknown" if row.usd is None else f"{row.usd:.2f}"
        counts = (f"{n:,}" for n in (row.cells, row.steps, row.calls, *row.tokens))
        table.add_row(row.column, *counts, usd, f"{row.hours:.2f}")
    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(table)
    hours = sum(row.hours for row in found) / jobs
    print(
        f"At most {sum(row.steps for row in found):,} environment steps and about {hours:.1f} hours with --jobs {jobs}. "
        f"Assumed for a call: {estimates.INPUT_TOKENS:,} tokens in, {estimates.OUTPUT_TOKENS:,} out, "
        f"{estimates.SECONDS_PER_CALL:.0f} s; environment speed measured just now."
    )
