"""One round's message to the guest and its answer."""

from __future__ import annotations

from time import perf_counter
from typing import Any, TypeAlias

from promptpo_sandbox.guest import wire
from promptpo_sandbox.guest.actions import InvalidActionError, sample
from promptpo_sandbox.guest.wire import HEADER
from promptpo_sandbox.lockstep.acting import ActionDecoder, Clipped
from promptpo_sandbox.lockstep.lane import Lane
from promptpo_sandbox.lockstep.meter import Meter
from promptpo_sandbox.lockstep.progress import LaneTimeoutError
from promptpo_sandbox.pipes import Aside, Failed, Guest, GuestTimeoutError

Answer: TypeAlias = bytes | list[tuple[int, bytes | Failed]]
"""A round's answer as received: the one message, or the count and payload of each chunk."""


class NoAction:
    """Stands in for the action of a lane that failed.

    Args:
        failure: See `Failed`.
    """

    __slots__ = ("failure",)

    def __init__(self, failure: Failed) -> None:
        self.failure = failure


def decode_chunk(decoder: ActionDecoder, payload: bytes | Failed, count: int) -> list[Any]:
    """Return the actions of a chunk, with a `NoAction` in place of a failure.

    Raises:
        GuestGoneError: The bytes are malformed.
    """
    return decoder.decode(payload, count) if isinstance(payload, bytes) else [NoAction(payload)]


_SPECIAL = (NoAction, Clipped, InvalidActionError)


class RoundTrip:
    """Sends observations and gets the actions of a fixed set of lanes.

    Args:
        guest: The guest.
        lanes: The lanes, in order.
        decoder: Decodes actions.
        meter: Charges the lanes.
        aside: Handles chunks that account for no lane.
        seconds: Deadline of one lane's answer.
        careful: Whether the guest reports each action at once, so that a hanging lane can be identified.

    Attributes:
        answer: The last answer as received, for `action_in`.
    """

    def __init__(
        self,
        guest: Guest,
        lanes: list[Lane],
        decoder: ActionDecoder,
        meter: Meter,
        aside: Aside,
        *,
        seconds: float,
        careful: bool,
    ) -> None:
        self._guest = guest
        self._lanes = lanes
        self._decoder = decoder
        self._meter = meter
        self._aside = aside
        self._seconds = seconds
        self._careful = careful
        self._count = len(lanes)
        size = decoder.row_bytes * len(lanes)
        self._header = HEADER.pack(wire.ACTIONS, 0, len(lanes), size) if size else b"?"
        self._expected = HEADER.size + size
        self.answer: Answer = b""

    def __call__(self, batch: bytes | list[Any]) -> tuple[list[Any], bool]:
        """Return the lanes' actions, and whether any of them is missing, invalid or clipped.

        Raises:
            LaneTimeoutError: A policy took too long.
            GuestGoneError: The guest died or lied.
        """
        lanes = self._lanes
        began = perf_counter()
        try:
            self._guest.send(batch, self._seconds)
            data = self._guest.read(max(self._expected + 1, 4096), self._seconds)
        except GuestTimeoutError:
            raise self._timeout(0, began) from None
        if len(data) == self._expected and data.startswith(self._header):
            self._meter.charge_all(perf_counter() - began, self._count)
            self.answer = data
            actions = self._decoder.decode(memoryview(data)[HEADER.size :], self._count)
            if self._decoder.clean:
                return actions, False
        else:
            self._guest.push_back(data)
            actions = self._slowly(began)
        actions = [self._explain(lane, action) for lane, action in zip(lanes, actions, strict=True)]
        return actions, any(type(action) in _SPECIAL for action in actions)

    def _slowly(self, began: float) -> list[Any]:
        """Collect an answer that arrives in several chunks, and charge each lane its own time."""
        lanes = self._lanes
        actions: list[Any] = []
        chunks: list[tuple[int, bytes | Failed]] = []
        self.answer = chunks
        try:
            for count, payload in self._guest.answers(len(lanes), wire.ACTIONS, self._seconds, self._aside):
                now = perf_counter()
                self._meter.charge(lanes[len(actions) : len(actions) + count], now - began)
                began = now
                chunks.append((count, payload))
                actions += decode_chunk(self._decoder, payload, count)
        except GuestTimeoutError:
            raise self._timeout(len(actions), began) from None
        return actions

    def _timeout(self, answered: int, began: float) -> LaneTimeoutError:
        text = f"one act call took longer than {self._seconds:g} s; do less work in it, or do it once in __init__"
        waiting = self._lanes[answered:]
        if len(waiting) > 1 and not self._careful:
            return LaneTimeoutError(None, text)  # some may have acted, with their actions not yet sent
        self._meter.charge(waiting[:1], perf_counter() - began)
        return LaneTimeoutError(waiting[0], text)

    @staticmethod
    def _explain(lane: Lane, action: Any) -> Any:
        if type(action) is not InvalidActionError:
            return action
        return NoAction(("invalid_action", str(action), f"obs was {sample(lane.obs)}"))


def action_in(answer: Answer, index: int, lanes: int, decoder: ActionDecoder) -> Any:
    """Return one lane's action in a valid answer, decoded again, so that nobody can have changed it.

    Args:
        answer: A `RoundTrip.answer`.
        index: Position of the lane.
        lanes: Number of lanes.
        decoder: Decodes actions.
    """
    if isinstance(answer, bytes):
        return decoder.decode(memoryview(answer)[HEADER.size :], lanes)[index]
    for count, payload in answer:
        if index < count:
            return decode_chunk(decoder, payload, count)[index]
        index -= count
    raise IndexError
