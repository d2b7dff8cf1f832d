"""Ending a search from outside: by a signal, a limit, or a caller's wish."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")

INTERRUPTED = "interrupted by Ctrl-C"
"""Why a run ended that a person has interrupted."""

GRACE_SECONDS = 10.0
"""How long all that follows a search may take, altogether, once somebody wants it to end."""


class Control:
    """Ends a search from outside: by a signal, a limit, or a caller's wish."""

    def __init__(self) -> None:
        self.reason = ""
        self._task: asyncio.Task[Any] | None = None
        self._stopped: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._until: float | None = None

    def watch(self, task: asyncio.Task[Any]) -> None:
        """The task that `stop` cancels."""
        self._task = task
        if self.reason:
            task.cancel()

    def stop(self, reason: str) -> None:
        """End the search now, calls in flight included; the best so far is still tested and written."""
        if not self.reason:
            self.reason = reason
            # whoever waits may be another thread
            if self._task is not None:
                self._task.get_loop().call_soon_threadsafe(self._task.cancel)
            if self._loop is not None and self._stopped is not None:
                self._loop.call_soon_threadsafe(self._stopped.set)

    async def finished(self, work: Coroutine[Any, Any, T]) -> T | None:
        """What comes after the search: its result, or None where the end was asked for and it takes too long.

        From the first work that is waited for when the end is asked for, `GRACE_SECONDS` remain for all of it.
        """
        self._loop = asyncio.get_running_loop()
        self._stopped = self._stopped or asyncio.Event()
        if self.reason:
            self._stopped.set()
        task, stopped = asyncio.ensure_future(work), asyncio.ensure_future(self._stopped.wait())
        try:
            await asyncio.wait([task, stopped], return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                self._until = self._until or time.monotonic() + GRACE_SECONDS
                await asyncio.wait([task], timeout=max(0.0, self._until - time.monotonic()))
            if task.done():
                return task.result()
        finally:
            stopped.cancel()
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        return None


def obey_interrupts() -> None:
    """Have SIGINT interrupt this process, also where a shell started it in the background, which makes it ignored."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


async def together(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run all of it at once; the first failure cancels the rest, and is raised by itself."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(item) for item in work]
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    return [task.result() for task in tasks]


class Interrupts:
    """Ctrl-C once ends the search and reports the best so far; a second time it stops at once."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._previous: Any = None

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            loop = asyncio.get_running_loop()
            self._previous = signal.getsignal(signal.SIGINT)
            loop.add_signal_handler(signal.SIGINT, self._interrupted)
            self._loop = loop

    def _interrupted(self) -> None:
        self._control.stop(INTERRUPTED)
        self._loop.remove_signal_handler(signal.SIGINT)  # the next one is Python's own KeyboardInterrupt
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            self._loop.remove_signal_handler(signal.SIGINT)
            signal.signal(signal.SIGINT, self._previous)
