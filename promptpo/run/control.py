"""Ending a run from outside: by a signal, a limit, or a caller's wish; and running it for callers who are not asynchronous.

Whoever waits can stop the work: what is asked to end still closes what it has open, so waiting goes on until it has;
whoever does not want to wait for that interrupts a second time.
"""

from __future__ import annotations

import asyncio
import contextvars
import signal
import threading
import time
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Generic, TypeVar

from promptpo.errors import RunError

T = TypeVar("T")

Work = Callable[[], Coroutine[Any, Any, T]]

INTERRUPTED = "interrupted by Ctrl-C"
"""Why a run ended that a person has interrupted."""

GRACE_SECONDS = 10.0
"""How long all that follows a search may take, altogether, once somebody wants it to end."""


class Control:
    """Ends a run from outside: by a signal, a limit, or a caller's wish.

    Attributes:
        reason: Why it is to end; empty while it is not.
        told: Called once, when the end is asked for.
    """

    def __init__(self) -> None:
        self.reason = ""
        self.told: Callable[[], object] = lambda: None
        self._task: asyncio.Future[Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped: asyncio.Event | None = None
        self._until: float | None = None

    def stop(self, reason: str) -> None:
        """End the search now; the best so far is still tested and written."""
        if self.reason:
            return
        self.reason = reason
        self.told()
        if self._loop is not None:  # whoever waits may be another thread
            self._loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        if self._task is not None:
            self._task.cancel()
        if self._stopped is not None:
            self._stopped.set()

    async def until_stopped(self, work: Coroutine[Any, Any, T], seconds: float | None = None) -> T | None:
        """The result of a search; None where its end was asked for before it was over.

        Raises:
            TimeoutError: It takes more than so many seconds.
        """
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.ensure_future(work)
        if self.reason:
            self._task.cancel()
        try:
            return await asyncio.wait_for(self._task, seconds)
        except (asyncio.CancelledError, Exception):
            whole = asyncio.current_task()
            if not self.reason or (whole is not None and whole.cancelling()):
                raise
            return None  # what breaks while it is ended is not worth the best so far
        finally:
            self._task = None

    async def begun(self, work: Coroutine[Any, Any, T], then: str) -> T:
        """The result of what comes before a search.

        Args:
            work: What is done.
            then: The command that goes on.

        Raises:
            RunError: The end was asked for meanwhile, so that there is nothing to report.
        """
        found = await self.until_stopped(work)
        if found is None:
            raise RunError(f"{self.reason} before any policy was tried; go on with: {then}")
        return found

    async def finished(self, work: Coroutine[Any, Any, T], *, at_least: float = 0.0) -> T | None:
        """What comes after the search: its result, or None where the end was asked for and it takes too long or fails.

        From the first work that is waited for when the end is asked for, `GRACE_SECONDS` remain for all of it, and for
        each as many seconds as are said to be its own at least.
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
                await asyncio.wait([task], timeout=max(at_least, self._until - time.monotonic()))
            if task.done() and not (self.reason and (task.cancelled() or task.exception())):
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
    """Ctrl-C once ends the search and reports the best so far; a second time it stops at once.

    Args:
        control: Told of the first.
        then: The command that goes on with the run, said after the second.
    """

    def __init__(self, control: Control, then: str) -> None:
        self._control, self._then = control, then
        self._previous: Any = None
        self._left = False

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.getsignal(signal.SIGINT)
            self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
            self._loop.add_signal_handler(signal.SIGINT, self._interrupted)

    def _interrupted(self) -> None:
        self._loop.add_signal_handler(signal.SIGINT, self._leave)
        self._control.stop(INTERRUPTED)

    def _leave(self) -> None:
        # Cancelled, not raised: an exception in the midst of the event loop's own work leaves it waiting for ever.
        self._loop.remove_signal_handler(signal.SIGINT)
        self._left = True
        if self._task is not None:
            self._task.cancel()

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            self._loop.remove_signal_handler(signal.SIGINT)
            signal.signal(signal.SIGINT, self._previous)
        if self._left:
            raise KeyboardInterrupt(f"go on with: {self._then}")


class InThread(Generic[T]):
    """Work in a thread with an event loop of its own.

    Args:
        work: Makes the coroutine; called in the thread, with the caller's context variables.
        stop: Asks it to end, with the reason.

    Attributes:
        future: Its result, or what it raised.
        asked: Whether it was asked to end.
    """

    def __init__(self, work: Work[T], stop: Callable[[str], None] | None) -> None:
        self._task: asyncio.Task[Any] | None = None
        self._stop = stop
        self.asked = False
        context = contextvars.copy_context()  # notebooks know by it which cell prints
        pool = ThreadPoolExecutor(1, "promptpo")
        self.future: Future[T] = pool.submit(context.run, asyncio.run, self._watched(work))
        pool.shutdown(wait=False)

    def end(self, reason: str) -> None:
        """Ask it to end; cancel it the second time, or where it cannot be asked. It is over when `future` is done."""
        if self._stop is not None and not self.asked:
            self._stop(reason)
        elif self._task is not None and not self.future.done():
            self._task.get_loop().call_soon_threadsafe(self._task.cancel)
        self.asked = True

    async def _watched(self, work: Work[T]) -> T:
        self._task = asyncio.current_task()
        return await work()


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
    thread = InThread(work, stop)
    while True:
        try:
            return thread.future.result()
        except KeyboardInterrupt:
            thread.end(INTERRUPTED)
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
    thread = InThread(work, stop)
    waiting = asyncio.wrap_future(thread.future)
    while not waiting.done():
        try:
            await asyncio.wait([waiting])
        except asyncio.CancelledError:
            thread.end("cancelled")
    if thread.asked:
        waiting.exception()  # whatever it was, it is over
        raise asyncio.CancelledError
    return waiting.result()
