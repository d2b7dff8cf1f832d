"""Many runs side by side: found in a folder, summarised in one line each, compared in pairs.

Runs are those of promptpo and of baselines (see `promptpo.output.baseline_run`), finished or not.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from promptpo.core.journal import JOURNAL
from promptpo.core.returns import PairedDifference
from promptpo.errors import NoSuchRunError
from promptpo.files import Json, reading
from promptpo.llm.choose import SEARCH
from promptpo.output.baseline_run import BaselineRun, is_baseline, read_run
from promptpo.output.recorded_result import RecordedResult
from promptpo.output.report.scores import EpisodeKind, kind_of_episodes
from promptpo.output.sentences import sentence
from promptpo.run.config_file import CONFIG

MAX_FOLDER_DEPTH = 4
"""Levels below the given folder that are searched for runs."""

TASK = ("wrappers", "variants", "max_episode_steps", "reward")
"""Parts of a task besides its environment and arguments; a reward is given by its digest."""

Curve = tuple[tuple[float, float], ...]
"""(environment steps, mean return) pairs."""


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run, summarised in a line.

    Attributes:
        directory: The run directory.
        facts: The run as ``--json`` shows it; those of `TASK` that its task has.
        returns: Held-out return by test seed; an episode in which the policy failed counts as the worst.
        curve: Improvements of the best so far; for an algorithm that trains, every evaluation.
        trains: Whether it is such an algorithm.
    """

    directory: Path
    facts: Json
    returns: Mapping[int, float]
    curve: Curve
    trains: bool = False

    @property
    def task(self) -> tuple[str, dict[str, Any]]:
        """The task, since only runs of the same task are compared."""
        own = {name: self.facts[name] for name in TASK if name in self.facts}
        return self.facts["env_id"], {**self.facts["env_kwargs"], **own}

    def episodes_with(self, other: RunLine) -> EpisodeKind:
        """Return how the test episodes of two runs of a task depend on each other; baselines do not determine this."""
        return next((kind for run in (self, other) if (kind := run.facts["episodes"]) != "paired"), "paired")

    def paired_difference(self, other: RunLine) -> PairedDifference | None:
        """Return the difference to another run over the test seeds that both have played.

        None for the run itself, for different tasks, and if one has no result.
        """
        if self is other or self.task != other.task:
            return None
        shared = sorted(self.returns.keys() & other.returns.keys())
        returns = tuple(self.returns[seed] - other.returns[seed] for seed in shared)
        return PairedDifference(returns) if returns else None


def find_runs(folder: Path) -> list[Path]:
    """Return the run directories in a folder and a few levels below it, by name.

    Raises:
        RunError: There is no such folder.
    """
    if not folder.is_dir():
        raise NoSuchRunError(f"{folder} is not a folder; name one that contains runs.")
    found = []
    for root, names, _ in os.walk(folder):
        here = Path(root)
        inside, deepest = is_run(here), len(here.relative_to(folder).parts) == MAX_FOLDER_DEPTH
        found += [here] * inside
        names[:] = [] if inside or deepest else [name for name in names if not name.startswith(".")]
    return sorted(found)


def is_run(folder: Path) -> bool:
    """Whether a folder holds a run, of promptpo or of a baseline."""
    return is_baseline(folder) or ((folder / CONFIG).is_file() and (folder / JOURNAL).is_file())


def read_line(directory: Path) -> RunLine:
    """Read a run, finished or not, as a line.

    Raises:
        RunError: It is not a run, or cannot be read.
    """
    with reading(directory):
        run = read_run(directory)
        return RunLine(
            directory,
            _facts(directory, run.content),
            run.test_returns,
            run.curve,
            isinstance(run, BaselineRun),
        )


def _facts(directory: Path, content: Json) -> dict[str, Any]:
    """Return a run as ``--json`` shows it, from its result or the provisional one."""
    result = RecordedResult.read(content)
    test, llm = result.test, content.get("llm") or {}
    program = result.steps.get("program", 0)  # those of the run whose program was refined
    facts = {
        "run": str(directory),
        "env_id": result.env_id,
        "env_kwargs": dict(result.env_kwargs),
        "method": content.get("method") or "",
        "model": result.model,
        "written_by": result.author,
        "finished": content.get("finished", True),
        "best": result.best.candidate or None,
        "ci95": list(test.ci95),
        "episodes": kind_of_episodes(content),
        "steps": result.steps.get("total", 0) + program,
        "searched_steps": result.searched + program,
        "validation_steps": result.steps.get("validation", 0),
        "agent_steps": result.best.steps if "algorithm" in content else None,
        "untrained": bool(sentence("untrained", content)),
        "last_agent_return": ((content.get("final") or {}).get("test") or {}).get("mean_return"),
        "calls": llm.get("calls") or 0 if result.model and result.model != SEARCH else None,
        "cost_usd": llm.get("cost_usd") or 0.0,
        "calls_of_unknown_price": llm.get("calls_of_unknown_price") or 0,
        **{name: content.get(name) for name in ("seed", "wall_seconds", "reveal")},
        "mean_return": test.mean_return,
        "success_rate": test.success_rate,
    }
    own = {**content, "reward": (content.get("reward") or {}).get("digest")}
    return facts | {name: own[name] for name in TASK if own.get(name)}
