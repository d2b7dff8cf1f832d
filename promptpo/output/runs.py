"""Many runs beside each other: found in a folder, told in one line each, compared in pairs.

A run is here what promptpo works on, or what a baseline left or works on (see `promptpo.output.baseline_run`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from promptpo.errors import NoSuchRunError
from promptpo.llm.choose import SEARCH
from promptpo.output.baseline_run import is_baseline, read_baseline
from promptpo.output.report.result import RESULT, setting, written_by
from promptpo.output.run_view import read_view
from promptpo.rollouts.evaluation import Evaluation
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
        env_id: The environment.
        env_kwargs: As given to Gymnasium.
        horizon: Longest episode where one was asked for; None where the environment decides, or it is not recorded.
        method: "promptpo", "search", or a baseline's name.
        model: Who was asked for policies; empty where nobody was.
        writer: Who wrote the best one: the model, or the run's user.
        seed: As given; None where it is not recorded.
        finished: Whether there is a result.
        best: The best candidate; empty where there is none.
        mean_return: Held-out; None while there is none.
        ci95: Its 95 % interval.
        success_rate: Held-out; None where the environment does not report success.
        returns: Held-out return by test seed; an episode in which the policy failed counts like its worst.
        steps: All environment steps; of a refined program with those that it took itself.
        searched_steps: Those before the final test.
        calls: Of the language model; None where none was asked.
        usd: What they cost, as far as known.
        unpriced: Calls whose price is not known.
        seconds: Wall time; None while the run is not finished.
        curve: How the best so far improved.
        setting: Wrappers and variants, as ``result.json`` has them, and the digest of the reward program.
    """

    directory: Path
    env_id: str
    env_kwargs: Mapping[str, Any]
    horizon: int | None
    method: str
    model: str
    seed: int | None
    finished: bool
    best: str
    mean_return: float | None
    ci95: tuple[float | None, float | None]
    success_rate: float | None
    returns: Mapping[int, float]
    steps: int
    searched_steps: int
    calls: int | None
    usd: float
    seconds: float | None
    curve: Curve
    setting: Mapping[str, Any] = field(default_factory=dict)
    unpriced: int = 0
    writer: str = ""

    @property
    def task(self) -> tuple[str, dict[str, Any]]:
        """What was solved: runs of the same task are compared."""
        limit = {"max_episode_steps": self.horizon} if self.horizon else {}
        own = {name: value for name, value in self.setting.items() if name != "held_out_variants"}
        return self.env_id, {**self.env_kwargs, **own, **limit}

    def as_json(self) -> dict[str, Any]:
        """The run as ``--json`` shows it."""
        return {
            "run": str(self.directory),
            "env_id": self.env_id,
            "env_kwargs": dict(self.env_kwargs),
            "method": self.method,
            "model": self.model,
            "written_by": self.writer,
            "seed": self.seed,
            "finished": self.finished,
            "best": self.best or None,
            "mean_return": self.mean_return,
            "ci95": list(self.ci95),
            "success_rate": self.success_rate,
            "steps": self.steps,
            "searched_steps": self.searched_steps,
            "calls": self.calls,
            "cost_usd": self.usd,
            "calls_of_unknown_price": self.unpriced,
            "wall_seconds": self.seconds,
        }

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
    if not _is_ours(directory):
        run = read_baseline(directory)
        curve = _improvements(
            [(one.steps, one.mean_return) for one in run.curve if one.mean_return is not None]
        )
        begun = {
            **run.task,
            "method": run.method,
            "seed": run.seed,
            "steps": run.steps,
            "wall_seconds": run.seconds,
        }
        try:
            return _line(directory, run.result or {**begun, "finished": False}, curve)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise NoSuchRunError(f"{directory} is no run: there is no readable {RESULT} in it.") from error
    view = read_view(directory)
    state, config, best = view.state, view.config, view.best
    curve = tuple((float(spent.steps), mean) for spent, mean in view.so_far)
    llm = {"calls": state.ledger.calls, "cost_usd": state.ledger.cost_usd}
    begun = {
        **setting(config.task),
        "method": "promptpo",
        "model": config.model,
        "seed": config.seed,
        "best": best
        and {
            "candidate": best.id,
            "origin": origin_of(state, best.id),
            "tuned": best.attempt.candidate.tuned,
        },
        "steps": {"total": sum(state.ledger.steps.values())},
        "searched_steps": state.spent.steps,
        "llm": {**llm, "calls_of_unknown_price": state.ledger.unpriced_calls},
        "finished": False,
    }
    line = _line(directory, view.result or begun, curve)
    tested = _tested(state.test, state.planned_test) if line.finished else {}
    return replace(line, horizon=config.task.max_episode_steps, returns=tested)


def _tested(test: Evaluation | None, episodes: int) -> Mapping[int, float]:
    """Returns of a run's test by seed; seeds whose episode did not finish have the worst of the others."""
    if test is None or not test.episodes:
        return {}
    return dict.fromkeys(Seeds().test(episodes), min(test.returns)) | {
        e.seed: e.return_ for e in test.episodes
    }


def _by_seed(returns: Sequence[float | None]) -> Mapping[int, float]:
    """Returns in the order of the test seeds, as every result lists them, by seed; NaN is left out."""
    seeds = Seeds().test(len(returns))
    return {seed: value for seed, value in zip(seeds, returns, strict=True) if value is not None}


def _improvements(points: Sequence[tuple[float, float]]) -> Curve:
    """The points at which a curve is higher than ever before: a baseline keeps its best agent too."""
    found: list[tuple[float, float]] = []
    for steps, value in points:
        if not found or value > found[-1][1]:
            found.append((float(steps), float(value)))
    return tuple(found)


def _line(directory: Path, result: Mapping[str, Any], curve: Curve) -> RunLine:
    """A line by a result, or by what stands for it while there is none."""
    test, llm, steps = result.get("test") or {}, result.get("llm") or {}, result.get("steps") or {}
    total, program = int(steps.get("total") or 0), int(steps.get("program") or 0)
    searched = result.get("searched_steps", total - int(steps.get("test") or 0))
    return RunLine(
        directory=directory,
        env_id=result["env_id"],
        env_kwargs=result.get("env_kwargs") or {},
        horizon=result.get("max_episode_steps"),
        method=result.get("method") or "",
        model=result.get("model") or "",
        writer=written_by(result),
        seed=result.get("seed"),
        finished=result.get("finished", True),
        best=str((result.get("best") or {}).get("candidate") or ""),
        mean_return=test.get("mean_return"),
        ci95=tuple(test.get("ci95") or (None, None)),
        success_rate=test.get("success_rate"),
        returns=_by_seed(test.get("returns") or ()),
        steps=total + program,
        searched_steps=int(searched) + program,
        calls=_calls(result.get("model"), int(llm.get("calls") or 0)),
        usd=float(llm.get("cost_usd") or 0.0),
        seconds=result.get("wall_seconds"),
        curve=curve,
        setting=_setting(result),
        unpriced=int(llm.get("calls_of_unknown_price") or 0),
    )


def _calls(model: str | None, made: int) -> int | None:
    return None if model in {None, "", SEARCH} else made


def _setting(result: Mapping[str, Any]) -> dict[str, Any]:
    """What of a result, beyond the arguments, says which task was solved."""
    found = {key: result[key] for key in ("wrappers", "variants", "held_out_variants") if result.get(key)}
    reward = result.get("reward")
    digest = reward.get("digest") if isinstance(reward, Mapping) else None
    return {**found, "reward": str(digest)} if digest else found
