"""Decoding of actions from the guest's bytes, which are checked for anything that a lying guest could send."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from promptpo_sandbox.guest.actions import (
    InvalidActionError,
    Layout,
    box_problem,
    values_in,
    wrong_action,
)
from promptpo_sandbox.guest.plain import PlainDataError, decode
from promptpo_sandbox.pipes import GuestGoneError
from promptpo_sandbox.spaces import gym_action


class ActionDecoder:
    """Decodes batches of actions of one space.

    Args:
        space: The action space.
        layout: The layout of that space.
        clip: Whether continuous actions are clipped to their bounds.

    Attributes:
        row_bytes: Size of one action; 0 where it varies.
        clean: Whether the last batch holds nothing but valid, unclipped actions.
    """

    def __init__(self, space: gymnasium.Space[Any], layout: Layout, *, clip: bool) -> None:
        self.space = space
        self.layout = layout
        self.kind = layout[0]
        self.clip = clip
        self.row_bytes = 0
        self.clean = True
        if self.kind == "discrete":
            self.row_bytes = 8
            self._low, self._high = layout[2], layout[2] + layout[1] - 1
        elif self.kind == "box":
            self._prepare_box()
        else:
            self._values = values_in(layout)

    def _prepare_box(self) -> None:
        _, dtype, shape, low, high = self.layout
        self._dtype, self._shape = np.dtype(dtype), tuple(shape)
        low, high = np.asarray(low), np.asarray(high)
        if self._dtype.kind == "f":  # an infinite bound still excludes infinity itself
            largest = np.finfo(self._dtype).max
            low, high = np.maximum(low, -largest), np.minimum(high, largest)
        self._row_low, self._row_high = low, high
        self.row_bytes = self._dtype.itemsize * low.size

    def decode(self, payload: bytes | memoryview, count: int) -> list[Any]:
        """Return the actions of a chunk, with an `InvalidActionError` in place of each invalid one.

        Raises:
            GuestGoneError: The bytes are malformed.
        """
        self.clean = True
        if self.kind == "discrete":
            return self._discrete(payload, count)
        if self.kind == "box":
            return self._box(payload, count)
        try:
            values = decode(bytes(payload), max_values=1 + self._values * count)
        except PlainDataError as error:
            raise GuestGoneError("the guest sent a malformed action") from error
        if not isinstance(values, list) or len(values) != count:
            raise GuestGoneError("the guest sent a malformed action")
        self.clean = False
        return [self._check(value) for value in values]

    def _check(self, value: Any) -> Any:
        try:
            return gym_action(self.space, self.layout, value)
        except InvalidActionError as error:
            return error

    def _discrete(self, payload: bytes | memoryview, count: int) -> list[Any]:
        if len(payload) != 8 * count:
            raise GuestGoneError("the guest sent a malformed action")
        actions: list[Any] = np.frombuffer(payload, "<i8").tolist()
        low, high = self._low, self._high
        for action in actions:
            if not low <= action <= high:
                self.clean = False
                return [a if low <= a <= high else wrong_action(self.layout, a) for a in actions]
        return actions

    def _box(self, payload: bytes | memoryview, count: int) -> list[Any]:
        if len(payload) != self.row_bytes * count:
            raise GuestGoneError("the guest sent a malformed action")
        batch = np.frombuffer(payload, self._dtype).reshape(count, *self._shape).copy()
        if bool(((batch >= self._row_low) & (batch <= self._row_high)).all()):
            return list(batch) if self._shape else [np.array(number) for number in batch]
        self.clean = False
        return [self._check_box(row) for row in batch]

    def _check_box(self, row: Any) -> Any:
        problem = box_problem(row, self._row_low, self._row_high)
        if not problem:
            return row
        if self.clip and self._dtype.kind == "f" and bool(np.isfinite(row).all()):
            return Clipped(np.clip(row, self._row_low, self._row_high))
        return wrong_action(self.layout, row, problem)


class Clipped:
    """A continuous action that had to be clipped.

    Args:
        action: The clipped action, which the environment gets.
    """

    __slots__ = ("action",)

    def __init__(self, action: Any) -> None:
        self.action = action
