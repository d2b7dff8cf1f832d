"""Many runs beside each other: found in a folder, told in one line each, compared in pairs.

A run is here what promptpo works on, or what a baseline left or works on (see `promptpo.output.baseline_run`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from promptpo.core.journal import JOURNAL
from promptpo.core.returns import Difference
from promptpo.errors import NoSuchRunError
from promptpo.files import Json, reading
from promptpo.llm.choose import SEARCH
from promptpo.output.baseline_run import BaselineRun, is_baseline, read_run
from promptpo.output.report.result import author_of
from promptpo.output.report.scores import EpisodeKind, kind_of_episodes
from promptpo.output.sentences import sentence
from promptpo.run.config_file import CONFIG

MAX_FOLDER_DEPTH = 4
"""Folders below the given one in which runs are looked for."""

TASK = ("wrappers", "variants", "max_episode_steps", "reward")
"""What is part of a task besides its environment and arguments: of a reward its digest."""

Curve = tuple[tuple[float, float], ...]
"""(environment steps, mean return) pairs."""


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run in a line.

    Attributes:
        directory: The run directory.
        facts: The run as ``--json`` shows it; of `TASK` what makes it another task than its environment alone.
        returns: Held-out return by test seed; an episode in which the policy failed counts like its worst.
        curve: How the best so far improved; of an algorithm that trains, every evaluation.
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
        """How the test episodes of two runs of a task depend on each other; baselines do not find it out."""
        return next((kind for run in (self, other) if (kind := run.facts["episodes"]) != "paired"), "paired")

    def against(self, other: RunLine) -> Difference | None:
        """How this run's policy differs from another's over the test seeds that both have played.

        None for itself, where they solved different tasks, and where one has no result.
        """
        if self is other or self.task != other.task:
            return None
        shared = sorted(self.returns.keys() & other.returns.keys())
        returns = tuple(self.returns[seed] - other.returns[seed] for seed in shared)
        return Difference(returns) if returns else None


def find_runs(folder: Path) -> list[Path]:
    """The run directories in a folder and a few levels below it, by name.

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
    """A run in a line, finished or not.

    Raises:
        RunError: It is no run, or cannot be read.
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


def _facts(directory: Path, result: Json) -> dict[str, Any]:
    """A run as ``--json`` shows it, by its result or by what stands for one."""
    test, llm, steps = (result.get(part) or {} for part in ("test", "llm", "steps"))
    total, program = int(steps.get("total") or 0), int(steps.get("program") or 0)
    searched = int(result.get("searched_steps", total - int(steps.get("test") or 0)))
    model = result.get("model") or ""
    asked = model and model != SEARCH
    facts = {
        "run": str(directory),
        "env_id": result["env_id"],
        "env_kwargs": dict(result.get("env_kwargs") or {}),
        "method": result.get("method") or "",
        "model": model,
        "written_by": author_of(result),
        "finished": result.get("finished", True),
        "best": (result.get("best") or {}).get("candidate"),
        "ci95": list(test.get("ci95") or (None, None)),
        "episodes": kind_of_episodes(result),
        "steps": total + program,  # of a refined program with those that it took itself
        "searched_steps": searched + program,
        "validation_steps": int(steps.get("validation") or 0),
        "agent_steps": (result.get("best") or {}).get("steps") if "algorithm" in result else None,
        "untrained": bool(sentence("untrained", result)),
        "last_agent_return": ((result.get("final") or {}).get("test") or {}).get("mean_return"),
        "calls": int(llm.get("calls") or 0) if asked else None,
        "cost_usd": float(llm.get("cost_usd") or 0.0),
        "calls_of_unknown_price": int(llm.get("calls_of_unknown_price") or 0),
        **{name: result.get(name) for name in ("seed", "wall_seconds", "reveal")},
        **{name: test[name] if test else None for name in ("mean_return", "success_rate")},
    }
    own = {**result, "reward": (result.get("reward") or {}).get("digest")}
    return facts | {name: own[name] for name in TASK if own.get(name)}
