"""The clean process that guests are forked from: warm, single-threaded, without secrets.

It never runs untrusted code itself. The host starts it as a new interpreter with an empty environment and
communicates with it over one socket: ``F`` and two descriptors fork a guest, ``K`` ends it.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import json
import os
import signal
import socket
import sys
import types
from typing import Any

from promptpo_sandbox.guest import confine, wire
from promptpo_sandbox.guest.facades import Modules, preload
from promptpo_sandbox.guest.loop import GuestLoop
from promptpo_sandbox.guest.plain import encode
from promptpo_sandbox.guest.wire import ENDED, FORKED, REQUEST

_OUT_OF_THE_WAY = 16
"""Guests use no descriptors from here on."""


def main(descriptor: int) -> None:
    """Serve the host until it closes the socket.

    Args:
        descriptor: Descriptor of the socket.
    """
    control = socket.socket(fileno=descriptor)
    control.set_inheritable(False)
    with control.makefile("rb", buffering=0) as stream:
        config = json.loads(stream.readline())
    server = _Zygote(control, config)
    control.sendall(b"R")
    server.serve()


class _Zygote:
    def __init__(self, control: socket.socket, config: dict[str, object]) -> None:
        self.control = control
        layers = config["layers"]
        assert isinstance(layers, list)  # noqa: S101
        self.settings = confine.Confinement(
            wanted=frozenset(layers),
            directory=_open_unlinked(str(config["directory"])),
            memory_bytes=int(str(config["memory_bytes"])),
            cpu_seconds=int(str(config["cpu_seconds"])),
        )
        preload()
        _import(config["modules"])
        self.modules = Modules()
        if "environment" in layers:
            os.environ.clear()
        confine.measure()
        sys.setswitchinterval(1000)  # one thread: never ask whether another wants to run
        gc.collect()
        gc.freeze()

    def serve(self) -> None:
        """Fork and end guests."""
        pid = 0
        while True:
            request, descriptors, _, _ = socket.recv_fds(self.control, REQUEST.size, 2)
            if len(request) < REQUEST.size:  # the host is gone
                self._end(pid)
                return
            what, core = REQUEST.unpack(request)
            if what == b"F":
                pid = os.fork()
                if pid == 0:
                    self._become_guest(descriptors, core)
                for inherited in descriptors:
                    os.close(inherited)
                self.control.sendall(FORKED.pack(pid))
            elif what == b"K":
                self.control.sendall(self._end(pid))
                pid = 0

    @staticmethod
    def _end(pid: int) -> bytes:
        """Kill the guest and whatever it started; return its status and usage."""
        if not pid:
            return ENDED.pack(0, 0.0)
        for kill in (os.killpg, os.kill):
            try:
                kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        _, status, usage = os.wait4(pid, 0)
        return ENDED.pack(status, usage.ru_utime + usage.ru_stime)

    def _become_guest(self, descriptors: list[int], core: int) -> None:
        try:
            if core >= 0:
                os.sched_setaffinity(0, {core})
            reading, writing = (os.dup(number) for number in descriptors)
            os.dup2(reading, wire.READ)
            os.dup2(1, 2)  # the host has connected this process's standard output to /dev/null
            os.dup2(writing, wire.WRITE)
            report = confine.confine(self.settings)
            guest = GuestLoop(self.modules)
            os.write(wire.WRITE, wire.message(wire.READY, encode(report)))
            guest.serve()
        finally:
            os._exit(70)


def _import(modules: Any) -> None:
    """Import modules by name, each from the directory of its top-level package, without running ``__init__`` of its packages.

    Modules without a directory are installed ones, and are skipped if they are not installed.
    """
    for module, directory in modules.items():
        parents = module.split(".")[:-1]
        for depth in range(1, len(parents) + 1):
            package = ".".join(parents[:depth])
            if directory and package not in sys.modules:
                sys.modules[package] = types.ModuleType(package)
                sys.modules[package].__path__ = ["/".join((directory, *parents[1:depth]))]
        with contextlib.suppress(ImportError) if not directory else contextlib.nullcontext():
            importlib.import_module(module)


def _open_unlinked(directory: str) -> int:
    """Open an empty directory and remove its name, so that it disappears with its last user, however that ends."""
    low = os.open(directory, os.O_RDONLY)
    descriptor = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, _OUT_OF_THE_WAY)
    os.close(low)
    os.rmdir(directory)  # noqa: PTH106
    return descriptor
