"""Observations in the announced layout, each with memory of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from promptpo_sandbox.guest.wire import HEADER

MAX_PICKED_NUMBERS = 128
"""Size of an observation up to which indexing with integers is faster than copying a view."""


class Rows:
    """Splits the observations of a round into those of the lanes.

    Args:
        dtype: Name of the dtype in numpy.
        shape: Shape of one observation; None for integers.
    """

    def __init__(self, dtype: str = "<f8", shape: tuple[int, ...] | None = None) -> None:
        self._dtype, self._shape = np.dtype(dtype), None if shape is None else tuple(shape)
        self._places: list[np.ndarray[Any, Any]] = []

    def read(self, payload: bytes, lanes: int) -> list[Any]:
        """Return one observation for each lane: ints, or arrays that a policy may write to."""
        flat = np.frombuffer(payload, self._dtype, offset=HEADER.size)
        if self._shape is None:
            integers: list[Any] = flat.tolist()
            return integers
        if not self._shape:
            return [np.array(number) for number in flat]
        if flat.size > lanes * MAX_PICKED_NUMBERS:
            return [row.copy() for row in flat.reshape(lanes, *self._shape)]
        if len(self._places) != lanes:
            self._places = [place.copy() for place in np.arange(flat.size).reshape(lanes, *self._shape)]
        return [flat[place] for place in self._places]
