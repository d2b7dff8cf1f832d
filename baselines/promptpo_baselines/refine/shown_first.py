"""A network that acts alone first learns from episodes of the program, as many updates as there were steps."""

from __future__ import annotations

from typing import Any

from stable_baselines3.common.callbacks import BaseCallback

SHOWN_STEPS = 5_000
"""Steps of the program, with noise, that the replay buffer begins with."""


class ShownFirst(BaseCallback):
    """Lets an off-policy algorithm catch up with what it was shown, before it acts itself.

    Episodes in the buffer of an algorithm that acts by itself are those of *Efficient Online Reinforcement Learning with
    Offline Data* (Ball, Smith, Kostrikov, Levine, 2023); here they are drawn like all others.

    Args:
        beside: The environments with the program, which need not ask it any more after that.
    """

    def __init__(self, beside: Any) -> None:
        super().__init__()
        self._beside = beside

    def _on_rollout_start(self) -> None:
        model: Any = self.model
        if not self._beside.asking or self.num_timesteps < model.learning_starts:
            return
        self._beside.asking = False
        if not model._n_updates:  # noqa: SLF001 - not so where a run goes on
            model.train(gradient_steps=model.learning_starts, batch_size=model.batch_size)

    def _on_step(self) -> bool:
        return True
