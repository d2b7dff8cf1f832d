"""A Gymnasium wrapper whose steps are rewarded by a reward program, for RL algorithms that wait for every step."""

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


WHOLE_TRAINING = 100 * 24 * 3600
"""CPU seconds that a program may use in all: a training asks it for weeks, one step at a time."""


@cache
def _shared_program(source: str, *, allow_weaker: bool) -> tuple[AskedReward, Iterator[int]]:
    """Return the process's shared guest for a reward program, with a counter of its users."""
    box = Sandbox(Limits(cpu_seconds=WHOLE_TRAINING), allow_weaker=allow_weaker, core=-1)
    atexit.register(box.close)
    return box.rewarding(source), itertools.count(1)


class RewardedEnv(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Asks a reward program, in the sandbox, for the reward of every step.

    ``info`` of a last step has ``env_return`` (the environment's own), ``reward_parts`` (sums over the episode) and,
    where the program says it, ``is_success``; other entries are not passed on.

    Args:
        env: The environment; its episodes end by themselves.
        reward: The program.
        allow_weaker: Accept a machine that lacks sandbox layers.
    """

    def __init__(self, env: AnyEnv, reward: RewardProgram, *, allow_weaker: bool) -> None:
        super().__init__(env)
        self._reward, self._allow_weaker = reward, allow_weaker
        self._own = 0.0
        self._episode: Any = None

    def _start(self) -> None:
        """Find the program's process, which begins with the first episode.

        Raises:
            RewardFaultError: The program is refused.
            SandboxFaultError: It cannot be confined here.
        """
        from promptpo_sandbox.rewards import RewardedEpisode

        try:
            asked, numbers = _shared_program(self._reward.source, allow_weaker=self._allow_weaker)
        except RewardFailedError as error:
            raise RewardFaultError(reward_fault(error, self._reward)) from error
        except SandboxError as error:
            raise SandboxFaultError(f"the reward program cannot be confined here: {error}.") from error
        self._episode = RewardedEpisode(asked, next(numbers), self.env)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode, with a fresh program."""
        if self._episode is None:
            self._start()
        observation, _ = self.env.reset(seed=seed, options=options)
        self._episode.begin(seed or 0, observation)
        self._own = 0.0
        return observation, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take a step; the program says its reward.

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
            _shared_program.cache_clear()  # its process may be gone
            raise RewardFaultError(reward_fault(error, self._reward)) from error
        return observation, step_reward, terminated, truncated, info


def reward_fault(error: RewardFailedError, reward: RewardProgram | None) -> str:
    """The sentence about a reward program that failed."""
    name = (reward.file if reward else "") or "the reward"
    ways = {"rejected": "is refused", "timeout": "took too long", "memory": "needs too much memory"}
    return f"{name} {ways.get(error.failure.kind, 'failed')}: {error}; correct its class Reward."
