"""One round's message to the guest and its answer."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from sandbox.guest import wire
from sandbox.guest.actions import InvalidActionError, sample
from sandbox.guest.wire import HEADER
from sandbox.lockstep.acting import Clipped
from sandbox.lockstep.ledger import LaneTimeoutError
from sandbox.process import GuestGoneError, GuestTimeoutError, decode_failure
from sandbox.results import FailureKind

if TYPE_CHECKING:
    from sandbox.lockstep.lane import Lane
    from sandbox.lockstep.session import Session


class NoAction:
    """Stands in for the action of a lane that failed.

    Args:
        failure: Kind, message and detail.
    """

    __slots__ = ("failure",)

    def __init__(self, failure: tuple[FailureKind, str, str]) -> None:
        self.failure = failure


_SPECIAL = (NoAction, Clipped, InvalidActionError)


class Exchange:
    """Sends observations and gets the actions of a fixed set of lanes.

    Args:
        session: Whose guest it is, and who is charged for the time.
        lanes: The lanes, in order.
    """

    def __init__(self, session: Session, lanes: list[Lane]) -> None:
        self._session = session
        self._lanes = lanes
        self._guest = session.guest
        self._decoder = session.decoder
        self._seconds = session.limits.step_seconds
        size = session.decoder.row_bytes * len(lanes)
        self._header = HEADER.pack(wire.ACTIONS, 0, len(lanes), size) if size else b"?"
        self._expected = HEADER.size + size

    def __call__(self, batch: bytes) -> tuple[list[Any], bool]:
        """The lanes' actions, and whether any of them is none or was clipped.

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
            self._session.charge_all(perf_counter() - began)
            actions = self._decoder.decode(memoryview(data)[HEADER.size :], len(lanes))
            if self._decoder.clean:
                return actions, False
        else:
            self._guest.push_back(data)
            actions = self._slowly(began)
        actions = [self._explained(lane, action) for lane, action in zip(lanes, actions, strict=True)]
        return actions, any(type(action) in _SPECIAL for action in actions)

    def _slowly(self, began: float) -> list[Any]:
        """Collect an answer that comes in several chunks, and charge each lane its own time."""
        session, lanes = self._session, self._lanes
        actions: list[Any] = []
        while len(actions) < len(lanes):
            before = len(actions)
            try:
                kind, count, payload = self._guest.chunk(self._seconds)
            except GuestTimeoutError:
                raise self._timeout(before, began) from None
            if kind == wire.OUTPUT:
                session.note_output(count, payload)
                continue
            if kind == wire.ACTIONS and 0 < count <= len(lanes) - before:
                actions += self._decoder.decode(payload, count)
            elif kind == wire.FAILED:
                actions.append(NoAction(decode_failure(payload)))
            else:
                raise GuestGoneError("the guest sent a message out of order")
            now = perf_counter()
            session.charge(lanes[before : len(actions)], now - began)
            began = now
        self._guest.finish()
        return actions

    def _timeout(self, answered: int, began: float) -> LaneTimeoutError:
        text = f"one act call took longer than {self._seconds:g} s; do less work in it, or do it once in __init__"
        waiting = self._lanes[answered:]
        if len(waiting) > 1 and not self._session.options.careful:
            return LaneTimeoutError(None, text)  # some of them may have answered without having been sent
        self._session.charge(waiting[:1], perf_counter() - began)
        return LaneTimeoutError(waiting[0], text)

    @staticmethod
    def _explained(lane: Lane, action: Any) -> Any:
        if type(action) is not InvalidActionError:
            return action
        return NoAction(("invalid_action", str(action), f"obs was {sample(lane.obs)}"))
