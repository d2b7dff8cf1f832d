"""The cases on which every version of the code is run: replayed recordings, and program search without a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from promptpo_benchmarks.runner.methods import METHODS, CellBudget, samples_of
from promptpo_benchmarks.runner.suite import SuiteTask, load_suite

RESULTS = Path(__file__).parents[2] / "results"
RECORDINGS = RESULTS / "proof" / "recordings"
RUN_STEPS = 20_000
"""Maximum environment steps of a run: seconds on one core."""

REPLAYED = ("promptpo", "promptpo-paper", "promptpo-anonymous", "promptpo-bare", "best-of-n")

SEARCHED = (
    "CartPole-v1", "Acrobot-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1", "LunarLander-v3",
    "Swimmer-v5", "HalfCheetah-v5", "Hopper-v5", "InvertedDoublePendulum-v5", "Taxi-v4", "MiniGrid-DoorKey-8x8-v0",
)  # fmt: skip
"""Environments in which policies are searched without a model."""


@dataclass(frozen=True)
class WorthCase:
    """One run.

    Attributes:
        name: Name of its row.
        task: The task to play.
        options: The command line without environment, step limit, model and output.
        recording: The recording to replay; None searches without a model.
        success: Whether the score is the share of successful episodes, not the return.
    """

    name: str
    task: SuiteTask
    options: tuple[str, ...]
    recording: Path | None = None
    success: bool = False

    @property
    def kind(self) -> str:
        """Kind of its row."""
        return "recorded" if self.recording else "search"


def cases() -> list[WorthCase]:
    """Return all cases."""
    return [*_replay_cases(), *_search_cases()]


def _replay_cases() -> Iterator[WorthCase]:
    suite = load_suite("proof")
    for method in REPLAYED:
        rounds, samples = samples_of(METHODS[method], suite, CellBudget())
        options = ("--rounds", str(rounds), "-n", str(samples), "--seed", "0", *METHODS[method].options)
        for task in suite.tasks:
            path = RECORDINGS / f"{task.slug}--{method}--seed-0.jsonl.xz"
            if path.exists() and task.label != "CarRacing-v3":  # images: minutes per run
                success = suite.score_of(task) == "success"
                yield WorthCase(f"{task.slug}--{method}", task, options, path, success)


def _search_cases() -> Iterator[WorthCase]:
    for seed in range(3):
        for env in SEARCHED:
            options = ("--rounds", "3", "-n", "4", "--seed", str(seed))
            yield WorthCase(f"search--{env}--seed-{seed}", SuiteTask(env), options)
