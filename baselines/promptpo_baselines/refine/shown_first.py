"""A standalone network first learns from episodes of the program, with as many updates as steps."""

from __future__ import annotations

from typing import Any

from stable_baselines3.common.callbacks import BaseCallback

SHOWN_STEPS = 5_000
"""Steps of the program, with noise, at the beginning of the replay buffer."""


class ShownFirst(BaseCallback):
    """Lets an off-policy algorithm learn from the program's episodes before it acts itself.

    Prior episodes in the replay buffer of an online algorithm are those of *Efficient Online Reinforcement Learning
    with Offline Data* (Ball, Smith, Kostrikov, Levine, 2023); here they are sampled like all others.

    Args:
        beside: The environments with the program, which need not query it any more after that.
    """

    def __init__(self, beside: Any) -> None:
        super().__init__()
        self._beside = beside

    def _on_rollout_start(self) -> None:
        model: Any = self.model
        if not self._beside.asking or self.num_timesteps < model.learning_starts:
            return
        self._beside.asking = False
        if not model._n_updates:  # noqa: SLF001 - unless a run is continued
            model.train(gradient_steps=model.learning_starts, batch_size=model.batch_size)

    def _on_step(self) -> bool:
        return True
