"""Running world models: predicting recorded steps, and letting policies act in a model instead of the environment.

A world model is a module with ``class World``. It is made from an observation and a random generator
(``__init__(self, obs, rng)``, or ``__init__(self, params, obs, rng)`` where it declares ``PARAMS``),
``step(action)`` returns (observation, reward, terminated), and ``sync(obs)`` puts it back in step with
what was really observed. What it is asked about never holds the answers, which stay with the host.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from promptpo_sandbox.arrays import assembled
from promptpo_sandbox.guest.actions import InvalidActionError, Layout, coerce, sample
from promptpo_sandbox.guest.errors import ContractError, InsideError

Make: TypeAlias = Callable[[Any, bytes], Any]
"""A new world from an observation and the bytes that decide its random numbers."""

MAX_REWARD = 1e12


class WorldError(InsideError):
    """What a world raised or returned, as opposed to a policy; the cause is what it raised."""


class InvalidPredictionError(ContractError):
    """What ``step`` returned is no (observation, reward, terminated)."""


def maker(module: dict[str, Any], params: dict[str, float] | None) -> Make:
    """What makes worlds of a module.

    Raises:
        ContractError: The module has no class that is a world.
    """
    world = module.get("World")
    if not isinstance(world, type):
        raise ContractError("the module defines no class World; define class World with step(self, action)")
    for method in ("step", "sync"):
        if not callable(getattr(world, method, None)):
            raise ContractError(f"the class World has no method {method}; define step(action) and sync(obs)")
    code = getattr(getattr(world, "__init__"), "__code__", None)  # noqa: B009 - of the class, not of an instance
    takes_params = code is not None and code.co_argcount > 3  # noqa: PLR2004 - self, params, obs, rng
    declared = module.get("PARAMS")

    def make(obs: Any, digest: bytes) -> Any:
        rng = np.random.default_rng([*digest])
        return world(assembled(params, declared), obs, rng) if takes_params else world(obs, rng)

    return make


def copied(value: Any) -> Any:
    """An observation that may be written to."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return tuple([copied(item) for item in value])
    return value


class Stepper:
    """One world with its answers checked.

    Args:
        world: The untrusted object.
        layout: The observation space as plain data, without its bounds.
    """

    __slots__ = ("_kind", "_layout", "_step", "_sync")

    def __init__(self, world: Any, layout: Layout) -> None:
        self._step, self._sync, self._layout = world.step, world.sync, layout
        self._kind = (np.dtype(layout[1]), tuple(layout[2])) if layout[0] == "box" else None

    def sync(self, obs: Any) -> None:
        """Put the world in step with an observation."""
        self._sync(copied(obs))

    def step(self, action: Any) -> tuple[Any, float, bool]:
        """Observation, reward, and whether the episode has ended.

        Raises:
            InvalidPredictionError: The world returned something else.
        """
        answer = self._step(action)
        if not isinstance(answer, (tuple, list)) or len(answer) != 3:  # noqa: PLR2004
            raise InvalidPredictionError(
                f"World.step returned {sample(answer)}; return (observation, reward, terminated)"
            )
        obs, reward, terminated = answer
        return (
            self._observation(obs),
            number_of(reward, "World.step", "the reward", InvalidPredictionError),
            self._flag(terminated),
        )

    def _observation(self, value: Any) -> Any:
        kind = self._kind
        try:
            if (
                kind is not None
                and type(value) is np.ndarray
                and value.shape == kind[1]
                and value.dtype.kind == "f"
            ):
                value = value.astype(kind[0])
            else:
                value = coerce(self._layout, value, bounds=False)
        except InvalidActionError as error:
            text = str(error).replace("act returned", "World.step returned the observation", 1)
            raise InvalidPredictionError(
                text.replace("the action space", "the observation space", 1)
            ) from None
        quick = type(value) is not np.ndarray or value.dtype.kind != "f" or math.isfinite(float(value.sum()))
        if not quick and not bool(np.isfinite(value).all()):
            raise InvalidPredictionError("World.step returned an observation with NaN or infinity")
        return value

    @staticmethod
    def _flag(value: Any) -> bool:
        if not isinstance(value, (bool, np.bool_, int, np.integer)):
            raise InvalidPredictionError(
                f"World.step returned {sample(value)} as terminated; return True or False"
            )
        return bool(value)


