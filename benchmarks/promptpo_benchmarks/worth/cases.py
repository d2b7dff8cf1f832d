"""The cases that every version of the code is run on: replayed recordings, and program search without a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from promptpo_benchmarks.runner.methods import METHODS, CellBudget, samples_of
from promptpo_benchmarks.runner.suite import SuiteTask, load_suite

RESULTS = Path(__file__).parents[2] / "results"
RECORDINGS = RESULTS / "proof" / "recordings"
RUN_STEPS = 20_000
"""Environment steps of a run, at most: seconds on one core."""

HEARD = ("promptpo", "promptpo-paper", "promptpo-anonymous", "promptpo-bare", "best-of-n")

SEARCHED = (
    "CartPole-v1", "Acrobot-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1", "LunarLander-v3",
    "Swimmer-v5", "HalfCheetah-v5", "Hopper-v5", "InvertedDoublePendulum-v5", "Taxi-v4", "MiniGrid-DoorKey-8x8-v0",
)  # fmt: skip
"""Where a policy is searched without a model."""


@dataclass(frozen=True)
class WorthCase:
    """One run.

    Attributes:
        name: Of its row.
        task: What is played.
        options: The command line without environment, step limit, model and output.
        recording: What is heard; None searches without a model.
        success: Whether the share of successful episodes counts, not the return.
    """

    name: str
    task: SuiteTask
    options: tuple[str, ...]
    recording: Path | None = None
    success: bool = False

    @property
    def kind(self) -> str:
        """Kind under which its row is counted."""
        return "recorded" if self.recording else "search"


def cases() -> list[WorthCase]:
    """All of them."""
    return [*_replay_cases(), *_search_cases()]


def _replay_cases() -> Iterator[WorthCase]:
    suite = load_suite("proof")
    for method in HEARD:
        rounds, samples = samples_of(METHODS[method], suite, CellBudget())
        options = ("--rounds", str(rounds), "-n", str(samples), "--seed", "0", *METHODS[method].options)
        for task in suite.tasks:
            path = RECORDINGS / f"{task.slug}--{method}--seed-0.jsonl.xz"
            if path.exists() and task.label != "CarRacing-v3":  # pictures: minutes a run
                success = suite.score_of(task) == "success"
                yield WorthCase(f"{task.slug}--{method}", task, options, path, success)


def _search_cases() -> Iterator[WorthCase]:
    for seed in range(3):
        for env in SEARCHED:
            options = ("--rounds", "3", "-n", "4", "--seed", str(seed))
            yield WorthCase(f"search--{env}--seed-{seed}", SuiteTask(env), options)
