"""The host's side of reward programs, which compute the rewards of steps in a guest of their own.

A reward program is untrusted code like a policy. It runs behind the same gate and in a confined process beside the
policy's, so that neither can read or alter the other. Policies do not wait for rewards: the program computes many of
them per request.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import gymnasium
import numpy as np

from promptpo_sandbox.answers import read_rewards
from promptpo_sandbox.asked import Asked, AskFailedError
from promptpo_sandbox.guest.plain import PlainDataError
from promptpo_sandbox.guest.rewards import MOST_PARTS
from promptpo_sandbox.guest.values import copy_observation
from promptpo_sandbox.results import Failure
from promptpo_sandbox.seeds import digest_of
from promptpo_sandbox.spaces import plain_observation
from promptpo_sandbox.text import clean_name

BLOCK = 64
"""Maximum number of steps in one request."""

LARGE_BLOCK = 1 << 20
"""Bytes of observations at which a request is sent with fewer steps."""


class RewardFailedError(AskFailedError):
    """A reward program failed; no policy is to blame."""


@dataclass(frozen=True, slots=True)
class Scored:
    """Rewards of an episode.

    Attributes:
        rewards: One per step.
        parts: Sums over the episode, by name.
        success: Whether the episode succeeded, according to the program; None if it does not say.
    """

    rewards: list[float]
    parts: dict[str, float]
    success: bool | None


class AskedReward:
    """A reward program that scores the steps of several episodes.

    Args:
        asked: Its guest.
    """

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._parts: set[str] = set()
        self.close = asked.close

    def ask(self, request: dict[str, Any], seed: int) -> tuple[list[float], dict[str, float], bool | None]:
        """Return the rewards of some steps, the sums of their parts, and whether the episode succeeded, if it is over.

        Raises:
            RewardFailedError: The program failed; it cannot be used any more.
        """
        steps = len(request["rewards"])
        try:
            rewards, parts, success = self._asked.ask(
                "score",
                request,
                partial(read_rewards, steps=steps),
                values=8 + 2 * steps * MOST_PARTS,
                seed=seed,
            )
        except PlainDataError as error:  # an observation or action that is not plain data
            raise self._failure(f"it cannot be shown these steps: {error}", seed) from error
        self._parts.update(parts)
        if len(self._parts) > MOST_PARTS:
            raise self._failure(
                f"it names more than {MOST_PARTS} parts; give them the same names in every step", seed
            )
        return rewards, {clean_name(name): part for name, part in parts.items()}, success

    def _failure(self, text: str, seed: int) -> RewardFailedError:
        self.close()
        return RewardFailedError(Failure("crashed", text, seed=seed))


class RewardedEpisode:
    """Steps an environment through episodes whose rewards a reward program computes.

    Args:
        reward: The program.
        lane: A number that no other user of the program has.
        env: The environment.

    Attributes:
        numbers: The numeric entries of the latest step's ``info``.
    """

    def __init__(self, reward: AskedReward, lane: int, env: gymnasium.Env[Any, Any]) -> None:
        self._asked, self._lane = reward, lane
        self._space = env.observation_space
        self._env_step: Callable[[Any], Any] = env.step

    def begin(self, seed: int, obs: Any) -> None:
        """Begin an episode, with a fresh instance of the program.

        Args:
            seed: Seed of the program's random numbers.
            obs: The first observation.
        """
        self._seed, self._fresh = seed, True
        self._observations = [plain_observation(self._space, obs)]
        self._actions: list[Any] = []
        self._rewards: list[float] = []
        self._infos: list[dict[str, float]] = []
        self.numbers: dict[str, float] = {}
        self._earned: list[float] = []
        self._parts: dict[str, float] = {}
        first = self._observations[0]
        size = first.nbytes if isinstance(first, np.ndarray) else 0
        self._block = max(1, min(BLOCK, LARGE_BLOCK // max(1, size)))

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Step the environment; its ``info`` is not passed on, since it reports success at another goal.

        Raises:
            RewardFailedError: The program failed in this step or an earlier one.
        """
        done = copy_observation(action)  # a copy, since the environment may write to it
        obs, reward, terminated, truncated, info = self._env_step(action)
        self._observations.append(plain_observation(self._space, obs))
        self._actions.append(done)
        self._rewards.append(float(reward))
        self.numbers = numbers_in(info)
        self._infos.append(self.numbers)
        if len(self._rewards) >= self._block:
            self.score_pending()
        return obs, reward, terminated, truncated, {}

    def score_pending(self, *, over: bool = False) -> bool | None:
        """Score the steps not yet scored; return whether the episode succeeded, if it is over.

        Raises:
            RewardFailedError: The program failed.
        """
        several = len(self._rewards) > 1
        alike = several and len({tuple(info) for info in self._infos}) == 1
        request = {
            "lane": self._lane,
            "digest": digest_of(self._seed) if self._fresh else None,
            "observations": _stack(self._observations) if several else self._observations,
            "actions": _stack(self._actions) if several else self._actions,
            "rewards": np.array(self._rewards, float),
            "names": tuple(self._infos[0]) if alike else None,
            "table": np.array([list(info.values()) for info in self._infos], float) if alike else None,
            "infos": None if alike else self._infos,
            "over": over,
        }
        rewards, parts, success = self._asked.ask(request, self._seed)
        self._fresh = False
        self._earned += rewards
        for name, part in parts.items():
            self._parts[name] = self._parts.get(name, 0.0) + part
        self._observations = self._observations[-1:]
        self._actions, self._rewards, self._infos = [], [], []
        return success

    def end(self) -> Scored:
        """End the episode and return its rewards.

        Raises:
            RewardFailedError: The program failed.
        """
        success = self.score_pending(over=True)
        return Scored(self._earned, self._parts, success)

    def latest(self) -> tuple[float, dict[str, float]]:
        """Return the reward of the latest step and the sums of the components so far.

        Raises:
            RewardFailedError: The program failed.
        """
        self.score_pending()
        return self._earned[-1], dict(self._parts)


def numbers_in(info: Any) -> dict[str, float]:
    """Return the numeric entries of an environment's ``info``: single numbers, and arrays of one."""
    found: dict[str, float] = {}
    for name, value in info.items():
        kind = type(value)
        if kind is float or isinstance(value, (bool, int, float, np.number, np.bool_)):
            if isinstance(name, str) and not isinstance(value, np.complexfloating):
                found[name] = float(value)
        elif isinstance(name, str) and kind is np.ndarray and value.size == 1 and value.dtype.kind in "biuf":
            found[name] = float(value.item())
    return found


def _stack(values: list[Any]) -> Any:
    """Stack arrays of one dtype and shape, or integers, into one array; return other values unchanged."""
    first = values[0] if values else None
    whole = (int, np.integer)
    if isinstance(first, whole) and all(
        isinstance(value, whole) and type(value) is not bool for value in values
    ):
        try:
            return np.array(values, np.int64)
        except OverflowError:
            return values
    if isinstance(first, np.ndarray) and first.shape and first.dtype.kind in "biuf":
        kind = (first.dtype, first.shape)
        if all(isinstance(value, np.ndarray) and (value.dtype, value.shape) == kind for value in values):
            return np.stack(values)
    return values
