"""All that decides one training run of a baseline, as frozen values that are written to ``config.json``."""

from __future__ import annotations

import json
from dataclasses import KW_ONLY, asdict, dataclass, replace
from pathlib import Path
from typing import Any

from promptpo.core.journal import from_json
from promptpo.envs.task import Task
from promptpo.errors import NoSuchRunError
from promptpo.files import read_json
from promptpo.run.origin import save_own
from promptpo_baselines.algorithms import Algorithm
from promptpo_baselines.flags import TrainingFlags

CONFIG = "config.json"
EVALUATIONS = 20
"""Evaluations on validation seeds in a run, the one before training not counted."""


@dataclass(frozen=True)
class TrainingSettings(TrainingFlags):
    """One training run; the last rollout is shortened to fit its steps.

    Attributes:
        algorithm: Which.
        task: What is to be solved.
        language: The language model that is the policy network, as plain data; None for MLPs.
        search: Trials of other hyperparameters before the training, within `steps`; 0 makes none.
        prior: The program that the network is added to, as plain data; None for a policy from scratch.
    """

    algorithm: Algorithm
    task: Task
    _: KW_ONLY
    search: int = 0
    language: dict[str, Any] | None = None
    prior: dict[str, Any] | None = None

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
