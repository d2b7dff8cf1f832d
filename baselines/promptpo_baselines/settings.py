"""All that decides one training run of a baseline, as frozen values that are written to ``config.json``."""

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
"""Most evaluations of a run, the one before training not counted; and so many, if episodes are as long as they can be."""


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
    def training_steps(self) -> int:
        """Steps left for training once validation has its share, which is a search's."""
        return self.steps - int(VALIDATION.share * self.steps)

    def next_evaluation(self, steps: int, spent: int, last: int) -> int:
        """Training steps at which an evaluation is due: after so many that it is within validation's share of them.

        Args:
            steps: Training steps at the last one.
            spent: Steps of all evaluations so far.
            last: Steps of the last one.
        """
        if self.eval_every is not None:
            return steps + self.eval_every
        paid = (spent + last) * (1 - VALIDATION.share) / VALIDATION.share
        return max(steps + max(1, self.training_steps // EVALUATIONS), int(paid))

    def episodes_per_evaluation(self, horizon: int | None) -> int:
        """Validation episodes, so few that their share pays for some evaluations.

        Args:
            horizon: Longest episode; None where it is not known.
        """
        each = FEWEST_EVALUATIONS * (horizon or SHORT_EPISODE)
        fit = int(VALIDATION.share * self.steps) // each
        return self.validation_episodes or max(1, min(VALIDATION.cap, fit))


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
    free: dict[str, Any] = {"steps": 1, "eval_every": None, "validation_episodes": None, "test_episodes": 1}
    free |= {"threads": 1, "device": "cpu"}
    return replace(old, **free) == replace(new, **free)
