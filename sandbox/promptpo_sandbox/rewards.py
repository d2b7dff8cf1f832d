"""Reward programs from the host's side: what the steps of episodes earn, by a program in a guest of its own.

A reward program is untrusted code like a policy. It runs behind the same gate and in a confined process beside
the policy's, so that neither can read or alter the other. No policy waits for what its steps earn: the program is
asked for many of them at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from promptpo_sandbox.guest import wire
from promptpo_sandbox.guest.plain import PlainDataError, decode, encode
from promptpo_sandbox.guest.rewards import LONGEST_NAME, MOST_PARTS
from promptpo_sandbox.guest.wire import message
from promptpo_sandbox.guest.worlds import MAX_REWARD, copied
from promptpo_sandbox.pipes import Deadline, Guest, GuestGoneError, GuestTimeoutError, decode_failure
from promptpo_sandbox.results import Failure
from promptpo_sandbox.seeds import digest_of
from promptpo_sandbox.spaces import plain_observation
from promptpo_sandbox.text import clean_name

if TYPE_CHECKING:
    from promptpo_sandbox.lockstep.rollout import Runner

BLOCK = 64
"""Steps that one message asks for."""

LARGE_BLOCK = 1 << 20
"""Bytes of observations from which a message is sent before it has so many."""


class RewardFailedError(Exception):
    """A reward program failed; no policy is to blame.

    Args:
        failure: What it did, and in which episode.
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure)  # what it is made of, so that it can be pickled
        self.failure = failure

    def __str__(self) -> str:
        where = "" if self.failure.seed is None else f" (episode of seed {self.failure.seed})"
        return f"{self.failure.message}{where}"


@dataclass(frozen=True, slots=True)
class Scored:
    """What an episode has earned.

    Attributes:
        rewards: Of each step.
        parts: Sums over the episode, by name.
        success: What the program says about it; None where it does not.
    """

    rewards: list[float]
    parts: dict[str, float]
    success: bool | None


class AskedReward:
    """One guest with a reward program, asked for the steps of several episodes.

    Args:
        runner: Brings the guest with the source.

    Raises:
        RewardFailedError: The source is refused.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner, self._limits = runner, runner.limits
        self._guest: Guest | None
        self._guest, failure = runner.load(("tuple", []))
        if failure is not None:
            self.close()
            raise RewardFailedError(failure)

    def ask(self, request: dict[str, Any], seed: int) -> tuple[list[float], dict[str, float], bool | None]:
        """Rewards of some steps, the sums of their parts, and whether the episode succeeded, if it is over.

        Raises:
            RewardFailedError: The program failed; it is of no more use.
        """
        if self._guest is None:
            raise RewardFailedError(Failure("crashed", "the program has failed before", seed=seed))
        steps, seconds = len(request["rewards"]), self._limits.call_seconds
        try:
            self._guest.send(message(wire.SCORE, encode(request)), seconds)
            kind, _, payload = self._guest.chunk(Deadline(self._guest, seconds))
            self._guest.finish()
            if kind == wire.SCORED:
                return _checked(payload, steps)
            if kind != wire.FAILED:
                raise GuestGoneError("the guest sent a message out of order")
            failure = Failure(*decode_failure(payload), seed)
        except GuestTimeoutError:
            failure = Failure(
                "timeout",
                f"it took longer than {seconds:g} s for {steps} steps; do less work in step",
                seed=seed,
            )
        except GuestGoneError:
            failure = Failure(
                "crashed", "it ended or disturbed its process; return a number from step instead", seed=seed
            )
        except PlainDataError as error:  # an observation or action that is no plain data
            failure = Failure("crashed", f"it cannot be shown these steps: {error}", seed=seed)
        self.close()
        raise RewardFailedError(failure)

    def close(self) -> None:
        """End the guest."""
        self._guest = None
        self._runner.end()


def _checked(payload: bytes, steps: int) -> tuple[list[float], dict[str, float], bool | None]:
    """What a guest answered.

    Raises:
        GuestGoneError: It is no such answer.
    """
    try:
        rewards, parts, success = decode(payload, max_values=8 + 2 * steps * MOST_PARTS)
        good = isinstance(rewards, np.ndarray) and rewards.shape == (steps,) and rewards.dtype.kind == "f"
        good = good and bool((np.abs(rewards) <= MAX_REWARD).all()) and isinstance(parts, dict)
        good = good and all(
            type(name) is str and len(name) <= LONGEST_NAME and type(part) is float and math.isfinite(part)
            for name, part in parts.items()
        )
        if not good or not (success is None or type(success) is bool):
            raise GuestGoneError("the guest sent malformed rewards")
    except (PlainDataError, ValueError, TypeError, AttributeError) as error:
        raise GuestGoneError("the guest sent malformed rewards") from error
    return rewards.tolist(), {clean_name(name): part for name, part in parts.items()}, success


class RewardedEpisode:
    """The episodes of one environment, one after another, and what their steps earn by a reward program.

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
        """A new episode: a fresh program.

        Args:
            seed: It decides the program's random numbers.
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
        """Step the environment; of ``info`` nothing is passed on, since its success is that of another goal.

        Raises:
            RewardFailedError: The program failed in this step or one before it.
        """
        done = copied(action)  # as it is now: the environment may write to it
        obs, reward, terminated, truncated, info = self._env_step(action)
        self._observations.append(plain_observation(self._space, obs))
        self._actions.append(done)
        self._rewards.append(float(reward))
        self.numbers = numbers_in(info)
        self._infos.append(self.numbers)
        if len(self._rewards) >= self._block:
            self.earned()
        return obs, reward, terminated, truncated, {}

    def earned(self, *, over: bool = False) -> bool | None:
        """Ask for the steps that have not been asked for; whether the episode succeeded, if it is over.

        Raises:
            RewardFailedError: The program failed.
        """
        several = len(self._rewards) > 1
        alike = several and len({tuple(info) for info in self._infos}) == 1
        request = {
            "lane": self._lane,
            "digest": digest_of(self._seed) if self._fresh else None,
            "observations": _together(self._observations) if several else self._observations,
            "actions": _together(self._actions) if several else self._actions,
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
        """What the episode has earned; it is over.

        Raises:
            RewardFailedError: The program failed.
        """
        success = self.earned(over=True)
        return Scored(self._earned, self._parts, success)

    def latest(self) -> tuple[float, dict[str, float]]:
        """What the latest step has earned, and the sums of the parts so far, for a caller who waits for each.

        Raises:
            RewardFailedError: The program failed.
        """
        self.earned()
        return self._earned[-1], dict(self._parts)


def numbers_in(info: Any) -> dict[str, float]:
    """The numeric entries of an environment's ``info``: plain numbers, and arrays of one."""
    found: dict[str, float] = {}
    for name, value in info.items():
        kind = type(value)
        if kind is float or isinstance(value, (bool, int, float, np.number, np.bool_)):
            if isinstance(name, str) and not isinstance(value, np.complexfloating):
                found[name] = float(value)
        elif isinstance(name, str) and kind is np.ndarray and value.size == 1 and value.dtype.kind in "biuf":
            found[name] = float(value.item())
    return found


def _together(values: list[Any]) -> Any:
    """Values as one array where they are arrays of one kind with a shape, or integers."""
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
