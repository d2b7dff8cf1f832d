"""Reward programs: they compute the reward of each step of an episode in place of the environment.

A reward program is a module with ``class Reward``. It is constructed anew for every episode (``__init__(self)``);
``step(obs, action, next_obs, env_reward, info)`` returns a number, or a number and a dict of its named parts;
``success()``, if defined, is called once, when the episode is over.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from promptpo_sandbox.guest.actions import sample
from promptpo_sandbox.guest.errors import ContractError, InsideError
from promptpo_sandbox.guest.values import copy_observation, number_of, value_at

MOST_PARTS = 16
LONGEST_NAME = 40

New: TypeAlias = Callable[[bytes], dict[str, Any]]
"""Runs a fresh copy of the module, given the bytes that determine its random numbers."""


class InvalidRewardError(ContractError):
    """``step`` or ``success`` returned an invalid value."""


class RunningReward:
    """The program of one episode.

    Args:
        module: The namespace of a fresh copy of the module.
    """

    __slots__ = ("_reward", "_step", "steps")

    def __init__(self, module: dict[str, Any]) -> None:
        reward = module.get("Reward")
        if not isinstance(reward, type):
            raise ContractError("the module defines no class Reward; define class Reward with a method step")
        if not callable(getattr(reward, "step", None)):
            raise ContractError(
                "the class Reward has no method step; define step(self, obs, action, next_obs, env_reward, info)"
            )
        self._reward = reward()
        self._step = self._reward.step
        self.steps = 0

    def step(
        self, obs: Any, action: Any, next_obs: Any, env_reward: float, info: dict[str, float]
    ) -> tuple[float, dict[str, float]]:
        """Return the reward of a step and its components.

        Raises:
            InvalidRewardError: The program returned something else.
        """
        answer = self._step(obs, action, next_obs, env_reward, info)
        reward = self._read_reward(answer)
        self.steps += 1
        return reward

    @staticmethod
    def _read_reward(answer: Any) -> tuple[float, dict[str, float]]:
        if not isinstance(answer, tuple):
            return number_of(answer, "Reward.step", "the reward", InvalidRewardError), {}
        if len(answer) != 2 or not isinstance(answer[1], dict):  # noqa: PLR2004
            raise InvalidRewardError(
                f"Reward.step returned {sample(answer)}; return a number, or a number and a dict of its parts"
            )
        parts = {
            _name(name): number_of(value, "Reward.step", f"the part {name}", InvalidRewardError)
            for name, value in answer[1].items()
        }
        if len(parts) > MOST_PARTS:
            raise InvalidRewardError(f"Reward.step returned {len(parts)} parts; return at most {MOST_PARTS}")
        return number_of(answer[0], "Reward.step", "the reward", InvalidRewardError), parts

    def success(self) -> bool | None:
        """Return whether the goal was reached; None if the program does not say.

        Raises:
            InvalidRewardError: It returned something other than true or false.
        """
        asked = getattr(self._reward, "success", None)
        if not callable(asked):
            return None
        answer = asked()
        if answer is None or isinstance(answer, bool):
            return answer
        if isinstance(answer, (np.bool_, int, np.integer)):
            return bool(answer)
        raise InvalidRewardError(f"Reward.success returned {sample(answer)}; return True or False")


def _name(value: Any) -> str:
    if isinstance(value, str) and 0 < len(value) <= LONGEST_NAME:
        return value
    raise InvalidRewardError(
        f"Reward.step returned a part named {sample(value)}; name parts by texts of 1 to {LONGEST_NAME} characters"
    )


class Rewards:
    """The reward programs of several episodes, by lane number.

    Args:
        new: Runs a fresh copy of the module.
    """

    def __init__(self, new: New) -> None:
        self._new = new
        self._running: dict[int, RunningReward] = {}

    def score(self, request: dict[str, Any]) -> tuple[Any, dict[str, float], bool | None]:
        """Return the rewards of consecutive steps, the sums of their parts, and at the end of an episode whether it succeeded.

        Raises:
            InsideError: The program failed.
        """
        lane = request["lane"]
        if request["digest"] is not None:
            self._running.pop(lane, None)
            try:
                self._running[lane] = RunningReward(self._new(request["digest"]))
            except BaseException as wrong:
                raise InsideError from wrong
        reward = self._running[lane]
        sums: dict[str, float] = {}
        step_rewards = self._score_steps(reward, request, sums)
        if not all(map(math.isfinite, sums.values())):
            raise InsideError(reward.steps) from InvalidRewardError(
                "the parts of Reward.step add up to no finite number"
            )
        success = None
        if request["over"]:
            del self._running[lane]
            try:
                success = reward.success()
            except BaseException as wrong:
                raise InsideError from wrong
        return np.array(step_rewards, float), sums, success

    @staticmethod
    def _score_steps(reward: RunningReward, request: dict[str, Any], sums: dict[str, float]) -> list[float]:
        observations, actions, rewards = (request[name] for name in ("observations", "actions", "rewards"))
        names, table, infos = request["names"], request["table"], request["infos"]
        step_rewards: list[float] = []
        for i, env_reward in enumerate(rewards.tolist()):
            info = infos[i] if names is None else dict(zip(names, table[i].tolist(), strict=True))
            try:
                value, parts = reward.step(
                    _writable_item(observations, i),
                    _writable_item(actions, i),
                    _writable_item(observations, i + 1),
                    env_reward,
                    info,
                )
            except BaseException as wrong:
                raise InsideError(reward.steps) from wrong
            step_rewards.append(value)
            for name, part in parts.items():
                sums[name] = sums.get(name, 0.0) + part
        return step_rewards


def _writable_item(values: Any, index: int) -> Any:
    """Return one of several values, which may be written to."""
    return value_at(values, index) if isinstance(values, np.ndarray) else copy_observation(values[index])
