"""Several runs from Python: find them in a folder, compare them in pairs, and train baselines for comparison."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from promptpo.core.returns import PairedDifference
from promptpo.envs.objects import EnvLike, task_of
from promptpo.envs.task import Task, label_of
from promptpo.errors import MissingExtraError, RunError, UsageError
from promptpo.files import StrPath, write_named
from promptpo.output.report.compare_page import runs_page, table_rows
from promptpo.output.report.scores import finite
from promptpo.output.run_result import RunResult, TestedResult
from promptpo.output.runs import RunLine, find_runs, read_line
from promptpo.output.sentences import sentence
from promptpo_sandbox.text import clean_line

COMMANDS = "promptpo.commands"
"""Entry-point group of commands; a package that provides ``baseline`` trains from Python too."""


class Runs(list[RunLine]):
    """Runs, shown as a table.

    Args:
        lines: The runs.
        damaged: A sentence for each run that cannot be read.
    """

    def __init__(self, lines: Iterable[RunLine], damaged: Sequence[str] = ()) -> None:
        super().__init__(lines)
        self.damaged = damaged

    @property
    def rows(self) -> list[dict[str, str]]:
        """Rows of the table, as cells by column; runs are named by their directories."""
        rows = zip(table_rows(self), self, strict=True)
        return [{**row, "run": str(line.directory)} for row, line in rows]

    def __repr__(self) -> str:
        return table_text(self.rows) if self else "no runs"


@dataclass(frozen=True, repr=False)
class RunComparison:
    """Runs side by side, each paired with the first.

    Attributes:
        runs: The runs, in the order given.
    """

    runs: Runs

    @property
    def differences(self) -> tuple[PairedDifference | None, ...]:
        """The difference of each run from the first over the test seeds that both have played.

        None for the first itself, and for runs of other tasks.
        """
        return tuple(line.paired_difference(self.runs[0]) for line in self.runs)

    def as_json(self) -> list[dict[str, Any]]:
        """Return the runs as ``promptpo compare --json`` prints them."""
        pairs = zip(self.runs, self.differences, strict=True)
        return [{**line.facts, "against_first": _in_json(difference)} for line, difference in pairs]

    def write_report(self, path: StrPath = "compare.html") -> Path:
        """Write the page of ``promptpo compare``."""
        write_named(Path(path), runs_page(self.runs, Path(path)))
        return Path(path)

    def __repr__(self) -> str:
        return table_text(table_rows(self.runs, self.runs[0]))


@dataclass(frozen=True, repr=False)
class BaselineResult(TestedResult):
    """The result of a baseline."""

    def __repr__(self) -> str:
        method, env_id = self.data.get("method", "baseline"), label_of(self.data.get("env_id", ""))
        return f"<{method} on {env_id}: mean return {sentence('score', self.data.get('test'))}, {self.directory}>"


def _in_json(difference: PairedDifference | None) -> dict[str, Any] | None:
    if difference is None:
        return None
    return {
        "episodes": len(difference.returns),
        "mean": difference.mean,
        "verdict": difference.verdict,
        "standard_error": finite(difference.standard_error),
    }


def list_runs(folder: StrPath = ".") -> Runs:
    """List the runs in a folder and a few levels below it, baselines included.

    Args:
        folder: The folder to search.

    Raises:
        RunError: There is no such folder.
    """
    lines, damaged = [], []
    for directory in find_runs(Path(folder)):
        try:
            lines.append(read_line(directory))
        except RunError as error:
            damaged.append(str(error))
    return Runs(lines, damaged)


def compare(*runs: StrPath | RunResult | BaselineResult) -> RunComparison:
    """Compare the held-out returns of runs: each with the first, over the test seeds that both have played.

    Args:
        runs: Two or more: run directories, or results of `optimize`, `resume`, `load_run` and `baseline`.

    Raises:
        UsageError: There are fewer than two.
        RunError: One is not a run, or cannot be read.
    """
    if len(runs) < 2:  # noqa: PLR2004 - one run has nothing to be compared with
        raise UsageError("compare takes two or more runs; for a single run use: promptpo show RUN")
    places = (run.directory if isinstance(run, TestedResult) else Path(run) for run in runs)
    return RunComparison(Runs(map(read_line, places)))


def baseline(
    algorithm: str,
    env_id: EnvLike | Task,
    *,
    out: StrPath | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    max_episode_steps: int | None = None,
    resume: bool = False,
    progress: bool = False,
    **settings: Any,
) -> BaselineResult:
    """Train a baseline, or score one that does not learn, as ``promptpo baseline`` does.

    Args:
        algorithm: ``ppo``, ``sac``, …, ``random`` or ``zero``.
        env_id: The environment, in any form that `optimize` takes.
        out: Run directory; a new one under ``runs/`` by default.
        env_kwargs: Arguments of the environment.
        max_episode_steps: Maximum episode length, in steps.
        resume: Continue the run in `out`.
        progress: Show a progress bar and a line for each evaluation.
        **settings: Flags of the command, such as ``steps``, ``seed``, ``test_episodes``, ``hyperparameters``.

    Raises:
        UsageError: There is no such algorithm or setting, or the directory holds another run.
        MissingExtraError: stable-baselines3 is not installed.
    """
    found = [entry for entry in metadata.entry_points(group=COMMANDS) if entry.name == "baseline"]
    if not found:
        raise MissingExtraError(
            "baselines need the package promptpo-baselines: pip install 'promptpo[baselines]'"
        )
    task = env_id if isinstance(env_id, Task) else task_of(env_id, env_kwargs, max_episode_steps)
    module = importlib.import_module(found[0].module)
    place = None if out is None else Path(out)
    directory, data = module.train_or_score(
        algorithm, task, place, resume=resume, progress=progress, settings=settings
    )
    return BaselineResult(directory, data)


def table_text(rows: Sequence[Mapping[str, str]]) -> str:
    """Format rows as columns below their names."""
    table = [[clean_line(cell) for cell in row] for row in (*rows[:1], *(row.values() for row in rows))]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in table)
