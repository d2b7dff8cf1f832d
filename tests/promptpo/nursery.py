"""Sandboxes forked from a process that has done all imports, which take longer than most tests in them.

Commands in real processes start an interpreter each time, as for users; so do most tests of the sandbox itself.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import uuid
from pathlib import Path
from typing import IO, Any

import pytest

import promptpo
from promptpo_sandbox import Sandbox, process

VARIABLE = "PROMPTPO_TESTS_NURSERY"
address = os.environ.get(VARIABLE, "")
"""Socket of the nursery; forks of this process inherit it, whatever their environment variables."""

ROOT = str(Path(promptpo.__file__).parent)
start_interpreter = process._start_interpreter

CODE = """
import gc, os, select, signal, socket, sys, traceback, types
package = types.ModuleType("promptpo_sandbox")
package.__path__ = [sys.argv[1]]
sys.modules["promptpo_sandbox"] = package
from promptpo_sandbox.guest import facades, zygote
import promptpo_sandbox.gate.check
facades.preload()
zygote._import({"promptpo.program.confined.reading": sys.argv[3]})
gc.freeze()

def reap(*_):
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass

signal.signal(signal.SIGCHLD, reap)
door = socket.socket(fileno=int(sys.argv[2]))
while 0 not in select.select([door, 0], [], [])[0]:
    asked, _ = door.accept()
    try:
        _, (control, errors), _, _ = socket.recv_fds(asked, 1, 2)
    except (OSError, ValueError):  # whoever asked was killed; others will ask
        continue
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})  # it is not reaped before it is told
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        os.setsid()
        os.dup2(errors, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for file in (errors, asked.detach(), door.detach()):
            os.close(file)
        try:
            zygote.main(control)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    handle = os.pidfd_open(pid)
    try:
        socket.send_fds(asked, [pid.to_bytes(4, "big")], [handle])
    except OSError:
        os.kill(pid, signal.SIGKILL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    for file in (handle, control, errors, asked.detach()):
        os.close(file)
"""
"""Source of the nursery; it ends when its standard input is closed."""


class ForkedProcess:
    """A process started by another one, with the methods of `subprocess.Popen`.

    Args:
        pid: Process id.
        handle: Descriptor of the process (pidfd).
        stderr: Its standard error.
    """

    def __init__(self, pid: int, handle: int, stderr: IO[bytes]) -> None:
        self.pid, self.stderr, self._handle = pid, stderr, handle

    def __del__(self) -> None:
        os.close(self._handle)

    def _ended(self, seconds: float | None) -> bool:
        poller = select.poll()
        poller.register(self._handle, select.POLLIN)
        return bool(poller.poll(None if seconds is None else 1000 * seconds))

    def poll(self) -> int | None:
        """Return zero once it has ended."""
        return 0 if self._ended(0) else None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end."""
        if not self._ended(timeout):
            raise subprocess.TimeoutExpired("sandbox", timeout or 0)
        return 0

    def kill(self) -> None:
        """Kill it."""
        if self.poll() is None:
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    def communicate(self) -> tuple[None, bytes]:
        """Return its standard error."""
        return None, self.stderr.read()


def start_copy(descriptor: int, *, empty: bool) -> Any:
    """Replacement for `promptpo_sandbox.process._start_interpreter`."""
    if not (empty and address):
        return start_interpreter(descriptor, empty=empty)
    reading, writing = os.pipe()
    with socket.socket(socket.AF_UNIX) as asking:
        asking.connect(f"\0{address}")
        socket.send_fds(asking, [b"S"], [descriptor, writing])
        os.close(writing)
        pid, handles, _, _ = socket.recv_fds(asking, 4, 1)
    return ForkedProcess(int.from_bytes(pid, "big"), handles[0], os.fdopen(reading, "rb"))


def start_with_own_interpreter(box: Sandbox) -> None:
    """Start a sandbox with an interpreter of its own, as users do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "_start_interpreter", start_interpreter)
        assert box.status.level == "strong"


class Nursery:
    """The process that sandboxes are forked from."""

    def __init__(self) -> None:
        global address  # noqa: PLW0603
        address = os.environ[VARIABLE] = f"promptpo-{uuid.uuid4()}"
        with socket.socket(socket.AF_UNIX) as door:
            door.bind(f"\0{address}")
            door.listen(64)
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-s",
                    "-P",
                    "-c",
                    CODE,
                    str(Path(process.__file__).parent),
                    str(door.fileno()),
                    ROOT,
                ],
                env=process._ENVIRONMENT,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=[door.fileno()],
                start_new_session=True,
                cwd="/",
            )

    def close(self) -> None:
        """End it; its forks live on until their hosts close them."""
        global address  # noqa: PLW0603
        address = os.environ[VARIABLE] = ""
        self._process.communicate()
