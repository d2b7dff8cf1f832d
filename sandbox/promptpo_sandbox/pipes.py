"""The host's end of a guest's pipes: messages in both directions, under deadlines that the guest cannot move."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeAlias

from promptpo_sandbox.guest.plain import PlainDataError, decode
from promptpo_sandbox.guest.wire import FAILED, HEADER
from promptpo_sandbox.results import FailureKind, Limits

MAX_FAILURE_TEXT = 8000
_MAX_FAILURE_BYTES = 2 * 4 * MAX_FAILURE_TEXT + 1024
_FAILURE_VALUES = 8
_GLANCE_SECONDS = 0.05
_CPU_CLOCK_OF_PROCESS = 2

MAX_BYTES_PER_CHARACTER = 4

Failed: TypeAlias = tuple[FailureKind, str, str]
"""Kind, message and detail of a failure."""

Aside: TypeAlias = Callable[[int, int, bytes], None]
"""Handles kind, count and payload of a chunk that answers for no lane, or raises."""


class GuestTimeoutError(Exception):
    """The guest did not answer in time."""


class GuestGoneError(Exception):
    """The guest died, or sent what it must not send."""


class Guest:
    """One confined child and the two pipes to it.

    Args:
        reading: Our end of the pipe for its answers; non-blocking.
        writing: Our end of the pipe for its messages; non-blocking.
        limits: Limits of the length of its messages and of the time to wait for them.
        pid: Its process ID; 0 if unknown, in which case its CPU time cannot be read.
    """

    def __init__(self, reading: int, writing: int, limits: Limits, pid: int = 0) -> None:
        self.reading = reading
        self.writing = writing
        self.pid = pid
        self.wall_factor = limits.wall_factor
        self._message_bytes = limits.message_bytes
        self._glance = 1000 * min(_GLANCE_SECONDS, limits.step_seconds / 10)
        self._buffer = b""
        self._readable = select.poll()
        self._readable.register(reading, select.POLLIN)
        self._writable = select.poll()
        self._writable.register(writing, select.POLLOUT)

    def cpu_seconds(self) -> float | None:
        """Return the CPU time that it has used so far; None where the system does not report it."""
        if not self.pid:
            return None
        try:  # the ID of another process's clock, as clock_getcpuclockid(3) computes it
            return time.clock_gettime((~self.pid << 3) | _CPU_CLOCK_OF_PROCESS)
        except OSError:
            return None

    def send(self, data: bytes | list[Any], seconds: float) -> None:
        """Write one message, as bytes or as buffers, which are copied only if the pipe does not take all of them at once.

        Raises:
            GuestTimeoutError: The guest did not read it in time.
            GuestGoneError: The guest no longer reads.
        """
        try:
            sent = os.write(self.writing, data) if isinstance(data, bytes) else os.writev(self.writing, data)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            raise GuestGoneError(str(error)) from error
        if not isinstance(data, bytes):
            data = b"".join(data) if sent < sum(memoryview(part).nbytes for part in data) else b""
        if sent < len(data):
            self._send_rest(memoryview(data)[sent:], Deadline(self, seconds))

    def _send_rest(self, data: memoryview, deadline: Deadline) -> None:
        while data:
            deadline.wait(self._writable)
            try:
                data = data[os.write(self.writing, data) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise GuestGoneError(str(error)) from error

    def read(self, size: int, seconds: float) -> bytes:
        """Return up to `size` bytes as soon as any arrive.

        Raises:
            GuestTimeoutError: None arrived in time.
            GuestGoneError: The guest has closed its pipe.
        """
        if not self._readable.poll(self._glance):  # nearly always enough, and reads no clock
            Deadline(self, seconds).wait(self._readable)
        return self._take(size)

    def _take(self, size: int) -> bytes:
        try:
            data = os.read(self.reading, size)
        except OSError as error:
            raise GuestGoneError(str(error)) from error
        if not data:
            raise GuestGoneError("the guest closed its pipe")
        return data

    def chunk(self, deadline: Deadline) -> tuple[int, int, bytes]:
        """Return kind, count and payload of the next chunk.

        Raises:
            GuestTimeoutError: It did not arrive in time, whatever else did.
            GuestGoneError: The guest has closed its pipe, or sent something malformed.
        """
        buffer = self._buffer
        while len(buffer) < HEADER.size:
            deadline.wait(self._readable)
            buffer += self._take(65536)
        kind, flags, count, length = HEADER.unpack_from(buffer)
        if length > self._message_bytes or flags:
            raise GuestGoneError("the guest sent a malformed message")
        total = HEADER.size + length
        if len(buffer) < total:
            parts = [buffer]
            missing = total - len(buffer)
            while missing > 0:
                deadline.wait(self._readable)
                parts.append(self._take(max(65536, missing)))
                missing -= len(parts[-1])
            buffer = b"".join(parts)
        self._buffer = buffer[total:]
        return kind, count, buffer[HEADER.size : total]

    def answers(
        self, lanes: int, wanted: int, seconds: float, aside: Aside
    ) -> Iterator[tuple[int, bytes | Failed]]:
        """Yield the answers of lanes as they arrive: the number of lanes, and the payload or a failure.

        Args:
            lanes: Number of lanes that have to answer.
            wanted: The kind of chunk that is an answer.
            seconds: Deadline of each answer, regardless of other chunks.
            aside: Handles chunks of other kinds.

        Raises:
            GuestTimeoutError: An answer did not arrive in time.
            GuestGoneError: The guest has closed its pipe, or sent something that was not requested.
        """
        while lanes:
            deadline = Deadline(self, seconds)
            kind, count, payload = self.chunk(deadline)
            while kind not in (wanted, FAILED):
                aside(kind, count, payload)
                kind, count, payload = self.chunk(deadline)
            if kind == FAILED:
                count = 1
            elif not 0 < count <= lanes:
                refuse()
            lanes -= count
            yield count, decode_failure(payload) if kind == FAILED else payload
        if self._buffer:
            raise GuestGoneError("the guest sent more than it was asked for")

    def push_back(self, data: bytes) -> None:
        """Return bytes taken by `read` to the buffer of `chunk`."""
        self._buffer = data + self._buffer

    def close(self) -> None:
        """Close the pipes."""
        os.close(self.reading)
        os.close(self.writing)


class Deadline:
    """The deadline of one answer, which nothing that the guest sends in the meantime can move.

    It limits the guest's CPU time, so that a policy does not fail because the machine is busy. The outer bound is a
    multiple of that in wall time, for guests that wait instead of working. Where a guest's CPU time cannot be read,
    wall time takes its place.

    Args:
        guest: The process that has to answer.
        seconds: CPU time that it may use.
    """

    def __init__(self, guest: Guest, seconds: float) -> None:
        self._guest = guest
        self._seconds = seconds
        self._wall_seconds = seconds * guest.wall_factor
        self._began = time.monotonic()
        self._used = guest.cpu_seconds()

    def seconds_left(self) -> float:
        """Return how many seconds must pass before it can expire; zero or negative once it has."""
        wall = time.monotonic() - self._began
        used = None if self._used is None else self._guest.cpu_seconds()
        if used is None or self._used is None:
            return self._seconds - wall
        return min(self._seconds - (used - self._used), self._wall_seconds - wall)

    def wait(self, descriptor: select.poll) -> None:
        """Wait until a descriptor is ready.

        Raises:
            GuestTimeoutError: The deadline has passed.
        """
        while (left := self.seconds_left()) > 0:
            if descriptor.poll(max(1.0, 1000 * left)):
                return
        raise GuestTimeoutError


def refuse(*_: object) -> NoReturn:
    """Reject a chunk.

    Raises:
        GuestGoneError: Always.
    """
    raise GuestGoneError("the guest sent a message out of order")


def decode_failure(payload: bytes) -> Failed:
    """Kind, message and detail of a FAILED chunk.

    Raises:
        GuestGoneError: It is malformed.
    """
    try:
        if len(payload) > _MAX_FAILURE_BYTES:
            raise PlainDataError("too long")
        return read_failure(decode(payload, max_values=_FAILURE_VALUES))
    except (PlainDataError, ValueError, TypeError) as error:
        raise GuestGoneError("the guest sent a malformed message") from error


def read_failure(value: Any) -> Failed:
    """Return the kind, message and detail that a guest sent as plain data.

    Raises:
        ValueError: They are malformed; or TypeError.
    """
    kind, text, detail = value
    known: tuple[FailureKind, ...] = ("rejected", "crashed", "memory", "invalid_action")
    if not isinstance(text, str) or not isinstance(detail, str):
        raise TypeError
    return known[known.index(kind)], text[:MAX_FAILURE_TEXT], detail[:MAX_FAILURE_TEXT]
