"""The flags of ``promptpo benchmark``, in groups. Importing this imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer


@dataclass(frozen=True, kw_only=True)
class ComparedFlags:
    """What is compared."""

    methods: Annotated[
        str,
        typer.Option(
            help="promptpo, promptpo-paper, promptpo-anonymous, promptpo-bare, best-of-n, search, search-untuned, ppo, trpo, sac, tqc, crossq, dqn, qrdqn, icpi, llm-agent, random, zero, oracle."
        ),
    ] = "promptpo,search,random,zero"
    models: Annotated[
        str,
        typer.Option(
            help="For promptpo, best-of-n and llm-agent: models as --model of optimize takes them; {task}, {method} and {seed} stand for those of a run. By default the provider whose key is set."
        ),
    ] = ""
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each task and method, from seed 0 on.")] = 1


@dataclass(frozen=True, kw_only=True)
class CellFlags:
    """What one run may spend, and where its rollouts run."""

    steps: Annotated[
        int | None,
        typer.Option(
            "--max-steps",
            min=1,
            help="Environment steps of a run for everything but the final test; by default the suite's.",
        ),
    ] = None
    rounds: Annotated[int | None, typer.Option(min=1, help="Prompts of a run; by default the suite's.")] = (
        None
    )
    candidates: Annotated[int | None, typer.Option(min=1, help="Policies asked for in each round.")] = None
    test_episodes: Annotated[
        int | None, typer.Option(min=1, help="Held-out episodes; by default the suite's.")
    ] = None
    max_usd: Annotated[float | None, typer.Option(help="Money for each run that asks a model.")] = None
    max_calls: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Answers of language models, all runs and passes together; runs that need more are not begun.",
        ),
    ] = None
    executor: Annotated[str, typer.Option(help="Where promptpo's rollouts run: local, or ray.")] = "local"


@dataclass(frozen=True, kw_only=True)
class WorkFlags:
    """How much is done now."""

    jobs: Annotated[int, typer.Option(min=1, help="Runs at the same time.")] = 1
    max_seconds: Annotated[
        float | None,
        typer.Option(
            min=1,
            help="Wall time of a run, after which it is ended and has failed.  [default: 14400; none for inbox:]",
            show_default=False,
        ),
    ] = None
    resume: Annotated[
        bool,
        typer.Option(
            "--resume/--fresh", help="Go on with what the folder holds; --fresh refuses a folder in use."
        ),
    ] = True
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it will take, and run nothing.")] = (
        False
    )
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Write the report from what is on disk.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class KeptFlags:
    """Where results are kept."""

    out: Annotated[
        Path | None, typer.Option(help="Folder of the benchmark; runs/benchmark-SUITE when not given.")
    ] = None
    publish: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Also write what is worth keeping in a repository there: report.md, its figures as pictures, results.csv.",
        ),
    ] = None
