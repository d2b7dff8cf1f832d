"""PPO and TRPO beside tuning: the same environment, steps and test seeds, the library's default settings."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from cpu import cpu_seconds
from rows import Measurement, now

if TYPE_CHECKING:
    from promptpo_baselines.algorithms import Algorithm
    from promptpo.envs.task import Task

HYPERPARAMETERS = "default"


def train_baseline(
    task: Task, algorithm: Algorithm, budget: int, seed: int, test_episodes: int
) -> Measurement:
    """Train an agent of Stable-Baselines3 and test it as training left it.

    It is looked at only before and after, with one episode each, so that time is spent on training; one
    thread, as is fastest for small networks.
    """
    from contextlib import closing

    from promptpo_baselines.progress import Display
    from promptpo_baselines.settings import TrainingSettings
    from promptpo_baselines.training import train

    settings = TrainingSettings(
        algorithm=algorithm,
        task=task,
        steps=budget,
        seed=seed,
        hyperparameters=HYPERPARAMETERS,
        eval_every=budget,
        validation_episodes=1,
        test_episodes=test_episodes,
    )
    before = cpu_seconds()
    with tempfile.TemporaryDirectory() as folder, closing(Display(quiet=True)) as display:
        result = train(settings, Path(folder), resume=False, display=display)
    cpu = cpu_seconds() - before
    seconds, whole = result["train_seconds"], result["wall_seconds"]
    return Measurement(
        env=task.name,
        method=algorithm,
        budget=budget,
        seed=seed,
        before=None,
        after=result["final"]["test"]["mean_return"],
        episodes=test_episodes,
        steps=result["steps"]["train"],
        seconds=round(seconds, 2),
        cpu_seconds=round(cpu * seconds / whole, 2),
        winner=f"{HYPERPARAMETERS} hyperparameters",
        date=now(),
        versions=result["versions"],
    )
