"""The contribution of pretraining: a language model, the same with random weights, and an MLP, all else equal.

`python benchmarks/results/baselines/llm_study.py ENV [--networks pretrained,random,mlp] [--seeds 543,100] [--out DIR] ...`
trains each with each seed; all other words are those of `promptpo baseline llm-policy`. Complete runs are not run again, so the
same command goes on. It writes study.json, episodes.csv and episodes.png.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from episodes import write_episodes
from promptpo.output.report import versions, write_atomically
from promptpo.output.report.scores import bootstrap_interval
from promptpo_baselines.checkpoints import Checkpoints

STUDY = "study.json"


def run_study(
    words: Sequence[str], directory: Path, *, networks: Sequence[str], seeds: Sequence[int]
) -> dict[str, Any]:
    """Train every network with every seed and write ``study.json``, ``episodes.csv`` and ``episodes.png``.

    Args:
        words: Of `promptpo baseline llm-policy`, the environment first.
        directory: Of the study; one run directory for each network and seed goes into it.
        networks: What to compare.
        seeds: Of the runs of each.
    """
    runs = []
    for seed in seeds:
        for network in networks:
            folder = directory / network / f"seed-{seed}"
            command = [sys.executable, "-m", "promptpo", "baseline", "llm-policy", *words]
            command += ["--network", network, "--seed", str(seed), "--out", str(folder), "--resume"]
            subprocess.run(command, check=True)
            result = json.loads((folder / "result.json").read_text())
            runs.append(_row(network, seed, result, _episodes(folder)))
    study = {
        "env_id": result["env_id"],
        "algorithm": result["algorithm"],
        "steps": result["steps"]["train"],
        "seeds": len(seeds),
        "design": result["network"]["language"],
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
        "final_ci95": list(bootstrap_interval(finals)),
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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default="pretrained,random,mlp")
    parser.add_argument("--seeds", default="0,1,2", help="with commas between them")
    parser.add_argument("--out", type=Path, default=Path("runs/llm-study"))
    given, others = parser.parse_known_args()
    chosen = [int(seed) for seed in given.seeds.split(",")]
    print(table(run_study(others, given.out, networks=given.networks.split(","), seeds=chosen)))
