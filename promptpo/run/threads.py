"""Asynchronous work for callers who are not: in an event loop of its own, here or in a thread.

Whoever waits can stop the work: what is asked to end still closes what it has open, so waiting goes on until it
has; whoever does not want to wait for that interrupts a second time.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

T = TypeVar("T")

Work = Callable[[], Coroutine[Any, Any, T]]


class InThread(Generic[T]):
    """Work in a thread with an event loop of its own.

    Args:
        work: Makes the coroutine; called in the thread, with the caller's context variables.

    Attributes:
        future: Its result, or what it raised.
    """

    def __init__(self, work: Work[T]) -> None:
        self.future: Future[T] = Future()
        self._work = work
        self._task: asyncio.Task[Any] | None = None
        context = contextvars.copy_context()  # notebooks know by it which cell prints
        threading.Thread(target=context.run, args=(self._main,), name="promptpo").start()

    def cancel(self) -> None:
        """Cancel the work; it is over when `future` is done."""
        task = self._task
        if task is not None and not self.future.done():
            task.get_loop().call_soon_threadsafe(task.cancel)

    def _main(self) -> None:
        try:
            result = asyncio.run(self._watched())
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            self.future.set_exception(error)
        else:
            self.future.set_result(result)

    async def _watched(self) -> T:
        self._task = asyncio.current_task()
        return await self._work()


def run_async(work: Work[T], stop: Callable[[str], None] | None = None) -> T:
    """Run a coroutine function to its end, also where an event loop is running already (notebooks).

    Args:
        work: What to run.
        stop: Asks it to end, with the reason, when Ctrl-C comes while it runs in a thread; its result is
            returned then. Without it, and on the second Ctrl-C, it is cancelled.

    Raises:
        KeyboardInterrupt: It was cancelled.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    thread = InThread(work)
    interrupted = False
    while True:
        try:
            return thread.future.result()
        except KeyboardInterrupt:
            if stop is None or interrupted:
                thread.cancel()
            else:
                stop("interrupted by Ctrl-C")
            interrupted = True
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None


async def run_beside(work: Work[T], stop: Callable[[str], None]) -> T:
    """Run a coroutine function in a thread, so that the caller's event loop is never kept waiting.

    Args:
        work: What to run.
        stop: Asks it to end, with the reason, when the caller is cancelled; the second time it is cancelled.

    Raises:
        CancelledError: The caller was cancelled, and the work is over.
    """
    thread = InThread(work)
    waiting = asyncio.wrap_future(thread.future)
    cancelled = False
    while not waiting.done():
        try:
            await asyncio.wait([waiting])
        except asyncio.CancelledError:
            if cancelled:
                thread.cancel()
            else:
                stop("cancelled")
            cancelled = True
    if cancelled:
        waiting.exception()  # whatever it was, it is over
        raise asyncio.CancelledError
    return waiting.result()
