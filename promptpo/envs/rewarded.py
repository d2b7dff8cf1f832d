"""A Gymnasium wrapper that takes rewards from a reward program, for RL algorithms that need them at every step."""

from __future__ import annotations

import atexit
import itertools
from functools import cache
from typing import TYPE_CHECKING, Any

import gymnasium

from promptpo.envs.foreign import AnyEnv
from promptpo.errors import RewardFaultError, SandboxFaultError
from promptpo_sandbox import Limits, RewardFailedError, Sandbox, SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptpo.envs.task import RewardProgram
    from promptpo_sandbox.rewards import AskedReward


TRAINING_CPU_SECONDS = 100 * 24 * 3600
"""CPU seconds that a program may use in all; a training may call it for weeks."""


@cache
def _share_program(source: str, *, allow_weaker: bool) -> tuple[AskedReward, Iterator[int]]:
    """Return the process's shared guest for a reward program, with a counter of its users."""
    box = Sandbox(Limits(cpu_seconds=TRAINING_CPU_SECONDS), allow_weaker=allow_weaker, core=-1)
    atexit.register(box.close)
    return box.rewarding(source), itertools.count(1)


class RewardedEnv(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Compute the reward of every step with a reward program in the sandbox.

    ``info`` of a last step has ``env_return`` (under the environment's own reward), ``reward_parts`` (sums over the
    episode) and, if the program reports it, ``is_success``; other entries are dropped.

    Args:
        env: The environment, whose episodes end by themselves.
        reward: The program.
        allow_weaker: Whether to accept a machine that lacks sandbox layers.
    """

    def __init__(self, env: AnyEnv, reward: RewardProgram, *, allow_weaker: bool) -> None:
        super().__init__(env)
        self._reward, self._allow_weaker = reward, allow_weaker
        self._own = 0.0
        self._episode: Any = None

    def _start(self) -> None:
        """Connect to the program's process; called before the first episode.

        Raises:
            RewardFaultError: The program is rejected.
            SandboxFaultError: The program cannot be confined on this machine.
        """
        from promptpo_sandbox.rewards import RewardedEpisode

        try:
            asked, numbers = _share_program(self._reward.source, allow_weaker=self._allow_weaker)
        except RewardFailedError as error:
            raise RewardFaultError(reward_fault(error, self._reward)) from error
        except SandboxError as error:
            raise SandboxFaultError(f"the reward program cannot be confined here: {error}.") from error
        self._episode = RewardedEpisode(asked, next(numbers), self.env)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode with a fresh instance of the program."""
        if self._episode is None:
            self._start()
        observation, _ = self.env.reset(seed=seed, options=options)
        self._episode.begin(seed or 0, observation)
        self._own = 0.0
        return observation, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take a step, rewarded by the program.

        Raises:
            RewardFaultError: The program failed.
        """
        try:
            observation, own, terminated, truncated, info = self._episode.step(action)
            step_reward, _ = self._episode.latest()
            self._own += float(own)
            if terminated or truncated:
                scored = self._episode.end()
                info = {"env_return": self._own, "reward_parts": scored.parts}
                if scored.success is not None:
                    info["is_success"] = scored.success
        except RewardFailedError as error:
            _share_program.cache_clear()  # its process may have died
            raise RewardFaultError(reward_fault(error, self._reward)) from error
        return observation, step_reward, terminated, truncated, info


def reward_fault(error: RewardFailedError, reward: RewardProgram | None) -> str:
    """Return the error message for a failed reward program."""
    name = (reward.file if reward else "") or "the reward"
    ways = {"rejected": "is refused", "timeout": "took too long", "memory": "needs too much memory"}
    return f"{name} {ways.get(error.failure.kind, 'failed')}: {error}; correct its class Reward."
