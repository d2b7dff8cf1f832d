"""Ending a search from outside: by a signal, a limit, or a caller's wish."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


class Control:
    """Ends a search from outside: by a signal, a limit, or a caller's wish."""

    def __init__(self) -> None:
        self.reason = ""
        self._task: asyncio.Task[Any] | None = None

    def watch(self, task: asyncio.Task[Any]) -> None:
        """The task that `stop` cancels."""
        self._task = task
        if self.reason:
            task.cancel()

    def stop(self, reason: str) -> None:
        """End the search now, calls in flight included; the best so far is still tested and written."""
        if not self.reason:
            self.reason = reason
            if self._task is not None:
                self._task.get_loop().call_soon_threadsafe(
                    self._task.cancel
                )  # whoever waits may be another thread


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
        self._control.stop("interrupted by Ctrl-C")
        self._loop.remove_signal_handler(signal.SIGINT)  # the next one is Python's own KeyboardInterrupt
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            self._loop.remove_signal_handler(signal.SIGINT)
            signal.signal(signal.SIGINT, self._previous)
