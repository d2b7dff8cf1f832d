"""Simulators in lanes: many copies of a task in one object, whose answers are checked and whose lanes can be replaced.

A simulator is a module with ``class Simulator``: ``__init__(self, params, rng)``, ``reset(n)`` and ``set(obs)`` start
n lanes, ``step(actions)`` returns (obs, reward, terminated), arrays whose first axis is the lane. All state that
changes is kept in arrays whose first axis is the lane, so that lanes can be dropped and restarted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from promptpo_sandbox.arrays import assemble
from promptpo_sandbox.guest.actions import Layout, sample
from promptpo_sandbox.guest.errors import ContractError
from promptpo_sandbox.guest.facades import MODULE_NAME
from promptpo_sandbox.guest.values import MAX_REWARD

Array: TypeAlias = np.ndarray[Any, Any]
Lanes: TypeAlias = tuple[Array, Array, Array]
"""Observations, rewards and terminations of one step."""

Place: TypeAlias = tuple[Any, ...]
"""The attributes, keys and indices that lead to an array inside an object."""

Change: TypeAlias = Callable[[Place, Array, Any], Array]

MAX_DEPTH = 4
"""Depth to which nested objects are searched for arrays."""

METHODS = {"reset": "reset(n)", "set": "set(obs)", "step": "step(actions)"}


class Form:
    """Shape, dtype and bounds of a space's values in one lane.

    Args:
        layout: The space as plain data.
    """

    def __init__(self, layout: Layout) -> None:
        self.discrete = layout[0] == "discrete"
        self.dtype = np.dtype(np.int64 if self.discrete else layout[1])
        self.shape: tuple[int, ...] = () if self.discrete else tuple(layout[2])
        low, high = (layout[2], layout[2] + layout[1] - 1) if self.discrete else layout[3:5]
        self.low, self.high = np.asarray(low), np.asarray(high)

    def clip(self, values: Array) -> Array:
        """Clip values to the bounds of the space."""
        return np.clip(values, self.low, self.high)


class LaneSimulator:
    """One simulator, or an ensemble that divides the lanes among its members, with checked answers.

    Args:
        module: The module's names.
        vectors: Values of its ``PARAMS``, a mapping for each simulator; None if it declares none.
        forms: Forms of observations and of actions.
        seed: Seed of its random numbers.

    Attributes:
        broken: Number of running lanes that ended because the simulator returned NaN, infinity or an absurd reward.
        steps: Number of simulated lane steps.
    """

    def __init__(
        self, module: Mapping[str, Any], vectors: Sequence[Any], forms: tuple[Form, Form], seed: Sequence[int]
    ) -> None:
        self._make = maker(module)
        self._vectors, self._seed = vectors, [*seed]
        self.observation, self.action = forms
        self.parts: list[Any] = []
        self._sizes: list[int] = []
        self._last: Array = np.zeros(0)
        self._constants: frozenset[Place] | None = None
        self.broken = self.steps = 0

    def reseed(self, number: int) -> None:
        """Change the random numbers from the next start on."""
        self._seed[0] += number

    def _new(self, n: int) -> list[Any]:
        count = min(len(self._vectors), n)
        self._sizes = [n // count + (i < n % count) for i in range(count)]
        self._seed[-1] += 1
        seeds = ([*self._seed, i] for i in range(count))
        return [
            self._make(vector, np.random.default_rng(seed))
            for vector, seed in zip(self._vectors[:count], seeds, strict=True)
        ]

    def reset(self, n: int) -> Array:
        """Start n lanes in initial states."""
        self.parts = self._new(n)
        rows = [
            self._rows(part.reset(size), size, "reset")
            for part, size in zip(self.parts, self._sizes, strict=True)
        ]
        self._last = np.concatenate(rows)
        return self._last.copy()

    def tile(self, copies: int) -> Array:
        """Repeat all lanes, so that several candidates meet the same states; return the old index of each lane."""
        fixed, parts, at = self._find_fixed(), zip(self.parts, self._sizes, strict=True), 0
        order: list[Array] = []
        for part, size in parts:
            rewrite(part, partial(_tile, fixed, size, copies))
            order.append(np.tile(np.arange(at, at + size), copies))
            at += size
        self._sizes = [size * copies for size in self._sizes]
        rows = np.concatenate(order)
        self._last = self._last[rows]
        return rows

    def set(self, observations: Array) -> None:
        """Start one lane from each observation."""
        self.parts = self._new(len(observations))
        self._last = observations.astype(self.observation.dtype)
        for part, rows in self._split(self._last):
            part.set(rows.copy())

    def step(self, actions: Array) -> Lanes:
        """Advance all lanes; those that break end and keep their last observation."""
        found = [self._check(part.step(rows), len(rows)) for part, rows in self._split(actions)]
        obs, reward, ended = found[0] if len(found) == 1 else map(np.concatenate, zip(*found, strict=True))
        self.steps += len(reward)
        good = np.abs(reward) <= MAX_REWARD
        if self.observation.dtype.kind == "f":
            good &= np.isfinite(obs.reshape(len(obs), -1).sum(axis=1))
        if not good.all():
            obs[~good], reward[~good] = self._last[~good], 0.0
            self.broken += int((~good).sum())
            ended = ended | ~good
        self._last = obs
        return obs, reward, ended

    def _split(self, rows: Array) -> Iterator[tuple[Any, Array]]:
        if len(self.parts) == 1:
            yield self.parts[0], rows
            return
        at = 0
        for part, size in zip(self.parts, self._sizes, strict=True):
            yield part, rows[at : at + size]
            at += size

    def _check(self, answer: Any, n: int) -> Lanes:
        if not isinstance(answer, (tuple, list)) or len(answer) != 3:  # noqa: PLR2004
            raise ContractError(f"Simulator.step returned {sample(answer)}; return (obs, reward, terminated)")
        obs, reward, ended = answer
        return (
            self._rows(obs, n, "step"),
            numbers_of(reward, n, "the reward").astype(float),
            numbers_of(ended, n, "terminated") != 0,
        )

    def _rows(self, value: Any, n: int, method: str) -> Array:
        try:
            array = np.asarray(value)
        except ValueError:
            array = np.zeros((), object)
        shape = (n, *self.observation.shape)
        if array.shape != shape or array.dtype.kind not in "biuf":
            raise ContractError(
                f"Simulator.{method} returned {sample(value)} as observations of {n} lanes; "
                f"return an array of shape {shape}"
            )
        return np.array(array, self.observation.dtype)

    # Dropping and restarting lanes

    def keep(self, lanes: Array) -> None:
        """Drop all lanes but these.

        Args:
            lanes: A mask over the lanes.
        """
        parts, sizes, at = [], [], 0
        fixed = self._find_fixed()
        for part, size in zip(self.parts, self._sizes, strict=True):
            mask = lanes[at : at + size]
            at += size
            if mask.any():
                rewrite(part, partial(keep_lanes, fixed, size, mask, 0))
                parts.append(part)
                sizes.append(int(mask.sum()))
        self.parts, self._sizes = parts, sizes
        self._last = self._last[lanes]

    def restart(self, lanes: Array) -> Array:
        """Restart some lanes and return the observations of all."""
        old, sizes, last = self.parts, self._sizes, self._last
        fresh, at, fixed = self.reset(len(last)), 0, self._find_fixed()
        for part, other, size in zip(old, self.parts, sizes, strict=True):
            mask = lanes[at : at + size]
            at += size
            if mask.any():
                rewrite(part, partial(_overwrite, fixed, size, mask), other)
        self.parts, self._sizes = old, sizes
        self._last = np.where(lanes.reshape(-1, *[1] * (last.ndim - 1)), fresh, last)
        return self._last.copy()

    def _find_fixed(self) -> frozenset[Place]:
        """Return the places of the simulator's arrays that have no lane axis."""
        if self._constants is None:
            pair = [self._make(self._vectors[0], np.random.default_rng(0)) for _ in range(2)]
            action = self.action.clip(np.zeros((7, *self.action.shape), self.action.dtype))
            for simulator, n in zip(pair, (3, 7), strict=True):
                simulator.reset(n)
                simulator.step(action[:n])
            self._constants = constants(pair[0], pair[1], 0)
        return self._constants


