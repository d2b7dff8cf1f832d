"""Keeping a host and its guest on one core: they take turns, and a wake-up across cores costs ten times as much.

Several sandboxes on one machine must not meet on the same core while others idle, so each claims one: by
binding an abstract socket named after it, which the kernel frees when its owner dies. When all cores are
claimed, they are claimed a second time: sharing a core is still cheaper than talking across cores.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Iterator

_LEVELS = 16
"""How many sandboxes may share a core before the scheduler decides."""


class CoreClaim:
    """One core for this sandbox, while it lives.

    Where nothing can be claimed (not Linux, or far more sandboxes than cores) `core` is None, and the scheduler
    decides.

    Args:
        core: A certain core, which is taken without a claim; None claims a free one, -1 none.
    """

    def __init__(self, core: int | None = None) -> None:
        self.core = None if core == -1 else core
        self._socket: socket.socket | None = None
        if core is None and sys.platform == "linux":
            self._claim()

    def _claim(self) -> None:
        cores = sorted(os.sched_getaffinity(0))
        start = os.getpid() % len(cores)
        for level in range(_LEVELS):
            for core in cores[start:] + cores[:start]:
                claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
                try:
                    claim.bind(f"\0sandbox-core-{core}-{level}")
                except OSError:
                    claim.close()
                    continue
                self.core, self._socket = core, claim
                return

    @contextlib.contextmanager
    def use(self) -> Iterator[None]:
        """Keep this thread on the core meanwhile."""
        if self.core is None or sys.platform != "linux":
            yield
            return
        before = os.sched_getaffinity(0)
        with contextlib.suppress(OSError):  # then it runs where it could before
            os.sched_setaffinity(0, {self.core})
        try:
            yield
        finally:
            os.sched_setaffinity(0, before)

    def close(self) -> None:
        """Give the core up."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
