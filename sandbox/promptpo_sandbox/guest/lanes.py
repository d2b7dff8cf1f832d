"""Simulators in lanes: many copies of a task in one object, whose answers are checked and whose lanes can be replaced.

A simulator is a module with ``class Simulator``: ``__init__(self, params, rng)``, ``reset(n)`` and ``set(obs)`` start
n lanes, ``step(actions)`` returns (obs, reward, terminated), arrays whose first axis is the lane. All state that
changes is kept in arrays whose first axis is the lane, so that lanes can be dropped and restarted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
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

KeyPath: TypeAlias = tuple[Any, ...]
"""The attributes, keys and indices that lead from an object to a value inside it."""

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
        """Clip values to the bounds of the space; those of an integer space become integers, as a policy's file makes them."""
        clipped = np.clip(values, self.low, self.high)
        return clipped if self.dtype.kind == "f" else clipped.astype(self.dtype)


class LaneSimulator:
    """One simulator, or an ensemble that divides the lanes among its members, with checked answers.

    Args:
        module: The module's names.
        vectors: Values of its ``PARAMS``, a mapping for each member; None if it declares none.
        forms: Forms of observations and of actions.
        seed: Seed of its random numbers.

    Attributes:
        members: The simulators, each with lanes of its own.
        broken: Number of running lanes that ended because the simulator returned NaN, infinity or an absurd reward.
    """

    def __init__(
        self, module: Mapping[str, Any], vectors: Sequence[Any], forms: tuple[Form, Form], seed: Sequence[int]
    ) -> None:
        self._make = maker(module)
        self._vectors, self._seed = vectors, [*seed]
        self.observation, self.action = forms
        self.members: list[Any] = []
        self._sizes: list[int] = []
        self._last: Array = np.zeros(0)
        self.broken = 0

    def __len__(self) -> int:
        """Return the number of lanes."""
        return len(self._last)

    def reseed(self, number: int) -> None:
        """Change the random numbers from the next start on."""
        self._seed[0] += number

    def _construct(self, n: int) -> None:
        """Construct the members anew and divide n lanes among them."""
        count = min(len(self._vectors), n)
        self._sizes = [n // count + (i < n % count) for i in range(count)]
        self._seed[-1] += 1
        self.members = [
            self._make(vector, np.random.default_rng([*self._seed, i]))
            for i, vector in enumerate(self._vectors[:count])
        ]

    def reset(self, n: int) -> Array:
        """Start n lanes in initial states."""
        self._construct(n)
        pairs = zip(self.members, self._sizes, strict=True)
        self._last = np.concatenate([self._rows(member.reset(n), n, "reset") for member, n in pairs])
        if not np.isfinite(self._last).all():
            raise ContractError("Simulator.reset returned NaN or infinity; return finite observations")
        return self._last.copy()

    def set(self, observations: Array) -> None:
        """Start one lane from each observation."""
        self._construct(len(observations))
        self._last = observations.astype(self.observation.dtype)
        for member, rows in self._split(self._last):
            member.set(rows.copy())

    def step(self, actions: Array) -> Lanes:
        """Advance all lanes; those that break end and keep their last observation."""
        found = [self._check(member.step(rows), len(rows)) for member, rows in self._split(actions)]
        obs, reward, ended = map(np.concatenate, zip(*found, strict=True))
        good = np.abs(reward) <= MAX_REWARD
        if self.observation.dtype.kind == "f":
            good &= np.isfinite(obs.reshape(len(obs), -1).sum(axis=1))
        if not good.all():
            obs[~good], reward[~good] = self._last[~good], 0.0
            self.broken += int((~good).sum())
            ended |= ~good
        self._last = obs
        return obs, reward, ended

    def _split(self, rows: Array) -> Iterator[tuple[Any, Array]]:
        """Yield each member with the rows of its lanes."""
        for member, size, end in zip(self.members, self._sizes, accumulate(self._sizes), strict=True):
            yield member, rows[end - size : end]

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
        array, shape = _as_numbers(value), (n, *self.observation.shape)
        if array is None or array.shape != shape:
            raise ContractError(
                f"Simulator.{method} returned {sample(value)} as observations of {n} lanes; "
                f"return an array of shape {shape}"
            )
        return np.array(array, self.observation.dtype)

    # Repeating, dropping and restarting lanes

    def tile(self, copies: int) -> Array:
        """Repeat n lanes, so that each of several candidates meets the same states; return copy * n + old lane for each lane."""
        episodes: list[Array] = []
        for member, lanes in self._split(np.arange(len(self))):
            map_lanes(member, len(lanes), self._laneless, lambda _, array: np.concatenate([array] * copies))
            episodes += [copy * len(self) + lanes for copy in range(copies)]
        self._sizes = [size * copies for size in self._sizes]
        rows = np.concatenate(episodes)
        self._last = self._last[rows % len(self)]
        return rows

    def keep(self, lanes: Array) -> None:
        """Drop all lanes but these, which a mask selects."""
        kept = [(member, mask) for member, mask in self._split(lanes) if mask.any()]
        for member, mask in kept:
            keep_lanes(member, mask, self._laneless)
        self.members, self._sizes = [member for member, _ in kept], [int(mask.sum()) for _, mask in kept]
        self._last = self._last[lanes]

    def restart(self, lanes: Array) -> Array:
        """Restart some lanes, which a mask selects, and return the observations of all."""
        running, last = list(self._split(lanes)), self._last
        self._last = _replace_lanes(lanes, self.reset(len(last)), last)
        for (member, mask), fresh in zip(running, self.members, strict=True):
            new = leaves_of(fresh)

            def replace(path: KeyPath, array: Array, mask: Array = mask, new: Any = new) -> Array:
                is_number = isinstance(new.get(path), np.ndarray | np.number | float | int)
                fits = is_number and np.shape(new[path]) in {(), array.shape}
                return _replace_lanes(mask, new[path], array) if fits else array

            map_lanes(member, len(mask), self._laneless, replace)
        self.members = [member for member, _ in running]
        return self._last.copy()

    @cached_property
    def _laneless(self) -> frozenset[KeyPath]:
        """Key paths of a member's arrays that have no lane axis."""
        return find_laneless(self._run, 0)

    def _run(self, n: int) -> Any:
        """Return a simulator after one step of n lanes."""
        simulator = self._make(self._vectors[0], np.random.default_rng(0))
        simulator.reset(n)
        simulator.step(self.action.clip(np.zeros((n, *self.action.shape), self.action.dtype)))
        return simulator


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
    array = _as_numbers(value)
    if array is None or array.shape not in {(), (1,), (n,)}:
        raise ContractError(
            f"Simulator.step returned {sample(value)} as {name} of {n} lanes; return an array of shape ({n},)"
        )
    return np.broadcast_to(array, (n,)).copy()


def _as_numbers(value: Any) -> Array | None:
    """Return a value as an array of real numbers; None if it is not one."""
    try:
        array = np.asarray(value)
    except ValueError:  # ragged lists
        return None
    return array if array.dtype.kind in "biuf" else None


# State of simulators and policies: arrays in nested objects, one entry for each lane


def map_lanes(
    state: Any,
    lanes: int,
    laneless: Collection[KeyPath],
    function: Callable[[KeyPath, Array], Array],
    axis: int = 0,
) -> None:
    """Replace every array of a state that has an entry for each lane.

    Args:
        state: An object of the module's own classes.
        lanes: Number of lanes.
        laneless: Key paths of arrays without a lane axis, although one may happen to be as long.
        function: Returns the new array, given the key path and the old one.
        axis: The axis of the lanes.
    """

    def replace(path: KeyPath, leaf: Any) -> Any:
        has_lanes = isinstance(leaf, np.ndarray) and leaf.ndim and leaf.shape[axis] == lanes
        return function(path, leaf) if has_lanes and path not in laneless else leaf

    map_leaves(state, replace)


def keep_lanes(state: Any, lanes: Array, laneless: Collection[KeyPath], axis: int = 0) -> None:
    """Drop all lanes of a state but those that a mask selects; see `map_lanes`."""
    map_lanes(state, len(lanes), laneless, lambda _, array: np.compress(lanes, array, axis), axis)


def _replace_lanes(lanes: Array, new: Any, old: Array) -> Array:
    """Return an array with the entries of the selected lanes replaced by those of another, or by a number."""
    selected = lanes.reshape(-1, *[1] * (old.ndim - 1))
    return np.where(selected, new, old).astype(old.dtype)


def find_laneless(run: Callable[[int], Any], axis: int) -> frozenset[KeyPath]:
    """Return the key paths of arrays that are as long for few lanes as for many, and so have no lane axis.

    Args:
        run: Returns a state that has run with this number of lanes.
        axis: The axis of the lanes in other arrays.
    """
    few, many = (
        {
            (path, leaf.shape[axis])
            for path, leaf in leaves_of(run(n)).items()
            if isinstance(leaf, np.ndarray) and leaf.ndim
        }
        for n in (3, 7)
    )
    return frozenset(path for path, _ in few & many)


def leaves_of(state: Any) -> dict[KeyPath, Any]:
    """Return the leaves of a state by key path; see `map_leaves`."""
    leaves: dict[KeyPath, Any] = {}
    map_leaves(state, leaves.setdefault)
    return leaves


def map_leaves(value: Any, function: Callable[[KeyPath, Any], Any], path: KeyPath = ()) -> Any:
    """Replace every leaf of a state: whatever is no list, tuple, dict or object of the module's own classes.

    Objects are changed in place; a list, tuple or dict is replaced.

    Args:
        value: The state, or what the key path leads to.
        function: Returns the new leaf, given its key path and the old one.
        path: The key path so far.
    """
    kind = type(value)
    if len(path) > MAX_DEPTH:
        return function(path, value)
    if kind in {list, tuple}:
        return kind([map_leaves(item, function, (*path, i)) for i, item in enumerate(value)])
    if kind is not dict and not _is_own(value):
        return function(path, value)
    names = value if kind is dict else vars(value)
    mapped = {name: map_leaves(item, function, (*path, name)) for name, item in names.items()}
    if kind is dict:
        return mapped
    names.update(mapped)
    return value


def _is_own(value: Any) -> bool:
    """Whether a value is an instance of a class that the module itself defines."""
    return (
        type(value).__module__ == MODULE_NAME and hasattr(value, "__dict__") and not isinstance(value, type)
    )


def find_shared_numbers(owner: Any) -> dict[str, float]:
    """Return the numbers that an object holds outside of arrays, which all lanes share."""
    return {
        name: float(value)
        for name, value in vars(owner).items()
        if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    }