def _tile(fixed: frozenset[Place], n: int, copies: int, place: Place, array: Array, _: Any) -> Array:
    if place in fixed or not array.ndim or len(array) != n:
        return array
    return np.tile(array, (copies, *[1] * (array.ndim - 1)))


def keep_lanes(
    fixed: frozenset[Place], n: int, mask: Array, axis: int, place: Place, array: Array, _: Any
) -> Array:
    """Return the lanes of an array that a mask keeps; the array itself if it has no lane axis."""
    if place in fixed or not array.ndim or array.shape[axis] != n:
        return array
    return array[mask] if axis == 0 else array[..., mask]


def _overwrite(fixed: frozenset[Place], n: int, mask: Array, place: Place, array: Array, other: Any) -> Array:
    if place in fixed or not array.ndim or len(array) != n:
        return array
    if isinstance(other, np.ndarray) and other.shape == array.shape:
        other = other[mask]
    elif not isinstance(other, int | float | bool):
        return array
    array = array.copy()
    array[mask] = other
    return array


def maker(module: Mapping[str, Any]) -> Callable[[Any, np.random.Generator], Any]:
    """Return a function that makes simulators of a module.

    Raises:
        ContractError: The module has no valid class Simulator.
    """
    simulator = module.get("Simulator")
    if not isinstance(simulator, type):
        raise ContractError(
            "the module defines no class Simulator; define it with reset(n), set(obs), step(actions)"
        )
    for method, form in METHODS.items():
        if not callable(getattr(simulator, method, None)):
            raise ContractError(f"the class Simulator has no method {method}; define {form}")
    declared = module.get("PARAMS")

    def make(params: Any, rng: np.random.Generator) -> Any:
        return simulator(assemble(params, declared) if params else {}, rng)

    return make


