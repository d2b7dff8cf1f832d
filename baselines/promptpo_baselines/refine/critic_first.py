"""Off-policy algorithms of ``promptpo refine`` learn what the program is worth before they change what it does."""

from __future__ import annotations

from typing import Any

import torch
from stable_baselines3.common.callbacks import BaseCallback

CRITIC_STEPS = 4_000
"""Steps after the first ones, which train nothing, in which the actor stays as it is."""


def actor_waits(model: Any) -> int:
    """Steps until the actor of an off-policy algorithm moves."""
    return int(model.learning_starts) + CRITIC_STEPS


class CriticFirst(BaseCallback):
    """Undoes what updates do to the actor while the critic knows too little.

    The actor of a network on top of a program begins as good as the program, and its critic knows nothing: what it is
    drawn to then is error.
    """

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[tuple[torch.Tensor, torch.Tensor]] = []

    def _on_rollout_end(self) -> None:
        model: Any = self.model
        if self.num_timesteps >= actor_waits(model):
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
