"""The table of the baselines: what each algorithm reaches, with which hyperparameters, how fast.

`python benchmarks/results/baselines/study.py` trains PPO and TRPO on the classic tasks, with tuned hyperparameters and with
the library's defaults, and prints environment, algorithm, hyperparameters, steps, held-out return with
interval, wall seconds and steps per second. Complete runs in ``--out`` are not run again, so the command
can be interrupted, extended, and used to print the table of what is there.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from promptpo_benchmarks.measuring.tables import align_columns
from promptpo_benchmarks.measuring.commands import run_command
from promptpo.envs.task import Task
from promptpo.output.report.scores import bootstrap_interval

CLASSIC = "CartPole-v1,Acrobot-v1,MountainCar-v0,Pendulum-v1"
HEADER = (
    "environment", "algorithm", "hyperparameters", "steps", "return [95 %]", "random", "wall s", "steps/s",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class BaselineRow:
    """One line of the table.

    Attributes:
        env_id: Environment.
        algorithm: Of the baseline.
        hyperparameters: "zoo", "ours" or "default", or a file.
        steps: Training steps of one run, the most of all seeds.
        mean: Mean of the held-out returns, over seeds.
        interval: 95 % bootstrap interval: over seeds where there are at least three, else over episodes.
        random: Mean held-out return of random actions.
        seconds: Mean wall time of a run, evaluations and tests included.
        rate: Mean training steps per second.
    """

    env_id: str
    algorithm: str
    hyperparameters: str
    steps: int
    mean: float
    interval: tuple[float, float]
    random: float
    seconds: float
    rate: float

    def cells(self) -> tuple[str, ...]:
        """The line as text."""
        low, high = self.interval
        return (
            self.env_id,
            self.algorithm,
            self.hyperparameters,
            f"{self.steps:,}",
            f"{self.mean:.1f} [{low:.1f}, {high:.1f}]",
            f"{self.random:.1f}",
            f"{self.seconds:.0f}",
            f"{self.rate:.0f}",
        )


def summarise(name: str, results: Sequence[Mapping[str, Any]], random: Mapping[str, Any]) -> BaselineRow:
    """One line from the results of all seeds.

    Args:
        name: Of the hyperparameters.
        results: Contents of ``result.json``.
        random: That of random actions.
    """
    means = [result["test"]["mean_return"] for result in results]
    episodes = [value for result in results for value in result["test"]["returns"]]
    return BaselineRow(
        env_id=results[0]["env_id"],
        algorithm=results[0]["method"],
        hyperparameters=name,
        steps=max(result["steps"]["train"] for result in results),
        mean=statistics.fmean(means),
        interval=bootstrap_interval(means if len(means) >= 3 else episodes),
        random=random["test"]["mean_return"],
        seconds=statistics.fmean(result["wall_seconds"] for result in results),
        rate=statistics.fmean(result["steps_per_second"] for result in results),
    )


def measure(options: argparse.Namespace) -> list[BaselineRow]:
    """Train, or read, every cell of the table."""
    from contextlib import closing

    from promptpo_baselines.fixed import run_fixed
    from promptpo_baselines.flags import ScoringFlags
    from promptpo_baselines.progress import Display
    from promptpo_baselines.settings import TrainingSettings
    from promptpo_baselines.training import train

    rows = []
    for env_id in options.envs.split(","):
        task, root = Task(env_id), options.out / env_id.replace("/", "-")
        random = run_fixed(
            "random",
            task,
            root / "random",
            ScoringFlags(seed=0, validation_episodes=1, test_episodes=options.test_episodes),
            resume=True,
        )
        for algorithm, name in itertools.product(
            options.algorithms.split(","), options.hyperparams.split(",")
        ):
            results = []
            for seed in range(options.seeds):
                settings = TrainingSettings(
                    algorithm=algorithm,
                    task=task,
                    steps=options.steps + options.steps // 4,  # a fifth is for validation
                    seed=seed,
                    hyperparameters=name,
                    test_episodes=options.test_episodes,
                )
                folder = root / f"{algorithm}-{Path(name).stem}" / f"seed-{seed}"
                with closing(Display(quiet=options.quiet)) as display:
                    results.append(train(settings, folder, resume=True, display=display))
            rows.append(summarise(name, results, random))
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="What the baselines reach, and how fast.")
    parser.add_argument("--envs", default=CLASSIC, help="separated by commas (default: the classic tasks)")
    parser.add_argument(
        "--algorithms", default="ppo,trpo", help="of ppo, trpo, sac, tqc, crossq (default: ppo,trpo)"
    )
    parser.add_argument(
        "--hyperparams", default="zoo,default", help="of zoo, ours, default, files (default: both)"
    )
    parser.add_argument(
        "--steps", type=int, default=100_000, help="training steps of a run (default: 100000)"
    )
    parser.add_argument("--seeds", type=int, default=1, help="runs of a cell, from seed 0 on (default: 1)")
    parser.add_argument("--test-episodes", type=int, default=100, help="held-out episodes (default: 100)")
    parser.add_argument("--out", type=Path, default=Path("runs/baselines"), help="where runs are kept")
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    parser.add_argument("--quiet", action="store_true", help="print the table only")
    options = parser.parse_args(arguments)
    rows = measure(options)
    if options.json:
        fields = BaselineRow.__dataclass_fields__
        print(json.dumps([{name: getattr(row, name) for name in fields} for row in rows], indent=2))
    else:
        print(align_columns(HEADER, [row.cells() for row in rows]))


if __name__ == "__main__":
    sys.exit(run_command(main))
