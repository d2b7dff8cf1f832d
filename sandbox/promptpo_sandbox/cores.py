"""Pin a host and its guest to one core: they take turns, and a wake-up across cores costs ten times as much.

Sandboxes on one machine must not share a core while others are idle, so each claims one by binding an abstract socket
named after it, which the kernel frees when its owner dies. Once all cores are claimed, each can be claimed again:
sharing a core is still cheaper than communicating across cores.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator

_LEVELS = 16
"""Maximum number of sandboxes per core; any beyond that are left to the scheduler."""


class CoreClaim:
    """A core claimed for the lifetime of a sandbox.

    `core` is None, and the scheduler decides, where no core can be claimed (far more sandboxes than cores).

    Args:
        core: A specific core, used without a claim; None claims a free one, -1 leaves the choice to the scheduler.
    """

    def __init__(self, core: int | None = None) -> None:
        self.core = None if core == -1 else core
        self._socket: socket.socket | None = None
        if core is None:
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
        """Pin the current thread to the core within the context."""
        if self.core is None:
            yield
            return
        before = os.sched_getaffinity(0)
        with contextlib.suppress(OSError):  # otherwise its affinity stays as it was
            os.sched_setaffinity(0, {self.core})
        try:
            yield
        finally:
            os.sched_setaffinity(0, before)

    def close(self) -> None:
        """Release the core."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
