"""The settings of a training run of a baseline, as frozen values that are written to ``config.json``."""

from __future__ import annotations

import json
from dataclasses import KW_ONLY, asdict, dataclass, replace
from pathlib import Path
from typing import Any

from promptpo.core.budget import ALLOTMENTS
from promptpo.core.journal import from_json
from promptpo.envs.task import Task
from promptpo.errors import NoSuchRunError
from promptpo.files import read_json
from promptpo.run.episodes import SHORT_EPISODE
from promptpo.run.origin import save_own
from promptpo_baselines.algorithms import Algorithm
from promptpo_baselines.flags import TrainingFlags

CONFIG = "config.json"
VALIDATION = ALLOTMENTS["validation"]
EVALUATIONS, FEWEST_EVALUATIONS = 20, 4
"""Maximum number of evaluations, besides the one before training; and minimum, for episodes of full length."""


@dataclass(frozen=True)
class TrainingSettings(TrainingFlags):
    """Settings of one training run; the last rollout is shortened to fit its steps.

    Attributes:
        algorithm: The RL algorithm.
        task: The task to be solved.
        language: The language model that is the policy network, as plain data; None for MLPs.
        search: Number of trials of other hyperparameters before the training, within `steps`.
        prior: The program that the network is added to, as plain data; None for a policy from scratch.
    """

    algorithm: Algorithm
    task: Task
    _: KW_ONLY
    search: int = 0
    language: dict[str, Any] | None = None
    prior: dict[str, Any] | None = None

    @property
    def training_steps(self) -> int:
        """Steps left for training after validation's share, which is that of a search."""
        return self.steps - int(VALIDATION.share * self.steps)

    def next_evaluation(self, steps: int, spent: int, last: int) -> int:
        """Return the training steps at which the next evaluation is due, so that evaluations keep to validation's share.

        Args:
            steps: Training steps at the last evaluation.
            spent: Steps of all evaluations so far.
            last: Steps of the last evaluation.
        """
        if self.eval_every is not None:
            return steps + self.eval_every
        paid = (spent + last) * (1 - VALIDATION.share) / VALIDATION.share
        return max(steps + max(1, self.training_steps // EVALUATIONS), int(paid))

    def episodes_per_evaluation(self, horizon: int | None) -> int:
        """Return the number of validation episodes, few enough that their share pays for several evaluations.

        Args:
            horizon: Maximum episode length; None if unknown.
        """
        each = FEWEST_EVALUATIONS * (horizon or SHORT_EPISODE)
        fit = int(VALIDATION.share * self.steps) // each
        return self.validation_episodes or max(1, min(VALIDATION.cap, fit))


def save_settings(settings: TrainingSettings, directory: Path) -> None:
    """Write ``config.json`` and sign it, since the run is the user's own."""
    save_own(json.dumps(asdict(settings), indent=2) + "\n", directory)


def load_settings(directory: Path) -> TrainingSettings:
    """Load the settings that `save_settings` wrote.

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
    """Whether `new` may continue a run of `old`: all is equal except the number of steps and how it is evaluated."""
    free: dict[str, Any] = {"steps": 1, "eval_every": None, "validation_episodes": None, "test_episodes": 1}
    free |= {"threads": 1, "device": "cpu"}
    return replace(old, **free) == replace(new, **free)
