"""Policies that act in many lanes: one object for all lanes where that works, otherwise one for each lane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from promptpo_sandbox.arrays import assemble
from promptpo_sandbox.guest.actions import InvalidActionError, Layout, coerce, sample
from promptpo_sandbox.guest.construct import construct
from promptpo_sandbox.guest.lanes import Array, Form, KeyPath, find_laneless, keep_lanes

Vectors: TypeAlias = Sequence[dict[str, float] | None]
Namespaces: TypeAlias = Callable[[int], dict[str, Any]]
"""Runs a fresh copy of the policy's module; the number determines its random numbers."""

CLOSE = 1e-6
"""Relative difference between the actions of a lane and of a separate copy that counts as rounding."""


class SharedPlayer:
    """Acts in all lanes.

    Args:
        module: Runs the policy's module.
        vectors: The parameters of each lane.
        layouts: Layouts of observations and of actions.

    Attributes:
        failed: The exception of the first failing lane, if any.
    """

    def __init__(self, module: Namespaces, vectors: Vectors, layouts: tuple[Layout, Layout]) -> None:
        self.failed: BaseException | None = None
        self._module, self._vectors, self._layouts = module, vectors, layouts
        self._form = Form(layouts[1])
        self._begin()

    def _begin(self) -> None:
        """Construct the policies."""
        raise NotImplementedError

    def act(self, observations: Array, alive: Array) -> tuple[Array, Array]:
        """Return the actions of all lanes, not yet clipped, and a mask of the lanes that gave one.

        Args:
            observations: One per lane.
            alive: Mask of the lanes whose episodes have not ended: a policy sees no later observation.
        """
        raise NotImplementedError

    def keep(self, lanes: Array) -> None:
        """Drop all lanes but these."""
        raise NotImplementedError


class LanePlayer(SharedPlayer):
    """One policy object for all lanes: ``obs`` and the parameters have the lane last."""

    def _begin(self) -> None:
        self._policy = self._construct(len(self._vectors))
        self._last: Array = np.zeros(0)

    def act(self, observations: Array, alive: Array) -> tuple[Array, Array]:
        """See `SharedPlayer.act`."""
        n, form = len(observations), self._form
        if not alive.all():
            observations = observations.copy()
            observations[~alive] = self._last[~alive]
        self._last = observations
        value = self._policy.act(_lanes_last(observations))
        if isinstance(value, (list, tuple)) and form.shape:
            value = np.stack([np.broadcast_to(np.asarray(item), (n,)) for item in value])
        array = np.asarray(value)
        if form.shape == (1,) and array.shape == (n,):
            array = array[None]
        if array.shape != (*form.shape, n) or array.dtype.kind not in "biuf":
            raise InvalidActionError(f"act returned {sample(value)} for {n} lanes")
        actions = np.array(np.moveaxis(array, -1, 0), order="C")
        good = np.isfinite(actions.reshape(n, -1)).all(axis=1)
        if not good[alive].all():
            self.failed = self.failed or InvalidActionError("act returned NaN or infinity")
        actions[~good] = 0
        return actions, good

    def keep(self, lanes: Array) -> None:
        """See `SharedPlayer.keep`."""
        keep_lanes(self._policy, lanes, self._laneless, axis=-1)
        self._last = self._last[lanes]

    @cached_property
    def _laneless(self) -> frozenset[KeyPath]:
        """Key paths of the policy's arrays that have no lane axis."""
        return find_laneless(self._run, -1)

    def _run(self, n: int) -> Any:
        """Return a policy that has acted once, in n lanes."""
        policy = self._construct(n)
        policy.act(_lanes_last(np.resize(self._last, (n, *self._last.shape[1:]))))
        return policy

    def _construct(self, n: int) -> Any:
        """Construct a policy whose parameters are arrays over n lanes."""
        namespace, vectors = self._module(0), self._vectors
        if vectors[0] is None:
            return construct(namespace, None)
        each = [assemble(vectors[i % len(vectors)], namespace.get("PARAMS")) for i in range(n)]
        stacked: Any = {
            key: np.stack([np.asarray(values[key], float) for values in each], axis=-1) for key in each[0]
        }
        return construct(namespace | {"PARAMS": None}, stacked)


def _lanes_last(observations: Array) -> Array:
    return np.moveaxis(_copy_as_double(observations), 0, -1)


def _copy_as_double(observations: Array) -> Array:
    """Return a copy in double precision, unless it holds integers.

    A parameter is a number for a separate copy and a double array in lanes: single precision would differ between
    them.
    """
    return observations.astype(float if observations.dtype.kind == "f" else observations.dtype)


class CopyPlayer(SharedPlayer):
    """One policy object for each lane."""

    def _begin(self) -> None:
        self._ints = self._layouts[0][0] == "discrete"
        self._acts: list[Callable[[Any], Any] | None] = []
        for lane, vector in enumerate(self._vectors):
            try:
                self._acts.append(construct(self._module(lane), vector).act)
            except BaseException as error:  # noqa: BLE001 - the policy's failure, and its outcome
                self.failed = self.failed or error
                self._acts.append(None)

    def act(self, observations: Array, alive: Array) -> tuple[Array, Array]:
        """See `SharedPlayer.act`."""
        rows = observations.tolist() if self._ints else _copy_as_double(observations)
        actions = np.zeros((len(rows), *self._form.shape), self._form.dtype)
        good = np.ones(len(rows), bool)
        for lane, (act, obs) in enumerate(zip(self._acts, rows, strict=True)):
            good[lane] = act is not None
            if act is not None and alive[lane]:
                try:
                    actions[lane] = coerce(self._layouts[1], act(obs), bounds=False)
                except BaseException as error:  # noqa: BLE001 - the policy's failure, and its outcome
                    self.failed = self.failed or error
                    self._acts[lane], good[lane] = None, False
        finite = np.isfinite(actions.reshape(len(rows), -1)).all(axis=1)
        if not finite.all():
            self.failed = self.failed or InvalidActionError("act returned NaN or infinity")
            actions[~finite] = 0
        return actions, good & finite

    def keep(self, lanes: Array) -> None:
        """See `SharedPlayer.keep`."""
        self._acts = [act for act, stays in zip(self._acts, lanes, strict=True) if stays]


def differing_lane(first: Array, second: Array, alive: Array) -> int | None:
    """Return the first living lane [n, …] whose actions differ by more than rounding; None where none do."""
    if first.dtype.kind != "f" and second.dtype.kind != "f":
        different = first != second
    else:
        scale = CLOSE * np.maximum(1.0, np.maximum(np.abs(first), np.abs(second)))
        different = np.abs(first - second) > scale
    lanes = np.flatnonzero(different.reshape(len(first), -1).any(axis=1) & alive)
    return int(lanes[0]) if len(lanes) else None
