"""The host's ends: starting the zygote, forking guests from it, exchanging messages under deadlines."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.errors import SandboxBrokenError
from sandbox.guest import wire
from sandbox.guest.plain import PlainDataError, decode
from sandbox.guest.wire import ENDED, FORKED, HEADER, REQUEST
from sandbox.results import FailureKind, Layers, Limits

MAX_FAILURE_TEXT = 8000
_START_SECONDS = 60.0
_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031
_BOOTSTRAP = """\
import sys, types
package = types.ModuleType("sandbox")
package.__path__ = [sys.argv[1]]
sys.modules["sandbox"] = package
from sandbox.guest.zygote import main
main(int(sys.argv[2]))
"""
"""Imports the guest's modules without the package's own ``__init__``, which is the host's side."""

_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


class GuestTimeoutError(Exception):
    """The guest did not answer in time."""


class GuestGoneError(Exception):
    """The guest died, or sent what it must not send."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a guest was seen to use.

    Attributes:
        status: Wait status.
        cpu_seconds: User and system time.
        max_resident_bytes: Greatest resident memory, shared pages included.
    """

    status: int
    cpu_seconds: float
    max_resident_bytes: int


class Guest:
    """One confined child and the two pipes to it.

    Args:
        reading: Our end of its answers.
        writing: Our end of its messages.
        message_bytes: The longest chunk it may send.
    """

    def __init__(self, reading: int, writing: int, message_bytes: int) -> None:
        self.reading = reading
        self.writing = writing
        self.pid = 0
        self.message_bytes = message_bytes
        self._buffer = b""
        self._readable = select.poll()
        self._readable.register(reading, select.POLLIN)
        self._writable = select.poll()
        self._writable.register(writing, select.POLLOUT)

    def send(self, data: bytes, seconds: float) -> None:
        """Write one message.

        Raises:
            GuestTimeoutError: It was not read in time.
            GuestGoneError: Nobody reads.
        """
        try:
            sent = os.write(self.writing, data)
        except BlockingIOError:
            sent = 0
        except OSError as error:
            raise GuestGoneError(str(error)) from error
        if sent < len(data):
            self._send_rest(memoryview(data)[sent:], seconds)

    def _send_rest(self, data: memoryview, seconds: float) -> None:
        end = time.monotonic() + seconds
        while data:
            left = end - time.monotonic()
            if left <= 0 or not self._writable.poll(max(1, left * 1000)):
                raise GuestTimeoutError
            try:
                data = data[os.write(self.writing, data) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise GuestGoneError(str(error)) from error

    def read(self, size: int, seconds: float) -> bytes:
        """Up to `size` bytes, as soon as there are any.

        Raises:
            GuestTimeoutError: There are none in time.
            GuestGoneError: There will be none.
        """
        if not self._readable.poll(seconds * 1000):
            raise GuestTimeoutError
        data = os.read(self.reading, size)
        if not data:
            raise GuestGoneError("the guest closed its pipe")
        return data

    def chunk(self, seconds: float) -> tuple[int, int, bytes]:
        """Kind, count and payload of the next chunk.

        Raises:
            GuestTimeoutError: It did not come in time.
            GuestGoneError: It will not come, or is none.
        """
        end = time.monotonic() + seconds
        buffer = self._buffer
        while len(buffer) < HEADER.size:
            buffer += self.read(65536, max(0.0, end - time.monotonic()))
        kind, flags, count, length = HEADER.unpack_from(buffer)
        if length > self.message_bytes or flags:
            raise GuestGoneError("the guest sent a malformed message")
        total = HEADER.size + length
        if len(buffer) < total:
            parts = [buffer]
            missing = total - len(buffer)
            while missing > 0:
                parts.append(self.read(max(65536, missing), max(0.0, end - time.monotonic())))
                missing -= len(parts[-1])
            buffer = b"".join(parts)
        self._buffer = buffer[total:]
        return kind, count, buffer[HEADER.size : total]

    def push_back(self, data: bytes) -> None:
        """Let `chunk` start with bytes that `read` took."""
        self._buffer = data + self._buffer

    def finish(self) -> None:
        """Check that an answer is complete.

        Raises:
            GuestGoneError: More bytes were sent than asked for.
        """
        if self._buffer:
            raise GuestGoneError("the guest sent more than it was asked for")

    def close(self) -> None:
        """Close the pipes."""
        os.close(self.reading)
        os.close(self.writing)


class Zygote:
    """The process that guests are forked from; one guest lives at a time.

    Args:
        limits: What guests may use.
        layers: How they are confined.
        scipy: Whether guests may import scipy.
    """

    def __init__(self, limits: Limits, layers: Layers, *, scipy: bool = False) -> None:
        self._limits = limits
        self._guest: Guest | None = None
        self._directory = tempfile.mkdtemp(prefix="sandbox-")
        os.chmod(self._directory, 0o555)  # noqa: PTH101, S103 - empty, and the guest may be another user
        ours, theirs = socket.socketpair()
        self._control = ours
        ours.settimeout(_START_SECONDS)
        environment = _ENVIRONMENT if layers.environment else {**os.environ, **_ENVIRONMENT}
        with theirs:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-s",
                    "-P",
                    "-c",
                    _BOOTSTRAP,
                    str(Path(__file__).parent),
                    str(theirs.fileno()),
                ],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                cwd="/",
            )
        config = {
            "layers": [field.name for field in dataclasses.fields(layers) if getattr(layers, field.name)],
            "directory": self._directory,
            "memory_bytes": limits.memory_bytes,
            "cpu_seconds": limits.cpu_seconds,
            "scipy": scipy,
        }
        try:
            ours.sendall(json.dumps(config).encode() + b"\n")
            ready = ours.recv(1)
        except OSError as error:
            raise self._broken() from error
        if ready != b"R":
            raise self._broken()

    def _broken(self) -> SandboxBrokenError:
        self._process.kill()
        _, stderr = self._process.communicate()
        self.close()
        lines = stderr.decode(errors="replace").strip().splitlines()
        return SandboxBrokenError(f"the sandbox process cannot be used: {lines[-1] if lines else 'it died'}")

    @property
    def alive(self) -> bool:
        """Whether guests can be forked."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def fork(self, core: int | None = None) -> tuple[Guest, list[str], list[str]]:
        """A new guest, once the last one has been ended.

        Args:
            core: Where it shall run.

        Returns:
            The guest, and the layers that are in force and missing.

        Raises:
            SandboxBrokenError: It cannot be forked.
        """
        self.end()
        their_reading, writing = os.pipe()
        reading, their_writing = os.pipe()
        for descriptor in (writing, reading):
            os.set_blocking(descriptor, False)
            _enlarge(descriptor)
        guest = Guest(reading, writing, self._limits.message_bytes)
        try:
            socket.send_fds(
                self._control,
                [REQUEST.pack(b"F", -1 if core is None else core)],
                [their_reading, their_writing],
            )
            guest.pid = FORKED.unpack(self._receive(FORKED.size))[0]
        except OSError as error:
            guest.close()
            raise self._broken() from error
        finally:
            os.close(their_reading)
            os.close(their_writing)
        self._guest = guest
        try:
            kind, _, payload = guest.chunk(_START_SECONDS)
            active, missing = decode(payload)
        except (GuestGoneError, GuestTimeoutError, PlainDataError, ValueError) as error:
            self.end()
            raise SandboxBrokenError("a guest could not be confined; see python -m sandbox.check") from error
        if kind != wire.READY:
            raise SandboxBrokenError("a guest did not start")
        return guest, active, missing

    def end(self) -> Usage | None:
        """Kill the guest, if there is one, and everything it started."""
        if self._guest is None:
            return None
        self._guest.close()
        self._guest = None
        try:
            self._control.sendall(REQUEST.pack(b"K", -1))
            status, cpu_seconds, resident = ENDED.unpack(self._receive(ENDED.size))
        except OSError as error:
            raise self._broken() from error
        return Usage(status, cpu_seconds, resident * (1024 if sys.platform == "linux" else 1))

    def _receive(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self._control.recv(size - len(data))
            if not piece:
                raise ConnectionResetError("the sandbox process died")
            data += piece
        return data

    def close(self) -> None:
        """End the guest and the zygote."""
        if self._guest is not None:
            self._guest.close()
            self._guest = None
        self._control.close()
        if self._process.poll() is None:
            try:
                self._process.wait(2)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()
        with contextlib.suppress(FileNotFoundError):  # the zygote has removed it, unless it did not start
            os.rmdir(self._directory)  # noqa: PTH106


def _enlarge(descriptor: int) -> None:
    """Ask for a larger pipe, so that a batch of images passes in one piece; not granted everywhere."""
    if sys.platform == "linux":
        import fcntl

        try:
            fcntl.fcntl(descriptor, _F_SETPIPE_SZ, _PIPE_BYTES)
        except OSError:
            return


def decode_failure(payload: bytes) -> tuple[FailureKind, str, str]:
    """Kind, message and detail of a FAILED chunk.

    Raises:
        GuestGoneError: It is malformed.
    """
    try:
        value: Any = decode(payload)
        kind, text, detail = value
    except (PlainDataError, ValueError, TypeError) as error:
        raise GuestGoneError("the guest sent a malformed message") from error
    known: tuple[FailureKind, ...] = ("rejected", "crashed", "memory", "invalid_action")
    if kind not in known or not isinstance(text, str) or not isinstance(detail, str):
        raise GuestGoneError("the guest sent a malformed message")
    return known[known.index(kind)], text[:MAX_FAILURE_TEXT], detail[:MAX_FAILURE_TEXT]