def numbers_of(value: Any, n: int, name: str) -> Array:
    """Return the numbers of n lanes; a single one stands for all.

    Raises:
        ContractError: The value is neither.
    """
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.zeros((), object)
    if array.dtype.kind not in "biuf" or array.shape not in {(), (1,), (n,)}:
        raise ContractError(
            f"Simulator.step returned {sample(value)} as {name} of {n} lanes; return an array of shape ({n},)"
        )
    return np.broadcast_to(array, (n,)).copy()


def rewrite(owner: Any, change: Change, other: Any = None) -> None:
    """Replace every array that an object holds, also in lists, tuples, dicts and objects of its module's classes.

    Args:
        owner: The object.
        change: Returns the new array, given its place, the old array and the value at this place in `other`.
        other: Another object of the same kind.
    """
    names, others = vars(owner), vars(other) if other is not None else {}
    for name, value in list(names.items()):
        names[name] = _rewrite(value, (name,), change, others.get(name))


def _rewrite(value: Any, place: Place, change: Change, other: Any) -> Any:
    if isinstance(value, np.ndarray):
        return change(place, value, other)
    if len(place) > MAX_DEPTH:
        return value
    if type(value) in {list, tuple}:
        others = other if type(other) is type(value) and len(other) == len(value) else [None] * len(value)
        pairs = zip(value, others, strict=True)
        return type(value)([_rewrite(item, (*place, i), change, its) for i, (item, its) in enumerate(pairs)])
    if type(value) is dict:
        others = other if type(other) is dict else {}
        return {key: _rewrite(item, (*place, key), change, others.get(key)) for key, item in value.items()}
    if is_own(value):
        inner, others = vars(value), vars(other) if is_own(other) else {}
        for name, item in list(inner.items()):
            inner[name] = _rewrite(item, (*place, name), change, others.get(name))
    return value


def is_own(value: Any) -> bool:
    """Whether a value is an instance of a class that the module itself defines."""
    return (
        type(value).__module__ == MODULE_NAME and hasattr(value, "__dict__") and not isinstance(value, type)
    )


def constants(few: Any, many: Any, axis: int) -> frozenset[Place]:
    """Return the places of arrays that are as long for few lanes as for many, and so have no lane axis."""
    lengths: list[dict[Place, tuple[int, ...]]] = []
    for owner in (few, many):
        found: dict[Place, tuple[int, ...]] = {}

        def note(place: Place, array: Array, _: Any, found: dict[Place, tuple[int, ...]] = found) -> Array:
            found[place] = array.shape
            return array

        rewrite(owner, note)
        lengths.append(found)
    return frozenset(
        place
        for place, shape in lengths[0].items()
        if not shape or lengths[1].get(place, (0,))[axis] == shape[axis]
    )


def find_shared_numbers(owner: Any) -> dict[str, float]:
    """Return the numbers that an object holds outside of arrays, which all lanes share."""
    return {
        name: float(value)
        for name, value in vars(owner).items()
        if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    }
