"""The process that guests are forked from, seen from the host."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from promptpo_sandbox.errors import SandboxBrokenError
from promptpo_sandbox.guest import wire
from promptpo_sandbox.guest.plain import PlainDataError, decode
from promptpo_sandbox.guest.wire import ENDED, FORKED, REQUEST
from promptpo_sandbox.pipes import Deadline, Guest, GuestGoneError, GuestTimeoutError
from promptpo_sandbox.results import Layers, Limits

_START_SECONDS = 60.0
_PIPE_BYTES = 1 << 20
_BOOTSTRAP = """\
import sys, types
package = types.ModuleType("promptpo_sandbox")
package.__path__ = [sys.argv[1]]
sys.modules["promptpo_sandbox"] = package
from promptpo_sandbox.guest.zygote import main
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


@dataclass(frozen=True, slots=True)
class GuestUsage:
    """Measured resource usage of a guest.

    Attributes:
        status: Wait status.
        cpu_seconds: User and system time.
    """

    status: int
    cpu_seconds: float


class Zygote:
    """The process that guests are forked from; one guest lives at a time.

    Args:
        limits: Resource limits of guests.
        layers: Layers of protection of guests.
        modules: Trusted modules with which guests read texts, by name, with the directories of their packages.
    """

    def __init__(self, limits: Limits, layers: Layers, modules: Mapping[str, str] | None = None) -> None:
        self._limits = limits
        self._guest: Guest | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._control, theirs = socket.socketpair()
        self._directory = tempfile.mkdtemp(prefix="sandbox-")
        config = {
            "layers": [field.name for field in dataclasses.fields(layers) if getattr(layers, field.name)],
            "directory": self._directory,
            "memory_bytes": limits.memory_bytes,
            "cpu_seconds": limits.cpu_seconds,
            "modules": dict(modules or {}),
        }
        try:
            with theirs:
                self._process = _start_interpreter(theirs.fileno(), empty=layers.environment)
            self._greet(config)
        except OSError as error:
            raise self._explain_break(str(error)) from error
        except BaseException:  # such as Ctrl-C: an incomplete start must leave nothing behind
            self._discard()
            raise

    def _greet(self, config: dict[str, object]) -> None:
        os.chmod(self._directory, 0o555)  # noqa: PTH101, S103 - it is empty, and the guest may be another user
        self._control.settimeout(_START_SECONDS)
        self._control.sendall(json.dumps(config).encode() + b"\n")
        if self._control.recv(1) != b"R":
            raise ConnectionResetError("it died")

    def _explain_break(self, why: str) -> SandboxBrokenError:
        last = self._discard()
        return SandboxBrokenError(f"the sandbox process cannot be used: {last or why}")

    def _discard(self) -> str:
        """Kill the process and close everything; return the last line that it wrote."""
        stderr = b""
        if self._process is not None:
            self._process.kill()
            with contextlib.suppress(ValueError):  # already closed
                _, stderr = self._process.communicate()
        self.close()
        lines = stderr.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    @property
    def alive(self) -> bool:
        """Whether guests can be forked."""
        return self._process is not None and self._process.poll() is None

    def fork(self, core: int | None = None) -> tuple[Guest, list[str], list[str]]:
        """End the last guest and fork a new one.

        Args:
            core: The core it is pinned to; None leaves it to the scheduler.

        Returns:
            The guest, the layers in force, and those that are missing.

        Raises:
            SandboxBrokenError: It cannot be forked.
        """
        self.end()
        their_reading, writing = os.pipe()
        reading, their_writing = os.pipe()
        for descriptor in (writing, reading):
            os.set_blocking(descriptor, False)
            _enlarge(descriptor)
        guest = Guest(reading, writing, self._limits)
        try:
            socket.send_fds(
                self._control,
                [REQUEST.pack(b"F", -1 if core is None else core)],
                [their_reading, their_writing],
            )
            guest.pid = FORKED.unpack(self._receive(FORKED.size))[0]
        except OSError as error:
            guest.close()
            raise self._explain_break(str(error)) from error
        finally:
            os.close(their_reading)
            os.close(their_writing)
        self._guest = guest
        try:
            kind, _, payload = guest.chunk(Deadline(guest, _START_SECONDS))
            active, missing = decode(payload)
        except (GuestGoneError, GuestTimeoutError, PlainDataError, ValueError) as error:
            self.end()
            raise SandboxBrokenError(
                "a guest could not be confined; see python -m promptpo_sandbox.check"
            ) from error
        if kind != wire.READY:
            raise SandboxBrokenError("a guest did not start")
        return guest, active, missing

    def end(self) -> GuestUsage | None:
        """Kill the guest, if there is one, and everything it started."""
        if self._guest is None:
            return None
        self._guest.close()
        self._guest = None
        try:
            self._control.sendall(REQUEST.pack(b"K", -1))
            return GuestUsage(*ENDED.unpack(self._receive(ENDED.size)))
        except OSError as error:
            raise self._explain_break(str(error)) from error

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
        if self._process is not None:
            if self._process.poll() is None:
                try:
                    self._process.wait(2)
                except subprocess.TimeoutExpired:
                    self._process.kill()
                    self._process.wait()
            if self._process.stderr is not None:
                self._process.stderr.close()
        with contextlib.suppress(FileNotFoundError):  # the zygote removes it, unless it did not start
            os.rmdir(self._directory)  # noqa: PTH106


def _start_interpreter(descriptor: int, *, empty: bool) -> subprocess.Popen[bytes]:
    """Start the interpreter that becomes the zygote, without this process's environment variables if `empty`."""
    return subprocess.Popen(
        [sys.executable, "-s", "-P", "-c", _BOOTSTRAP, str(Path(__file__).parent), str(descriptor)],
        env=_ENVIRONMENT if empty else {**os.environ, **_ENVIRONMENT},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        pass_fds=[descriptor],
        start_new_session=True,
        cwd="/",
    )


def _enlarge(descriptor: int) -> None:
    """Ask for a larger pipe, which not every system grants, so that a batch of images passes in one piece."""
    with contextlib.suppress(OSError):
        fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
