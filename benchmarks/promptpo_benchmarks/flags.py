"""The flags of ``promptpo benchmark``, in groups. Importing this imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer


@dataclass(frozen=True, kw_only=True)
class ComparedFlags:
    """Flags for the methods and tasks under comparison."""

    methods: Annotated[
        str,
        typer.Option(
            help="promptpo, promptpo-source, promptpo-simulate, promptpo-paper, promptpo-anonymous, promptpo-bare, best-of-n, search, search-untuned, ppo, trpo, sac, tqc, crossq, dqn, qrdqn, icpi, llm-agent, random, zero, oracle."
        ),
    ] = "promptpo,search,random,zero"
    models: Annotated[
        str,
        typer.Option(
            help="For promptpo, best-of-n and llm-agent: models, as for promptpo optimize --model; {task}, {method} and {seed} stand for those of a run. By default the provider whose key is set."
        ),
    ] = ""
    seeds: Annotated[int, typer.Option(min=1, help="Runs per task and method, with seeds from 0 on.")] = 1


@dataclass(frozen=True, kw_only=True)
class CellFlags:
    """Flags for the budget of one run and for where its rollouts run."""

    steps: Annotated[
        int | None,
        typer.Option(
            "--max-steps",
            min=1,
            help="Environment steps of a run for everything except the final test; by default the suite's.",
        ),
    ] = None
    rounds: Annotated[int | None, typer.Option(min=1, help="Rounds of a run; by default the suite's.")] = None
    candidates: Annotated[int | None, typer.Option(min=1, help="Policies requested per round.")] = None
    test_episodes: Annotated[
        int | None, typer.Option(min=1, help="Held-out episodes; by default the suite's.")
    ] = None
    max_usd: Annotated[
        float | None, typer.Option(help="Maximum cost in US dollars of each run with a model.")
    ] = None
    max_calls: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Maximum number of model answers, over all runs and repetitions of the command; runs that need more are not started.",
        ),
    ] = None
    executor: Annotated[str, typer.Option(help="Where promptpo's rollouts run: local, or ray.")] = "local"


@dataclass(frozen=True, kw_only=True)
class WorkFlags:
    """Flags for how much to do now."""

    jobs: Annotated[int, typer.Option(min=1, help="Number of parallel runs.")] = 1
    max_seconds: Annotated[
        float | None,
        typer.Option(
            min=1,
            help="Wall-clock time of a run in seconds, after which it is stopped and counts as failed.  [default: 14400; none for inbox:]",
            show_default=False,
        ),
    ] = None
    resume: Annotated[
        bool,
        typer.Option(
            "--resume/--fresh", help="Continue the benchmark in the folder; --fresh refuses a folder in use."
        ),
    ] = True
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what the benchmark will take, and run nothing.")
    ] = False
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Only write the report, from the finished runs.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class KeptFlags:
    """Flags for where results are stored."""

    out: Annotated[
        Path | None, typer.Option(help="Folder of the benchmark; by default runs/benchmark-SUITE.")
    ] = None
    publish: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Also write the files worth keeping in a repository to this folder: report.md, its figures, results.csv.",
        ),
    ] = None
