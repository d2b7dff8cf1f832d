"""Encoding of a round's actions for the host: the fastest safe one for each kind of space."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from promptpo_sandbox.guest import wire
from promptpo_sandbox.guest.actions import Layout, coerce
from promptpo_sandbox.guest.outbox import Outbox
from promptpo_sandbox.guest.plain import encode


class ActionBatch:
    """Actions of consecutive lanes that have not been sent yet.

    Args:
        outbox: Sends them to the host.
        layout: The action space.

    Attributes:
        fast_type: Values of exactly this type may be appended to `pending` as they are.
        pending: The actions: one for each lane that has acted.
    """

    fast_type: type = type(None)

    def __init__(self, outbox: Outbox, layout: Layout = ("tuple", [])) -> None:
        self.outbox = outbox
        self.layout = layout
        self.pending: list[Any] = []

    def add(self, value: Any) -> None:
        """Add what ``act`` returned.

        Raises:
            InvalidActionError: It is not an action; the host checks bounds.
        """
        self.pending.append(coerce(self.layout, value, bounds=False))

    def send(self) -> None:
        """Send the pending actions, if any."""
        if self.pending:
            self.outbox.account(wire.ACTIONS, self._encode(), len(self.pending))
            self.pending.clear()

    def _encode(self) -> bytes:
        raise NotImplementedError


class DiscreteBatch(ActionBatch):
    """Numbers of a Discrete space."""

    fast_type = int

    def _encode(self) -> bytes:
        try:
            return struct.pack(f"<{len(self.pending)}q", *self.pending)
        except struct.error:  # an int that needs more than 64 bits: out of bounds in any case
            return struct.pack(
                f"<{len(self.pending)}q", *(max(-(2**63), min(2**63 - 1, a)) for a in self.pending)
            )


class BoxBatch(ActionBatch):
    """Arrays of one shape and dtype."""

    def __init__(self, outbox: Outbox, layout: Layout) -> None:
        super().__init__(outbox, layout)
        self.dtype, self.shape = np.dtype(layout[1]), tuple(layout[2])
        self.accepted = (self.dtype, np.dtype(np.float64)) if self.dtype.kind == "f" else (self.dtype,)

    def add(self, value: Any) -> None:
        """See `ActionBatch.add`; arrays of the right shape and dtype need no conversion."""
        if type(value) is np.ndarray and value.shape == self.shape and value.dtype in self.accepted:
            # a copy, since the policy may go on using the array before the round is sent
            self.pending.append(value.astype(self.dtype, "C"))
        else:
            self.pending.append(coerce(self.layout, value, bounds=False).tobytes())

    def _encode(self) -> bytes:
        return b"".join(self.pending)


class PlainBatch(ActionBatch):
    """Actions without a fixed layout."""

    def _encode(self) -> bytes:
        return encode(self.pending)


def batch_of(layout: Layout, outbox: Outbox) -> ActionBatch:
    """Return an empty batch for a space."""
    kinds: dict[str, type[ActionBatch]] = {"discrete": DiscreteBatch, "box": BoxBatch}
    return kinds.get(layout[0], PlainBatch)(outbox, layout)