def number_of(value: Any, who: str, what: str, error: type[ContractError]) -> float:
    """A finite number that a module has returned.

    Args:
        value: What it returned.
        who: The method that has returned it.
        what: It is to be.
        error: What is raised where it is none.
    """
    plain = isinstance(value, (bool, int, float, np.number, np.bool_)) or (
        isinstance(value, np.ndarray) and value.size == 1 and value.dtype.kind in "biuf"
    )
    if not plain or not abs(number := float(value)) <= MAX_REWARD:
        raise error(f"{who} returned {sample(value)} as {what}; return a finite number")
    return number


def replay(make: Make, request: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Predictions for recorded actions: observations, rewards and endings of all steps, episodes after another.

    The world is put in step with what was observed before every `every`-th step and left to itself between;
    where it says that the episode has ended, its last prediction stands until then.
    """
    layout, every = request["layout"], request["every"]
    observations: list[Any] = []
    rewards: list[float] = []
    ends: list[bool] = []
    for number, (seen, actions) in enumerate(request["episodes"]):
        digest = request["digest"] + number.to_bytes(4, "little")
        stepper = Stepper(make(copied(value_at(seen, 0)), digest), layout)
        last: tuple[Any, float, bool] | None = None
        for at in range(len(actions)):
            if at % every == 0:
                last = None
                if at:
                    stepper.sync(value_at(seen, at // every))
            if last is None or not last[2]:
                last = stepper.step(value_at(actions, at))
            observations.append(last[0])
            rewards.append(last[1])
            ends.append(last[2])
    return packed(observations, layout), np.array(rewards, float), np.array(ends, np.int8)


def value_at(values: Any, index: int) -> Any:
    """One of several values: ints from integer rows, copies from arrays, items from lists."""
    value = values[index]
    if isinstance(value, np.integer):
        return int(value)
    return value.copy() if isinstance(value, np.ndarray) else value


def packed(values: Sequence[Any], layout: Layout) -> Any:
    """Observations or actions as one array where their space has a fixed layout."""
    if layout[0] == "discrete":
        return np.array(values, np.int64)
    if layout[0] == "box":
        return np.array(values, np.dtype(layout[1])).reshape(len(values), *layout[2])
    return list(values)


class Imagined:
    """Policies acting in worlds.

    Args:
        make: Makes worlds.
        policy: Makes a policy of parameters and random numbers.
        request: What the host asks for.
    """

    def __init__(
        self, make: Make, policy: Callable[[dict[str, float] | None, bytes], Any], request: dict[str, Any]
    ) -> None:
        self._make, self._policy = make, policy
        self._observations, self._actions = request["layout"], request["action_layout"]
        self._record = request["record"]
        self._trials = request["trials"]

    def episodes(self) -> Iterator[tuple[Any, ...]]:
        """Return, steps, terminated, and with `record` observations, actions and rewards of each trial.

        What a policy raises ends it with the rewards so far; it stands in the last place.

        Raises:
            WorldError: The world failed, whatever the policy did.
        """
        for start, digest, params, horizon in self._trials:
            yield self._episode(start, digest, params, horizon)

    def _episode(self, start: Any, digest: bytes, params: Any, horizon: int) -> tuple[Any, ...]:
        observations, actions = [start], []
        rewards: list[float] = []
        ended, error = False, None
        try:
            stepper = Stepper(self._make(copied(start), digest), self._observations)
        except BaseException as wrong:
            raise WorldError from wrong
        obs = start
        try:
            act = self._policy(params, digest).act
            while len(rewards) < horizon and not ended:
                action = bounded(self._actions, act(copied(obs)))
                try:
                    obs, reward, ended = stepper.step(action)
                except BaseException as wrong:
                    raise WorldError from wrong
                rewards.append(reward)
                if self._record:
                    observations.append(obs)
                    actions.append(action)
        except WorldError:
            raise
        except BaseException as wrong:  # noqa: BLE001 - the policy's, and its outcome
            error = wrong
        seen = (
            (
                packed(observations, self._observations),
                packed(actions, self._actions),
                np.array(rewards, float),
            )
            if self._record
            else None
        )
        return math.fsum(rewards), len(rewards), ended, seen, error


def bounded(layout: Layout, value: Any) -> Any:
    """An action within the bounds of its space.

    Raises:
        InvalidActionError: The value is none.
    """
    if layout[0] == "box":
        array = coerce(layout, value, bounds=False)
        if array.dtype.kind == "f":
            if not math.isfinite(float(array.sum())):
                return coerce(layout, value)
            return np.clip(array, layout[3], layout[4])
    return coerce(layout, value)
