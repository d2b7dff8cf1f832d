"""Encoding of all lanes' observations as one message: raw rows if they are alike, otherwise plain data."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from promptpo_sandbox.guest import wire
from promptpo_sandbox.guest.plain import encode
from promptpo_sandbox.guest.wire import HEADER, message
from promptpo_sandbox.lockstep.lane import Lane
from promptpo_sandbox.spaces import plain_observation

LARGE_ROW = 8192
"""Size from which an observation is not copied into the message, in bytes."""

MOST_BUFFERS = 512
"""Buffers that one ``writev`` takes on every system; POSIX guarantees fewer, all systems that run Python have more."""


class ObservationEncoder:
    """Encodes batches of observations for one guest.

    Args:
        space: The observation space. The values decide: the row layout is taken from them.
    """

    def __init__(self, space: gymnasium.Space[Any]) -> None:
        self.space = space
        self.integers = isinstance(space, spaces.Discrete)
        self.arrays = isinstance(space, (spaces.Box, spaces.MultiDiscrete, spaces.MultiBinary))
        self._announced: tuple[Any, Any] | None = None
        self.dtype: np.dtype[Any] | None = None
        self._row_bytes = -1

    def message(self, observations: Sequence[Any]) -> bytes:
        """Return one message, preceded by an announcement of the layout if it changes."""
        if self.integers:
            return self._integers(observations)
        if self.arrays:
            rows = [obs if isinstance(obs, np.ndarray) else np.array(obs) for obs in observations]
            first = rows[0]
            alike = all(row.dtype == first.dtype and row.shape == first.shape for row in rows)
            if alike and first.dtype.kind in "biufc" and first.dtype.isnative:
                self.dtype, self._row_bytes = first.dtype, first.nbytes
                front = self._announce(first.dtype.str, first.shape)
                return front + message(wire.STEP_FIXED, b"".join([row.tobytes() for row in rows]))
        return message(wire.STEP_PLAIN, encode([plain_observation(self.space, obs) for obs in observations]))

    def _integers(self, observations: Sequence[Any]) -> bytes:
        try:
            payload = struct.pack(f"<{len(observations)}q", *observations)
        except struct.error:  # not the integers that the space promises
            plain = [plain_observation(self.space, obs) for obs in observations]
            return message(wire.STEP_PLAIN, encode(plain))
        return self._announce("<i8", None) + message(wire.STEP_FIXED, payload)

    def _announce(self, name: str, shape: tuple[int, ...] | None) -> bytes:
        if (name, shape) == self._announced:
            return b""
        self._announced = (name, shape)
        return message(wire.LAYOUT, encode((name, shape)))

    def from_rows(self, rows: list[Any], lanes: Sequence[Lane]) -> bytes | list[Any]:
        """Return one message, from arrays of the announced layout if there is one for every lane.

        Large rows, such as images, are passed on without a copy.
        """
        if len(rows) == len(lanes) <= MOST_BUFFERS and self._row_bytes >= LARGE_ROW:
            if all(row.nbytes == self._row_bytes and row.flags.c_contiguous for row in rows):
                return [HEADER.pack(wire.STEP_FIXED, 0, 0, len(rows) * self._row_bytes), *rows]
        elif len(rows) == len(lanes):
            try:
                payload = b"".join(rows)
            except (BufferError, TypeError):  # some are not contiguous
                payload = b""
            if len(payload) == len(rows) * self._row_bytes:
                return HEADER.pack(wire.STEP_FIXED, 0, 0, len(payload)) + payload
        return self.message([lane.obs for lane in lanes])
