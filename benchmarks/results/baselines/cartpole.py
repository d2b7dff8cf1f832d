"""The CartPole study: PPO whose actor has three hidden ReLU layers, mean training return per 25 episodes.

A published course report on language models as policies says that with such an actor and a softmax the
average reaches 500 by episode 350. Its widths and its other hyperparameters are not given; here they are
64 units and stable-baselines3's defaults (``cartpole-study.yml``). The return is that of
training episodes, with sampled actions, as a curve over episodes suggests.

`python benchmarks/results/baselines/cartpole.py [--seeds 5] [--steps 60000] [--out DIR]`; complete runs are not run again.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from promptpo.envs.task import Task
from promptpo.output.report import versions, write_atomically
from promptpo_baselines.checkpoints import Checkpoints
from promptpo_baselines.progress import Display
from promptpo_baselines.settings import TrainingSettings
from promptpo_baselines.training import train

BLOCK = 25
"""Training episodes that one point of the curve averages."""
CLAIMED_EPISODE = 350
CLAIMED_RETURN = 500.0
LEVELS = (475.0, 499.5, 500.0)
STUDY, CURVE = "study.json", "curve.svg"


def run_study(directory: Path, *, seeds: int, steps: int, display: Display) -> dict[str, Any]:
    """Run all seeds, or go on with them, and write the study's files.

    Args:
        directory: One run directory for each seed goes here.
        seeds: Number of runs, from seed 0 on.
        steps: Training steps of each.
        display: Told what the runs do.

    Returns:
        The content of ``study.json``.
    """
    runs = [_one(directory / f"seed-{seed}", seed, steps, display) for seed in range(seeds)]
    study = {
        "claim": f"the mean return of {BLOCK} training episodes reaches {CLAIMED_RETURN:g} by episode {CLAIMED_EPISODE}",
        "claim_met_by": sum(
            run["episode_of"]["500"] <= CLAIMED_EPISODE for run in runs if run["episode_of"]["500"]
        ),
        "seeds": seeds,
        "steps": steps,
        "runs": runs,
        "versions": versions(),
    }
    write_atomically(directory / STUDY, json.dumps(study, indent=2) + "\n")
    draw(runs, directory / CURVE)
    return study


def _one(directory: Path, seed: int, steps: int, display: Display) -> dict[str, Any]:
    settings = TrainingSettings(
        algorithm="ppo",
        task=Task("CartPole-v1"),
        steps=steps + steps // 4,  # a fifth is for validation
        seed=seed,
        hyperparameters=str(Path(__file__).with_name("cartpole-study.yml")),
    )
    result = train(settings, directory, resume=True, display=display)
    checkpoints = Checkpoints(directory)
    latest = checkpoints.latest()
    returns = [return_ for _, return_, _ in checkpoints.read(latest).episodes] if latest else []
    return {
        "seed": seed,
        "blocks": block_means(returns),
        "episodes": len(returns),
        "episode_of": {f"{level:g}": first_window(returns, level) for level in LEVELS},
        "test": {key: result["test"][key] for key in ("mean_return", "ci95", "episodes")},
        "final_test": result["final"]["test"]["mean_return"],
        "train_seconds": result["train_seconds"],
    }


def block_means(returns: Sequence[float], size: int = BLOCK) -> list[float]:
    """Means of consecutive, complete blocks of episodes."""
    return [statistics.fmean(returns[i : i + size]) for i in range(0, len(returns) - size + 1, size)]


def first_window(returns: Sequence[float], level: float, size: int = BLOCK) -> int | None:
    """The first episode, counted from 1, at which the mean of the last `size` reaches a level; None if none does."""
    for end in range(size, len(returns) + 1):
        if statistics.fmean(returns[end - size : end]) >= level:
            return end
    return None


def table(study: Mapping[str, Any]) -> str:
    """The study as text, one line for each seed."""
    claimed_block = CLAIMED_EPISODE // BLOCK
    lines = [
        f"first episode at which the mean of {BLOCK} training episodes reaches a level",
        "seed   475   499.5   500   at 350   episodes   held-out return (best, final)",
    ]
    for run in study["runs"]:
        at = run["episode_of"]
        block = run["blocks"][claimed_block - 1] if len(run["blocks"]) >= claimed_block else float("nan")
        lines.append(
            f"{run['seed']:>4}  {_or_dash(at['475'])}   {_or_dash(at['499.5'])}  {_or_dash(at['500'])}   "
            f"{block:>6.1f}   {run['episodes']:>8}   {run['test']['mean_return']:.1f}, {run['final_test']:.1f}"
        )
    lines.append(f"{study['claim']}: so in {study['claim_met_by']} of {study['seeds']} runs.")
    return "\n".join(lines)


def draw(runs: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write the curves as a picture."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4))
    for run in runs:
        episodes = [BLOCK * (n + 1) for n in range(len(run["blocks"]))]
        axes.plot(episodes, run["blocks"], label=f"seed {run['seed']}")
    axes.axvline(CLAIMED_EPISODE, color="grey", linestyle=":", label=f"episode {CLAIMED_EPISODE}")
    axes.set(xlabel="training episode", ylabel=f"mean return of {BLOCK} episodes", ylim=(0, 520))
    axes.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def _or_dash(value: int | None) -> str:
    return f"{'-' if value is None else value:>4}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=60_000)
    parser.add_argument("--out", type=Path, default=Path("runs/cartpole-study"))
    given = parser.parse_args()
    print(table(run_study(given.out, seeds=given.seeds, steps=given.steps, display=Display(quiet=False))))
