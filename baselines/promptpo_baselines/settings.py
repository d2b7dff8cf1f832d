"""All that decides one training run of a baseline, as frozen values that are written to ``config.json``."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from promptpo.envs.task import Task
from promptpo.errors import NoSuchRunError, UsageError
from promptpo.files import read_json
from promptpo.run.journal import from_json
from promptpo.run.origin import save_own
from promptpo_baselines.algorithms import Algorithm

CONFIG = "config.json"
EVALUATIONS = 20
"""Evaluations on validation seeds in a run, the one before training not counted."""


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """One training run.

    Attributes:
        algorithm: Which.
        task: What is to be solved.
        steps: Most environment steps to train for; the last rollout is shortened to fit. A rest too
            short for an update is left out; the result has the number.
        seed: Decides training seeds, initial weights and sampled actions.
        hyperparameters: "default", "zoo", "ours" or a file; see `promptpo_baselines.hyperparameters.resolve`.
        n_envs: Environments stepped together; None takes the hyperparameters' number, else 1.
        eval_every: Steps between evaluations on validation seeds, each with a checkpoint; None means a
            twentieth of `steps`.
        validation_episodes: Episodes of such an evaluation.
        test_episodes: Held-out episodes for the reported number.
        threads: Threads of torch. One is fastest for small networks, and several runs on one machine
            then do not fight over its cores.
        device: Where torch computes: "cpu", "cuda" or "auto".
        language: The language model that is the policy network, as plain data; None for MLPs.
        search: Trials of other hyperparameters before the training, within `steps`; 0 makes none.
        prior: The program that the network is added to, as plain data; None for a policy from scratch.
    """

    algorithm: Algorithm
    task: Task
    steps: int
    seed: int = 0
    hyperparameters: str = "zoo"
    n_envs: int | None = None
    eval_every: int | None = None
    validation_episodes: int = 20
    test_episodes: int = 100
    threads: int = 1
    device: str = "cpu"
    search: int = 0
    language: dict[str, Any] | None = None
    prior: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        for name in ("steps", "validation_episodes", "test_episodes", "threads", "n_envs", "eval_every"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"--{name.replace('_', '-')} must be at least 1, not {value}.")
        if self.seed < 0:
            raise UsageError(f"--seed must be 0 or more, not {self.seed}.")

    @property
    def evaluate_every(self) -> int:
        """Steps between evaluations, decided."""
        return self.eval_every or max(1, self.steps // EVALUATIONS)


def save_settings(settings: TrainingSettings, directory: Path) -> None:
    """Write ``config.json``, and sign it: the run is the user's own."""
    save_own(json.dumps(asdict(settings), indent=2) + "\n", directory)


def load_settings(directory: Path) -> TrainingSettings:
    """Read what `save_settings` wrote.

    Raises:
        RunError: The directory has no readable settings.
    """
    try:
        data = read_json(directory / CONFIG)
        return TrainingSettings(**{**data, "task": from_json(Task, data["task"])})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise NoSuchRunError(
            f"{directory} is not a run of a baseline: it has no readable {CONFIG}."
        ) from error


def same_run(old: TrainingSettings, new: TrainingSettings) -> bool:
    """Whether `new` may go on with a run of `old`: all is equal but the number of steps, or how it is watched."""
    free: dict[str, Any] = {"steps": 1, "eval_every": None, "test_episodes": 1, "threads": 1, "device": "cpu"}
    return replace(old, **free) == replace(new, **free)
