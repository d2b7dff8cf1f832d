"""Eureka's comparison: a learner on a reward that a language model wrote against the same on the environment's own.

`python benchmarks/results/goals/study` trains PPO on both, with the same hyperparameters, steps and seeds, and judges both by what
the environment itself gives on held-out seeds, and by what the written program calls success. Rewards are one-shot
answers to the prompt by which ``--goal`` begins (see `benchmarks.goals.rewards`). Complete runs in ``--out`` are not
run again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rewards import ANSWERS, GOALS, program_for, prompt_for
from promptpo_benchmarks.measuring.tables import align_columns, markdown
from promptpo_benchmarks.measuring.commands import run_command
from promptpo.envs.task import Task
from promptpo.output.report import write_atomically
from promptpo.core.candidate import Seeds
from promptpo.output.report.scores import bootstrap_interval

COMMAND = "python benchmarks/results/goals/study"
HEADER = (
    "environment",
    "trained on",
    "steps",
    "environment's own return [95 %]",
    "each seed",
    "success",
    "steps/s",
)

OWN, WRITTEN = "its own reward", "the written reward"
JUDGED = "judged.json"
"""In a run: what its best agent does on held-out seeds, by both rewards."""

VALIDATION, EVALUATIONS = 5, 5
"""Episodes of a look at validation seeds, and looks in a training."""


@dataclass(frozen=True, slots=True)
class RewardRow:
    """One line of the table.

    Attributes:
        env_id: Environment.
        trained_on: Which reward.
        steps: Training steps of one run.
        returns: The environment's own mean return on held-out seeds, of each run.
        episodes: The same of each episode of all runs.
        success: Share of held-out episodes that the written program calls a success; None where it says nothing.
        rate: Training steps per second.
    """

    env_id: str
    trained_on: str
    steps: int
    returns: tuple[float, ...]
    episodes: tuple[float, ...]
    success: float | None
    rate: float

    def cells(self) -> tuple[str, ...]:
        """The line as text."""
        low, high = bootstrap_interval(self.returns if len(self.returns) >= 3 else self.episodes)
        return (
            self.env_id,
            self.trained_on,
            f"{self.steps:,}",
            f"{statistics.fmean(self.returns):.1f} [{low:.1f}, {high:.1f}]",
            ", ".join(f"{value:.1f}" for value in self.returns),
            "not told" if self.success is None else f"{self.success:.0%}",
            f"{self.rate:.0f}",
        )


def row(
    env_id: str, trained_on: str, runs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]
) -> RewardRow:
    """One line from the runs of all seeds.

    Args:
        env_id: Environment.
        trained_on: Which reward.
        runs: Of each the content of ``result.json``, and of `JUDGED`.
    """
    said = [judged["success_rate"] for _, judged in runs if judged["success_rate"] is not None]
    return RewardRow(
        env_id,
        trained_on,
        max(result["steps"]["train"] for result, _ in runs),
        tuple(statistics.fmean(judged["env_returns"]) for _, judged in runs),
        tuple(value for _, judged in runs for value in judged["env_returns"]),
        statistics.fmean(said) if said else None,
        statistics.fmean(result["steps_per_second"] for result, _ in runs),
    )


def measure(options: argparse.Namespace) -> list[RewardRow]:
    """Train, or read, every cell of the table."""
    rows = []
    for env_id in options.envs.split(","):
        goal, steps = GOALS.get(env_id, ("", 50_000))
        written = program_for(env_id, options.goal or goal, options.answers, options.model)
        task, folder = Task(env_id), options.out / env_id.replace("/", "-")
        rewarded = replace(task, reward=written)
        for trained_on, each in ((OWN, task), (WRITTEN, rewarded)):
            name = "own" if each is task else f"written-{written.digest[:8]}"
            runs = [
                _run(each, rewarded, options.steps or steps, seed, folder / name / f"seed-{seed}", options)
                for seed in range(options.seeds)
            ]
            rows.append(row(env_id, trained_on, runs))
    return rows


def _run(
    task: Task, rewarded: Task, steps: int, seed: int, folder: Path, options: argparse.Namespace
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """One training, and its best agent on held-out seeds by both rewards; each once."""
    from contextlib import closing

    from promptpo_baselines.progress import Display
    from promptpo_baselines.settings import TrainingSettings
    from promptpo_baselines.training import train
    from promptpo.output.evaluating import evaluate

    settings = TrainingSettings(
        algorithm="ppo",
        task=task,
        steps=steps,
        seed=seed,
        hyperparameters=options.hyperparams,
        eval_every=max(1, steps // EVALUATIONS),
        validation_episodes=VALIDATION,
        test_episodes=options.test_episodes,
    )
    with closing(Display(quiet=options.quiet)) as display:
        result = train(settings, folder, resume=True, display=display)
    file = folder / JUDGED
    if not file.exists():
        first = Seeds().test(1)[0]
        agent = folder / "best_model.zip"
        played = evaluate(agent, rewarded, episodes=options.test_episodes, seed=first).evaluation
        content = {
            "returns": played.returns,
            "env_returns": [episode.env_return for episode in played.episodes],
            "success_rate": played.success_rate,
        }
        write_atomically(file, json.dumps(content))
    return result, json.loads(file.read_text(encoding="utf-8"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, or the prompts."""
    parser = argparse.ArgumentParser(
        prog=COMMAND, description="PPO on a written reward and on the environment's own."
    )
    parser.add_argument(
        "--envs", default=",".join(GOALS), help="separated by commas (default: three classic ones)"
    )
    parser.add_argument("--goal", default="", help="the sentence, for one environment that has none here")
    parser.add_argument(
        "--answers", type=Path, default=ANSWERS, help="folder of prompts and answers, ENV_ID.md each"
    )
    parser.add_argument(
        "--model", default="", help="who writes a reward that has no answer there, as for optimize"
    )
    parser.add_argument("--prompts", action="store_true", help="print the prompts, and train nothing")
    parser.add_argument(
        "--steps", type=int, default=0, help="training steps of a run (default: by environment)"
    )
    parser.add_argument("--seeds", type=int, default=3, help="runs of a cell, from seed 0 on (default: 3)")
    parser.add_argument("--hyperparams", default="zoo", help="zoo, ours, default, or a file (default: zoo)")
    parser.add_argument("--test-episodes", type=int, default=20, help="held-out episodes (default: 20)")
    parser.add_argument("--out", type=Path, default=Path("runs/goals"), help="where runs are kept")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--quiet", action="store_true", help="print the table only")
    options = parser.parse_args(arguments)
    if options.prompts:
        for env_id in options.envs.split(","):
            print(prompt_for(env_id, options.goal or GOALS.get(env_id, ("", 0))[0]).text)
        return
    cells = [each.cells() for each in measure(options)]
    print(markdown(HEADER, cells) if options.markdown else align_columns(HEADER, cells))


if __name__ == "__main__":
    sys.exit(run_command(main))
