"""Many runs beside each other: found in a folder, told in one line each, compared in pairs.

A run is here what promptpo works on, or what a baseline left or works on (see `promptpo.output.baseline_run`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from promptpo.errors import NoSuchRunError
from promptpo.files import Json
from promptpo.llm.choose import SEARCH
from promptpo.output.baseline_run import is_baseline, read_baseline
from promptpo.output.report.result import RESULT, setting, written_by
from promptpo.output.report.scores import counted_failures
from promptpo.output.run_view import RunView, read_view
from promptpo.run.config import CONFIG
from promptpo.run.evidence import Difference
from promptpo.run.journal import JOURNAL
from promptpo.run.models import origin_of
from promptpo.run.records import Seeds

DEEPEST = 4
"""Folders below the given one in which runs are looked for."""

Curve = tuple[tuple[float, float], ...]
"""(environment steps, mean return of the best so far) each time it changed."""


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run in a line.

    Attributes:
        directory: The run directory.
        facts: The run as ``--json`` shows it.
        setting: What was solved, besides environment and arguments: wrappers, variants, the digest of the reward program,
            and ``max_episode_steps``, the longest episode where one was asked for and is recorded.
        returns: Held-out return by test seed; an episode in which the policy failed counts like its worst.
        curve: How the best so far improved.
    """

    directory: Path
    facts: Json
    setting: Json = field(default_factory=dict)
    returns: Mapping[int, float] = field(default_factory=dict)
    curve: Curve = ()

    @property
    def task(self) -> tuple[str, dict[str, Any]]:
        """What was solved: runs of the same task are compared."""
        own = {name: value for name, value in self.setting.items() if name != "held_out_variants"}
        return self.facts["env_id"], {**self.facts["env_kwargs"], **own}

    def as_json(self) -> dict[str, Any]:
        """The run as ``--json`` shows it."""
        return dict(self.facts)

    def against(self, other: RunLine) -> Difference | None:
        """How this run's policy differs from another's over the test seeds that both have played.

        None where they solved different tasks or one has no result.
        """
        if self.task != other.task:
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
        raise NoSuchRunError(f"{folder} is no folder; name one that holds runs.")
    return sorted(_below(folder, DEEPEST))


def _below(folder: Path, levels: int) -> Iterator[Path]:
    if is_run(folder):
        yield folder
    elif levels:
        with os.scandir(folder) as entries:
            inner = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        for name in inner:
            if not name.startswith("."):
                yield from _below(folder / name, levels - 1)


def is_run(folder: Path) -> bool:
    """Whether a folder holds a run, of promptpo or of a baseline."""
    return _is_ours(folder) or is_baseline(folder)


def _is_ours(folder: Path) -> bool:
    return (folder / CONFIG).is_file() and (folder / JOURNAL).is_file()


def read_line(directory: Path) -> RunLine:
    """A run in a line, finished or not.

    Raises:
        RunError: It is no run, or cannot be read.
    """
    if _is_ours(directory):
        return _search(read_view(directory))
    run = read_baseline(directory)
    begun = {"method": run.method, "seed": run.seed, "steps": run.steps, "wall_seconds": run.seconds}
    curve: list[tuple[float, float]] = []
    for one in run.curve:  # a baseline keeps its best agent
        if one.mean_return is not None and (not curve or one.mean_return > curve[-1][1]):
            curve.append((one.steps, one.mean_return))
    try:
        line = _line(directory, run.result or {**run.task, **begun, "finished": False})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NoSuchRunError(f"{directory} is no run: there is no readable {RESULT} in it.") from error
    return replace(line, curve=tuple(curve), returns=dict(run.test_episodes()))


def _search(view: RunView) -> RunLine:
    state, config, best, ledger = view.state, view.config, view.best, view.state.ledger
    found = best and {
        "candidate": best.id,
        "origin": origin_of(state, best.id),
        "tuned": best.attempt.candidate.tuned,
    }
    begun = {
        **setting(config.task),
        "method": "promptpo",
        "model": config.model,
        "seed": config.seed,
        "best": found,
        "steps": {"total": sum(ledger.steps.values())},
        "searched_steps": state.spent.steps,
        "llm": {
            "calls": ledger.calls,
            "cost_usd": ledger.cost_usd,
            "calls_of_unknown_price": ledger.unpriced_calls,
        },
        "finished": False,
    }
    limit = {"max_episode_steps": config.task.max_episode_steps}
    line = _line(view.directory, {**(view.result or begun), **limit})
    test = state.test if view.result is not None else None
    returns: dict[int, float] = {}
    if test is not None:
        returns = counted_failures(test, Seeds().test(state.planned_test))
        returns |= {episode.seed: episode.return_ for episode in test.episodes}
    return replace(line, returns=returns, curve=tuple((float(at.steps), mean) for at, mean in view.so_far))


def _line(directory: Path, result: Json) -> RunLine:
    """A line by a result, or by what stands for it while there is none."""
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
        "written_by": written_by(result),
        "finished": result.get("finished", True),
        "best": (result.get("best") or {}).get("candidate"),
        "ci95": list(test.get("ci95") or (None, None)),
        "steps": total + program,  # of a refined program with those that it took itself
        "searched_steps": searched + program,
        "calls": int(llm.get("calls") or 0) if asked else None,
        "cost_usd": float(llm.get("cost_usd") or 0.0),
        "calls_of_unknown_price": int(llm.get("calls_of_unknown_price") or 0),
        **{name: result.get(name) for name in ("seed", "wall_seconds")},
        **{name: test.get(name) for name in ("mean_return", "success_rate")},
    }
    names = ("wrappers", "variants", "held_out_variants", "max_episode_steps")
    task = {name: result[name] for name in names if result.get(name)}
    if digest := (result.get("reward") or {}).get("digest"):
        task["reward"] = str(digest)
    return RunLine(directory, facts, task)
