"""Multi-seed runs: the same search with several seeds, in one folder with a summary.

The result of a single run is partly luck; several runs show how much. A second call with the same folder keeps runs that have
ended, resumes one that was cut short and starts missing ones.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.api import apply_changes, build_config, default_directory, open_display, resume_session
from promptpo.core.config import Budget, Config
from promptpo.core.journal import resume_command
from promptpo.core.returns import mean_of, quantile
from promptpo.envs.objects import EnvLike
from promptpo.errors import NoSuchRunError, RunError, UsageError
from promptpo.files import (
    FOLDER_MODE,
    Json,
    StrPath,
    create_directory,
    file_name,
    read_json,
    write_atomically,
)
from promptpo.output.observer import Observer
from promptpo.output.run_result import RunResult, load_run
from promptpo.output.runs import read_line
from promptpo.run.config_file import CONFIG, config_text, load_config
from promptpo.run.origin import check_trust, trust_notice
from promptpo.session import Session

if TYPE_CHECKING:
    from promptpo.llm.base import LLM

SEEDS, SUMMARY = "seeds.json", "summary.json"

MAX_RUNS = 1000
"""Maximum number of runs in a folder."""

MIN_INTERVAL_RUNS = 3
"""Smallest number of runs with an interval over runs."""

Z = 1.96
"""Half-width of a 95 % interval in standard errors."""

OpenObserver = Callable[[int], AbstractContextManager[Observer]]
"""Opens the observer of the run with a seed."""


@dataclass(frozen=True)
class SeedsResult:
    """Results of several runs.

    Attributes:
        directory: The folder.
        data: Content of ``summary.json``.
        runs: Results by seed; runs without a result are left out.
        interrupted: Whether Ctrl-C stopped the runs.
    """

    directory: Path
    data: Json
    runs: Mapping[int, RunResult] = field(default_factory=dict)
    interrupted: bool = False

    @property
    def mean_return(self) -> float:
        """Mean of the runs' test returns; NaN if no run has one."""
        mean = self.data["mean_return"]
        return math.nan if mean is None else float(mean)

    @property
    def best(self) -> RunResult | None:
        """The run with the best estimate on training and validation episodes, success first; None if no run has a policy."""

        def score(run: RunResult) -> tuple[float, float]:
            evidence = run.record.evidence
            return evidence.success_rate or 0.0, evidence.mean_return or 0.0

        return max((run for run in self.runs.values() if run.candidate), key=score, default=None)

    @property
    def complete(self) -> bool:
        """Whether every run has ended with a policy."""
        return all(run["finished"] and run["mean_return"] is not None for run in self.data["runs"])


def optimize_seeds(
    env_id: EnvLike,
    *,
    seeds: int = 5,
    seed: int = 0,
    out: StrPath | None = None,
    llm: Callable[[int], LLM] | None = None,
    **options: Any,
) -> SeedsResult:
    """Search with several seeds, one after the other; a second call with the same folder continues.

    ```python
    found = promptpo.optimize_seeds("CartPole-v1", seeds=5, out="runs/five", model="search")
    print(found.mean_return, found.data["ci95"], found.best.policy_path)
    ```

    Args:
        env_id: As for `optimize`.
        seeds: Number of seeds.
        seed: The first seed; the others count up.
        out: The folder; each run is in ``seed-N`` inside it. None creates one under ``runs/``.
        llm: Returns the provider for a seed, instead of `model`.
        **options: As for `optimize`; limits apply to each run.

    Raises:
        PromptPOError: One sentence that says what to do; see `promptpo.errors`.
        KeyboardInterrupt: Ctrl-C; all runs and the summary are kept.
    """
    config = build_config(env_id, seed=seed, **options)
    directory = Path(out) if out is not None else default_directory(config.task)
    watching = options.get("observer"), options.get("progress")
    found = begin_seeds(config, seeds, directory, lambda _: open_display(*watching), llm=llm)
    if found.interrupted:
        raise KeyboardInterrupt(f"all runs are kept; the same call continues them in {directory}")
    return found


def begin_seeds(
    config: Config,
    seeds: int,
    directory: Path,
    open_observer: OpenObserver,
    *,
    llm: Callable[[int], LLM] | None = None,
) -> SeedsResult:
    """Start runs with several seeds, or continue those of the folder.

    Args:
        config: Settings of all runs, with the first seed.
        seeds: Number of seeds.
        directory: The folder.
        open_observer: Opens the observer of each run.
        llm: Returns the provider for a seed.

    Raises:
        UsageError: The number is out of range, or the folder holds a single run, or runs with other settings.
    """
    if not 1 <= seeds <= MAX_RUNS:
        raise UsageError(f"seeds must be from 1 to {MAX_RUNS:,}, not {seeds}.")
    if _is_run(directory):
        raise UsageError(f"{directory} holds a single run; name another folder with --out.")
    text = config_text(config)
    if (
        is_folder_of_seeds(directory)
        and runs_in_folder(directory)
        and _read_seeds_file(directory).get("config") != text
    ):
        raise UsageError(
            f"{directory} contains runs with other settings; use the same settings, continue with {resume_command(directory)}, "
            "or name another folder with --out."
        )
    Session(config, directory / f"seed-{config.seed}", None, Observer()).check()
    create_directory(directory, FOLDER_MODE)
    content = {"seeds": list(range(config.seed, config.seed + seeds)), "config": text}
    write_atomically(directory / SEEDS, json.dumps(content, indent=2) + "\n")
    return _run_each(directory, config, open_observer, llm, {})


