"""What ``promptpo show`` prints of the run of a baseline."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from promptpo.display.results import came_out
from promptpo.errors import UsageError
from promptpo.output.baseline_run import BaselineRun, acting_in_words, read_baseline
from promptpo.rollouts.agents import BEST_AGENT
from promptpo.telling.feedback import number
from promptpo_sandbox.text import clean_line

POINTS = 12
"""Of the curve so many points are listed."""


def baseline_overview(directory: Path, candidate: str | None = None) -> str:
    """A baseline's run in words: the task, its curve, steps and seconds, the held-out return.

    Raises:
        UsageError: A candidate is asked for.
        RunError: It cannot be read.
    """
    run = _only(directory, candidate)
    seed = "" if run.seed is None else f"  ·  seed {run.seed}"
    lines = [clean_line(f"{run.env_id}  ·  {run.method}{seed}")]
    if run.curve:
        lines.append("\nSteps of training, and the mean return then")
        lines += [f"  {point.steps:>12,.0f}  {_value(point.mean_return)}" for point in spread(run)]
    lines.append("")
    spent = ", ".join(f"{name} {count:,}" for name, count in run.steps.items() if count and name != "total")
    took = "" if run.seconds is None else f"  Seconds: {run.seconds:,.1f}."
    lines.append(clean_line(f"Steps: {spent or 'none'}.{took}"))
    return "\n".join([*lines, *_ending(run)])


def baseline_json(directory: Path, candidate: str | None = None) -> dict[str, Any]:
    """The same as a JSON value.

    Raises:
        UsageError: A candidate is asked for.
        RunError: It cannot be read.
    """
    run = _only(directory, candidate)
    return {
        "run": str(directory),
        "method": run.method,
        "env_id": run.env_id,
        "seed": run.seed,
        "finished": run.result is not None,
        "result": run.result,
        "steps": dict(run.steps),
        "wall_seconds": run.seconds,
        "curve": [
            {
                "steps": point.steps,
                "mean_return": point.mean_return,
                "train_mean_return": point.train_mean_return,
                "wall_seconds": point.seconds,
            }
            for point in run.curve
        ],
    }


def spread(run: BaselineRun, most: int = POINTS) -> list[Any]:
    """Points of a curve, evenly chosen, the last among them."""
    last = len(run.curve) - 1
    places = sorted({round(n * last / max(1, most - 1)) for n in range(most)}) if run.curve else []
    return [run.curve[place] for place in places]


def _only(directory: Path, candidate: str | None) -> BaselineRun:
    if candidate:
        raise UsageError(f"{directory} is the run of a baseline, which has an agent and no candidates.")
    return read_baseline(directory)


def _value(mean: float | None) -> str:
    return "-" if mean is None else number(mean)


def _refined(result: Mapping[str, Any]) -> list[str]:
    """What a network brought that was added to a program, or learnt from it."""
    alone, best = ((result.get(part) or {}) for part in ("program", "validation"))
    before, after = (alone.get("validation") or {}).get("mean_return"), best.get("mean_return")
    if before is None or after is None:
        return []
    network = result.get("residual") or {}
    how = "the network, which acts alone," if network.get("alone") else "with the network"
    end = f"{how} {number(after)}" if network.get("kept") else "and no network was better"
    return [f"The program alone has {number(before)} on validation episodes, {end}."]


def _ending(run: BaselineRun) -> list[str]:
    if run.result is None:
        return [
            "Not finished; the command that began it goes on with it (--resume for ppo, trpo, sac, tqc and crossq)."
        ]
    result, test = run.result, run.result.get("test") or {}
    lines = [clean_line(f"Stopped: {result['stop_reason']}.")] if result.get("stop_reason") else []
    if test.get("mean_return") is None:
        return [*lines, "Nothing was tested."]
    best = (result.get("best") or {}).get("steps")
    lines += [f"Of the agent after {best:,} steps, the best on validation seeds:"] if best else []
    lines += came_out(result, run.directory)
    lines += [clean_line(line) for line in acting_in_words(result)]
    lines += _refined(result)
    agent = run.directory / BEST_AGENT
    if agent.is_file():
        command = f"promptpo evaluate {shlex.quote(str(agent))} --env {shlex.quote(run.env_id)}"
        lines.append(clean_line(f"Play it, which loads the agent: {command}"))
    return lines
