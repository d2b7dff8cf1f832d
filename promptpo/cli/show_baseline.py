"""What ``promptpo show`` prints of the run of a baseline."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

from promptpo.display.outcome import came_out, spent_steps
from promptpo.files import Json
from promptpo.output.baseline_run import BaselineRun, acting_in_words, read_baseline
from promptpo.rollouts.agents import BEST_AGENT
from promptpo.telling.feedback import number
from promptpo_sandbox.text import clean_lines

POINTS = 12
"""Of the curve so many points are listed."""


def baseline_overview(directory: Path) -> str:
    """A baseline's run in words: the task, its curve, steps and seconds, the held-out return.

    Raises:
        RunError: It cannot be read.
    """
    run = read_baseline(directory)
    told, last = run.content, len(run.curve) - 1
    head = [told["env_id"], told.get("method"), None if told.get("seed") is None else f"seed {told['seed']}"]
    lines = ["  ·  ".join(map(str, filter(None, head)))]
    if run.curve:
        lines += ["", "Steps of training, and the mean return then"]
    for at in sorted({round(n * last / (POINTS - 1)) for n in range(POINTS)} if run.curve else ()):
        point = run.curve[at]
        mean = "-" if point.mean_return is None else number(point.mean_return)
        lines.append(f"  {point.steps:>12,.0f}  {mean}")
    seconds = told.get("wall_seconds")
    took = "" if seconds is None else f"  Seconds: {seconds:,.1f}."
    return clean_lines(*lines, "", f"Steps: {spent_steps(told['steps'])}.{took}", *_ending(run))


def baseline_json(directory: Path) -> dict[str, Any]:
    """The same as a JSON value.

    Raises:
        RunError: It cannot be read.
    """
    run = read_baseline(directory)
    return {
        "run": str(directory),
        **{name: run.content.get(name) for name in ("method", "env_id", "seed", "steps", "wall_seconds")},
        "finished": run.finished,
        "result": run.result,
        "curve": [asdict(point) for point in run.curve],
    }


def _refined(result: Json) -> list[str]:
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
    lines = [f"Stopped: {result['stop_reason']}."] if result.get("stop_reason") else []
    if test.get("mean_return") is None:
        return [*lines, "Nothing was tested."]
    best = (result.get("best") or {}).get("steps")
    lines += [f"Of the agent after {best:,} steps, the best on validation seeds:"] if best else []
    lines += [*came_out(result, run.directory), *acting_in_words(result), *_refined(result)]
    agent = run.directory / BEST_AGENT
    if agent.is_file():
        command = f"promptpo evaluate {shlex.quote(str(agent))} --env {shlex.quote(result['env_id'])}"
        lines.append(f"Play it, which loads the agent: {command}")
    return lines
