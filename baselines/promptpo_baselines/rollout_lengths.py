"""Rollouts whose lengths do not exceed the steps that were asked for.

Algorithms of stable-baselines3 collect rollouts of a fixed length and stop after the one that passes the
limit: PPO with its defaults takes 2,048 steps where 64 are asked for. Here the last rollout is shortened.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.type_aliases import TrainFreq, TrainFrequencyUnit

from promptpo.errors import UsageError

SMALLEST = 2
"""Steps that an on-policy rollout has at least: advantages are normalised, which takes two."""
WORTH_AN_UPDATE = 64
"""Steps after the last whole rollout that are learned from; a few would move the policy by their noise."""


@dataclass
class RolloutLengths:
    """The lengths of a model's rollouts, from the steps that it has taken on.

    Attributes:
        model: An algorithm of stable-baselines3 with its environments.
        full: Steps of each environment in a rollout, as the hyperparameters say.
        planned: Steps after the last rollout.
    """

    model: Any
    full: int
    planned: int

    def prepare(self) -> None:
        """Set the length of the next rollout; between rollouts, before the algorithm reads it."""
        left = (self.planned - self.model.num_timesteps) // self.model.n_envs
        length = min(self.full, left) if left > 0 else self.full
        if _is_off_policy(self.model):
            self.model.train_freq = TrainFreq(length, TrainFrequencyUnit.STEP)
        else:
            self.model.n_steps = length

    def fit_buffer(self) -> None:
        """Give the rollout buffer the length of the rollout that begins; what it held has been learned from."""
        if not _is_off_policy(self.model) and self.model.rollout_buffer.buffer_size != self.model.n_steps:
            self.model.rollout_buffer.buffer_size = self.model.n_steps
            self.model.rollout_buffer.reset()


def rollout_lengths(model: Any, values: Mapping[str, Any], steps: int) -> RolloutLengths:
    """The lengths of the rollouts of a model that was built or loaded.

    Args:
        model: The algorithm; a checkpoint may have been written while a shortened rollout was due, so that
            its own length is not asked.
        values: Its hyperparameters.
        steps: Most steps to train for, those already taken included.

    Raises:
        UsageError: There are too few steps for a single rollout.
    """
    name = "train_freq" if _is_off_policy(model) else "n_steps"
    full: int = values.get(name, inspect.signature(type(model)).parameters[name].default)
    planned = _planned(model, full, steps)
    if planned <= 0:
        least = -(-SMALLEST // model.n_envs) * model.n_envs
        raise UsageError(
            f"--steps {steps} is too few to learn from with --n-envs {model.n_envs}; give at least {least}."
        )
    return RolloutLengths(model, full, planned)


def _planned(model: Any, full: int, steps: int) -> int:
    """Whole rollouts, then a shorter one where the rest is worth an update, or is all that there is."""
    taken, rollout = model.num_timesteps, full * model.n_envs
    whole = taken + max(0, steps - taken) // rollout * rollout
    rest = max(0, steps - whole) // model.n_envs * model.n_envs
    if _is_off_policy(model):
        return int(whole + rest)
    least = min(WORTH_AN_UPDATE, rollout) if whole else SMALLEST
    return int(whole + rest if rest >= least else whole)


def _is_off_policy(model: Any) -> bool:
    return isinstance(model, OffPolicyAlgorithm)
