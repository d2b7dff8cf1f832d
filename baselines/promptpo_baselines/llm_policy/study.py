"""What pretraining contributes: a language model, the same with random weights, and an MLP, all else equal."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from promptpo.output.report import versions, write_atomically
from promptpo.run.records import mean_interval
from promptpo_baselines.checkpoints import Checkpoints
from promptpo_baselines.llm_policy.episodes import write_episodes
from promptpo_baselines.progress import Display
from promptpo_baselines.settings import TrainingSettings
from promptpo_baselines.training import train

STUDY = "study.json"


def run_study(
    base: TrainingSettings,
    directory: Path,
    *,
    networks: Sequence[str],
    seeds: Sequence[int],
    display: Display,
    max_seconds: float | None = None,
) -> dict[str, Any] | None:
    """Train every network with every seed and write ``study.json``, ``episodes.csv`` and ``episodes.png``.

    Args:
        base: TrainingSettings of all runs; seed and network are replaced.
        directory: Of the study; one run directory for each network and seed goes into it.
        networks: What to compare.
        seeds: Of the runs of each.
        display: Told what the runs do.
        max_seconds: Of this piece of the study; the same call goes on with it.

    Returns:
        The content of ``study.json``; None where the time of this piece was over before the study.
    """
    runs = []
    ends = None if max_seconds is None else time.monotonic() + max_seconds
    for seed in seeds:
        for network in networks:
            design = {**(base.language or {}), "network": network, "seed": seed}
            settings = replace(base, seed=seed, language=design)
            display.line(f"{network}, seed {seed}")
            command = f"promptpo lab llm-study {base.task.env_id}"
            folder = directory / network / f"seed-{seed}"
            result = train(
                settings, folder, resume=True, display=display, command=command,
                max_seconds=None if ends is None else max(0.0, ends - time.monotonic()),
            )  # fmt: skip
            if "test" not in result:
                return None
            runs.append(_row(network, seed, result, _episodes(folder)))
    study = {
        "env_id": base.task.env_id,
        "algorithm": base.algorithm,
        "steps": base.steps,
        "seeds": len(seeds),
        "design": base.language,
        "networks": [_summary(network, [r for r in runs if r["network"] == network]) for network in networks],
        "runs": runs,
        "versions": versions(),
    }
    write_atomically(directory / STUDY, json.dumps(study, indent=2) + "\n")
    write_episodes(directory, study)
    return study


def _episodes(folder: Path) -> list[tuple[int, float]]:
    """(steps of the run when it ended, return) of every training episode."""
    checkpoints = Checkpoints(folder)
    latest = checkpoints.latest()
    return [(steps, return_) for steps, return_, _ in checkpoints.read(latest).episodes] if latest else []


def _row(
    network: str, seed: int, result: Mapping[str, Any], episodes: Sequence[tuple[int, float]]
) -> dict[str, Any]:
    return {
        "network": network,
        "seed": seed,
        "untrained": result["curve"][0]["mean_return"],
        "best_test": result["test"]["mean_return"],
        "final_test": result["final"]["test"]["mean_return"],
        "curve": [(point["steps"], point["mean_return"]) for point in result["curve"]],
        "episodes": [list(episode) for episode in episodes],
        "trainable_parameters": result["network"]["trainable_parameters"],
        "steps_per_second": result["steps_per_second"],
    }


def _summary(network: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Means over seeds; the interval is a bootstrap over seeds, so with few of them it is a rough one."""
    finals = [row["final_test"] for row in rows]
    return {
        "network": network,
        "trainable_parameters": rows[0]["trainable_parameters"],
        "untrained": statistics.fmean(row["untrained"] for row in rows),
        "best_test": statistics.fmean(row["best_test"] for row in rows),
        "final_test": statistics.fmean(finals),
        "final_ci95": list(mean_interval(finals)),
        "steps_per_second": statistics.fmean(row["steps_per_second"] for row in rows),
    }


def table(study: Mapping[str, Any]) -> str:
    """The study as text, one line for each network."""
    lines = [
        f"{study['algorithm'].upper()} on {study['env_id']}, {study['steps']} steps, {study['seeds']} seed{'s' if study['seeds'] > 1 else ''}; held-out mean returns",
        "network      trainable   untrained   best by validation   final [95 % over seeds]      steps/s",
    ]
    for row in study["networks"]:
        low, high = row["final_ci95"]
        several = study["seeds"] > 1  # of one seed there is no interval
        interval = f"{row['final_test']:.1f}" + (f" [{low:.1f}, {high:.1f}]" if several else "")
        lines.append(
            f"{row['network']:<12}{row['trainable_parameters']:>10}  {row['untrained']:>10.1f}   "
            f"{row['best_test']:>18.1f}   {interval:<26}{row['steps_per_second']:>9.1f}"
        )
    return "\n".join(lines)
