"""Output and exit status of ``optimize --seeds``, and of ``resume`` and ``show`` on its folder."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from promptpo.cli import many_commands
from promptpo.cli.document import print_json
from promptpo.display.console import tell
from promptpo.errors import NoSuchRunError, UsageError

if TYPE_CHECKING:
    from promptpo.cli.run_flags import ShowingFlags
    from promptpo.multi_seed import SeedsResult


def tracker_for_seed(tracker: str, seed: int) -> str:
    """Return the name of a tracker for one of several runs; a monitor file holds only one run."""
    kind, _, where = tracker.partition(":")
    if kind != "monitor":
        return tracker
    path = Path(where or "monitor.csv")
    return f"monitor:{path.with_stem(f'{path.stem}-seed-{seed}')}"


def finish(found: SeedsResult, showing: ShowingFlags) -> None:
    """Show the summary, and exit with an error status unless all runs are complete.

    Raises:
        Exit: 130 after Ctrl-C, 1 if a run has no policy.
    """
    print_summary(found, as_json=showing.as_json)
    if showing.film and not found.interrupted:
        from promptpo.output.report.page import add_episode

        for run in found.runs.values():
            if run.candidate:
                add_episode(run.directory)
    if found.interrupted:
        raise typer.Exit(130)
    if not found.complete:
        raise typer.Exit(1)


def show(directory: Path, candidate: str | None, *, as_json: bool) -> None:
    """Show a multi-seed run for `promptpo show`.

    Raises:
        UsageError: A candidate is named; each run has its own.
    """
    from promptpo.multi_seed import summarize_seeds

    _refuse_candidate(directory, candidate, "show")
    found = summarize_seeds(directory)
    print_summary(found, as_json=as_json)
    if not as_json:
        tell(f"To inspect one of its runs: promptpo show {shlex.quote(str(example_run(directory)))}")


def select_run(directory: Path, candidate: str | None) -> Path:
    """Return the run itself, or the best run of a multi-seed folder, whose name is printed.

    Raises:
        UsageError: A candidate of a folder is named.
        NoSuchRunError: No run in the folder has a policy.
    """
    from promptpo.multi_seed import is_folder_of_seeds, summarize_seeds
    from promptpo.prompts.feedback import number
    from promptpo.prompts.shortening import count_of

    if not is_folder_of_seeds(directory):
        return directory
    _refuse_candidate(directory, None if candidate == "best" else candidate, "export")
    found = summarize_seeds(directory)
    best = found.best
    if best is None:
        raise NoSuchRunError(f"no run in {directory} has a policy yet; see: promptpo show {directory}")
    mean = best.record.evidence.mean_return
    score = "" if mean is None else f", {number(mean)}"
    tell(
        f"{best.directory} is the best of {count_of(len(found.runs), 'run')} in {directory} by the return of its "
        f"training and validation episodes{score}.",
        error=True,
    )
    return best.directory


def example_run(directory: Path) -> Path:
    """Return a run of the folder as an example."""
    from promptpo.multi_seed import runs_in_folder

    return next(iter(runs_in_folder(directory)), directory / "seed-0")


def _refuse_candidate(directory: Path, candidate: str | None, command: str) -> None:
    if candidate is not None:
        example = shlex.quote(str(example_run(directory)))
        raise UsageError(
            f"{directory} holds one run for each seed, each with candidates of its own; name one of them: "
            f"promptpo {command} {example} {candidate}"
        )


def print_summary(found: SeedsResult, *, as_json: bool) -> None:
    """Print the summary as JSON, or as a table of the runs with results, followed by mean, interval and best run."""
    if as_json:
        print_json({"directory": str(found.directory), **found.data}, indent=2)
        return
    from promptpo.output.runs import read_line
    from promptpo.prompts.feedback import number
    from promptpo.prompts.shortening import count_of

    many_commands.print_runs(read_line(run.directory) for run in found.runs.values())
    data, best = found.data, found.data["best"]
    if best:
        known = sum(row["mean_return"] is not None for row in data["runs"])
        if None not in data["ci95"]:
            interval = " to ".join(map(number, data["ci95"]))
            mean = f"{number(data['mean_return'])} (95 % interval over runs {interval})"
            tell(f"Mean over {count_of(known, 'run')}: {mean}.")
        tell(f"Best: seed {best['seed']}, {number(best['mean_return'])}: {best['policy']}")
    tell(f"Summary: {found.directory / 'summary.json'}")
    if data["finished"] < len(data["runs"]):
        again = shlex.quote(str(found.directory))
        tell(f"Not all runs have ended; continue with: promptpo resume {again}")