def resume_seeds(
    directory: Path,
    open_observer: OpenObserver,
    **changes: Any,
) -> SeedsResult:
    """Continue the runs of a folder that were cut short or are missing; with new limits, all of them.

    Args:
        directory: The folder.
        open_observer: Opens the observer of each run.
        **changes: As for `promptpo.api.apply_changes`.

    Raises:
        NoSuchRunError: No run was started there.
        UsageError: The runs were made on another machine and are not trusted.
    """
    known = runs_in_folder(directory)
    if not known:
        raise NoSuchRunError(
            f"no run was started in {directory}; start with: promptpo optimize ENV_ID --seeds N --out DIR"
        )
    base = load_config(known[0] / CONFIG)
    if changes.get("trust"):
        base = replace(base, task=replace(base.task, files=None))
    else:
        check_trust(known[0], trust_notice(base), [resume_command(directory), "--trust"])
    return _run_each(directory, base, open_observer, None, changes)


def is_folder_of_seeds(directory: Path) -> bool:
    """Whether the directory holds a multi-seed run."""
    return (directory / SEEDS).is_file()


def runs_in_folder(directory: Path) -> list[Path]:
    """The directories of the runs that were started, by seed."""
    return [path for path in _run_directories(directory).values() if _is_run(path)]


def _run_each(
    directory: Path,
    config: Config,
    open_observer: OpenObserver,
    llm: Callable[[int], LLM] | None,
    changes: Json,
) -> SeedsResult:
    """Start or continue one run after the other, and write the summary however that ends."""
    interrupted = False
    more = any(changes.get(field.name) is not None for field in fields(Budget))
    try:
        for seed, path in _run_directories(directory).items():
            if not more and _is_finished(_result(path)):
                continue
            with open_observer(seed) as observer:
                made = llm(seed) if llm is not None else None
                if _is_run(path):
                    work = resume_session(path, observer=observer, llm=made, **changes)
                else:
                    work = Session(apply_changes(replace(config, seed=seed), changes), path, made, observer)
                work.run()
            interrupted = bool(work.control.reason)
            if interrupted:
                break
    finally:
        found = summarize_seeds(directory)
        write_atomically(directory / SUMMARY, json.dumps(found.data, indent=2) + "\n")
    return replace(found, interrupted=interrupted)


def _read_seeds_file(directory: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError, LookupError, TypeError):
        found = read_json(directory / SEEDS)
        if len(found["seeds"]) <= MAX_RUNS:
            return dict(found)
    raise RunError(
        f"{directory / SEEDS} does not say which seeds the runs in this folder have; restore it from a copy."
    )


def _run_directories(directory: Path) -> dict[int, Path]:
    """Directory of each run of a folder, by seed."""
    return {seed: directory / file_name(f"seed-{seed}") for seed in _read_seeds_file(directory)["seeds"]}


def _is_run(path: Path) -> bool:
    return (path / CONFIG).exists()


def _result(path: Path) -> RunResult | None:
    """Return the result of a run; None if it is not finished or has continued since."""
    with suppress(NoSuchRunError):
        return load_run(path)
    return None


def _is_finished(run: RunResult | None) -> bool:
    """Whether a run came to its own end, instead of being cut short."""
    return run is not None and run.stop.is_final


def _interval_over_runs(rows: Sequence[Json]) -> list[float | None]:
    """Compute Student's 95 % interval of the mean over runs; one or two runs have none.

    Its standard error is no smaller than the one that the runs' test episodes imply.
    """
    known = [row for row in rows if row["mean_return"] is not None]
    means = [float(row["mean_return"]) for row in known]
    if len(means) < MIN_INTERVAL_RUNS:
        return [None, None]
    found = mean_of(means)
    ends = [row["ci95"] for row in known if None not in row["ci95"]]
    own = math.hypot(*((high - low) / 2 / Z for low, high in ends)) / len(means)
    margin = quantile(found.df) * max(found.standard_error, own)
    return [found.mean - margin, found.mean + margin]


def summarize_seeds(directory: Path) -> SeedsResult:
    """Read the results of a folder's runs so far, without writing anything.

    Raises:
        RunError: The folder holds no multi-seed run, or a run in it cannot be read.
    """
    places = _run_directories(directory)
    results = {seed: _result(path) for seed, path in places.items()}
    runs = {seed: run for seed, run in results.items() if run is not None}
    rows = []
    for seed, path in places.items():
        run = results[seed]
        facts = read_line(path).facts if run is not None else {"mean_return": None}
        own = {"seed": seed, "run": str(path), "finished": _is_finished(run)}
        rows.append({**facts, "stop_reason": run and run.stop_reason, **own})
    means = [row["mean_return"] for row in rows if row["mean_return"] is not None]
    found = SeedsResult(directory, {}, runs)
    best = found.best
    data = {
        "finished": sum(row["finished"] for row in rows),
        "mean_return": statistics.fmean(means) if means else None,
        "ci95": _interval_over_runs(rows),
        "best": best
        and {
            "seed": best.record.seed,
            "mean_return": best.record.test.mean_return,
            "policy": str(best.policy_path),
        },
        "runs": rows,
    }
    return replace(found, data=data)
