"""Off-policy algorithms of ``promptpo refine`` train their critic on the program before they change the actor."""

from __future__ import annotations

from typing import Any

import torch
from stable_baselines3.common.callbacks import BaseCallback

CRITIC_STEPS = 4_000
"""Steps after ``learning_starts`` in which the actor stays as it is."""


def steps_before_actor(model: Any) -> int:
    """Return the number of steps before the actor of an off-policy algorithm changes."""
    return int(model.learning_starts) + CRITIC_STEPS


class CriticFirst(BaseCallback):
    """Undoes updates of the actor while the critic knows too little.

    The actor of a network on top of a program begins as good as the program, while its critic knows nothing: following
    it would be an error.
    """

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[tuple[torch.Tensor, torch.Tensor]] = []

    def _on_rollout_end(self) -> None:
        model: Any = self.model
        if self.num_timesteps >= steps_before_actor(model):
            return
        weight = model.log_ent_coef
        kept = [*model.actor.parameters(), *([] if weight is None else [weight])]
        self._kept = [(parameter, parameter.detach().clone()) for parameter in kept]

    def _on_rollout_start(self) -> None:
        self._undo()

    def _on_training_end(self) -> None:
        self._undo()

    def _undo(self) -> None:
        with torch.no_grad():
            for parameter, before in self._kept:
                parameter.copy_(before)
        self._kept = []

    def _on_step(self) -> bool:
        return True
