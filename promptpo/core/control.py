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
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, TypeVar, get_args

from promptpo.errors import FAULTS, PromptPOError, RunError

T = TypeVar("T")

Work = Callable[[], Coroutine[Any, Any, T]]

StopKind = Literal[
    "", "rounds", "solved", "ceiling", "no_gain", "stalled", "steps", "budget", "seconds", "model", "fault",
    "interrupted", "cancelled", "terminated",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class StopReason:
    """Why a search ended.

    Attributes:
        kind: For programs; empty while it goes on, or where nobody knows.
        sentence: For people, without a full stop.
    """

    kind: StopKind = ""
    sentence: str = ""

    def __str__(self) -> str:
        return self.sentence

    def __bool__(self) -> bool:
        return bool(self.sentence)

    @classmethod
    def read(cls, result: Mapping[str, Any]) -> StopReason:
        """Read it from a ``result.json``."""
        kind: Any = result.get("stop_kind")
        return cls(kind if kind in get_args(StopKind) else "", str(result.get("stop_reason") or ""))

    @property
    def is_final(self) -> bool:
        """Whether the search came to an end of its own."""
        return self.kind not in {"interrupted", "cancelled", "model", "fault"}


INTERRUPTED = StopReason("interrupted", "interrupted by Ctrl-C")
"""Why a run ended that a person has interrupted."""

GRACE_SECONDS = 10.0
"""How long all that follows a search may take, altogether, once somebody wants it to end."""


class TerminatedError(KeyboardInterrupt):
    """SIGTERM came, as schedulers and ``timeout`` send it."""


def terminate(*_signal: object) -> NoReturn:
    """Handle SIGTERM like the Ctrl-C that leaves at once."""
    raise TerminatedError


class Control:
    """Ends a run from outside: by a signal, a limit, or a caller's wish.

    Args:
        then: The command that goes on with the run.

    Attributes:
        reason: Why it is to end; false while it is not.
        fault: Of the task, the first that ended the search or a part of what follows it; None where there was none.
        on_stop: Called once, when the end is asked for.
    """

    def __init__(self, then: str = "") -> None:
        self.then, self.reason = then, StopReason()
        self.fault: PromptPOError | None = None
        self.on_stop: Callable[[], object] = lambda: None
        self._stopped, self._left, self._terminated = asyncio.Event(), False, False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._whole: asyncio.Task[Any] | None = None
        self._until: float | None = None
        self._began = time.monotonic()

    @property
    def obstacle(self) -> StopReason:
        """Why not all that follows the search is done; false where nothing stands in the way."""
        fault = str(self.fault or "").rstrip(".")
        return self.reason or StopReason("fault" if fault else "", fault)

    def stop(self, reason: StopReason) -> None:
        """End the search now; the best so far is still tested and written. Asked once more, leave at once.

        Whoever asks may be another thread.
        """
        again, self.reason = bool(self.reason), self.reason or reason
        if not again:
            self.on_stop()
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._leave if again else self._stopped.set)

    def _leave(self) -> None:
        # Cancelled, not raised: an exception in the midst of the event loop's own work leaves it waiting for ever.
        if self._whole is not None and not self._left:
            self._left = True
            self._whole.cancel()

    def _terminate(self) -> None:
        self._terminated = True
        self.stop(StopReason("terminated", "ended by SIGTERM"))
        self._leave()

    @contextmanager
    def handle_interrupts(self) -> Iterator[None]:
        """Ctrl-C once ends the search and reports the best so far; a second time, or SIGTERM, it stops at once.

        Raises:
            KeyboardInterrupt: Somebody wanted to leave; it says which command goes on.
        """
        self._loop, self._whole = asyncio.get_running_loop(), asyncio.current_task()
        signals = threading.current_thread() is threading.main_thread()
        before = signal.getsignal(signal.SIGINT)
        if signals:
            self._loop.add_signal_handler(signal.SIGINT, self.stop, INTERRUPTED)
        terminated = signals and signal.getsignal(signal.SIGTERM) is terminate
        if terminated:
            self._loop.add_signal_handler(signal.SIGTERM, self._terminate)
        try:
            yield
        finally:
            if signals:
                self._loop.remove_signal_handler(signal.SIGINT)
                signal.signal(signal.SIGINT, before)
            if terminated:
                self._loop.remove_signal_handler(signal.SIGTERM)
                signal.signal(signal.SIGTERM, terminate)
            if self._left:
                kind = TerminatedError if self._terminated else KeyboardInterrupt
                raise kind(f"continue with: {self.then}")

    async def begun(self, work: Coroutine[Any, Any, T], seconds: float | None = None) -> T:
        """The result of what comes before a search.

        Args:
            work: What is waited for.
            seconds: The limit of the process.

        Raises:
            RunError: The end was asked for meanwhile, or the limit is reached, so that there is nothing to report.
        """
        try:
            found = await self.until_stopped(work, seconds)
        except TimeoutError:
            self.reason, found = seconds_spent(seconds), None
        if found is None:
            raise RunError(f"{self.reason} before any policy was tried; continue with: {self.then}")
        return found

    async def finish(self, work: Coroutine[Any, Any, T], *, at_least: float = 0.0) -> T | None:
        """Finish work after the search; None if the task fails in it, or the end was requested and it takes too long or fails.

        From the first work that is waited for when the end is asked for, `GRACE_SECONDS` remain for all of it, and for
        each as many seconds as are said to be its own at least.
        """

        def seconds_left() -> float:
            self._until = self._until or time.monotonic() + GRACE_SECONDS
            return max(at_least, self._until - time.monotonic())

        try:
            return await self.until_stopped(work, patience=seconds_left)
        except FAULTS as fault:
            self.fault = self.fault or fault
            return None

    async def until_stopped(
        self,
        work: Coroutine[Any, Any, T],
        seconds: float | None = None,
        patience: Callable[[], float] = lambda: 0.0,
    ) -> T | None:
        """The result of some work; None where its end was asked for before it was over.

        Args:
            work: What is waited for.
            seconds: How long this and all before it may take, since this was made.
            patience: Tells how many seconds it has once the end is asked for.

        Raises:
            TimeoutError: So many seconds are over.
        """
        if self.reason and patience() <= 0:
            work.close()
            return None
        self._loop = asyncio.get_running_loop()
        if self.reason:
            self._stopped.set()
        task, stopped = asyncio.ensure_future(work), asyncio.ensure_future(self._stopped.wait())
        try:
            left = None if seconds is None else max(0.0, self._began + seconds - time.monotonic())
            await asyncio.wait([task, stopped], timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if not task.done() and not stopped.done():
                raise TimeoutError
            if not task.done():
                await asyncio.wait([task], timeout=patience())
            if task.done() and not (self.reason and (task.cancelled() or task.exception())):
                return task.result()
        finally:
            stopped.cancel()
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        return None  # what breaks while it is ended is not worth the best so far


def seconds_spent(seconds: float | None) -> StopReason:
    """Why a run ends whose seconds are over."""
    return StopReason("seconds", f"the limit of {seconds or 0:g} seconds is reached")


def obey_interrupts() -> None:
    """Have SIGINT interrupt this process, also where a shell started it in the background, which makes it ignored."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


async def gather(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run all of it at once; the first failure cancels the rest, and is raised by itself."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(item) for item in work]
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    return [task.result() for task in tasks]


def in_thread(work: Callable[[], T]) -> Future[T]:
    """Run work in a thread of its own and return its future."""
    context, pool = contextvars.copy_context(), ThreadPoolExecutor(1, "promptpo")
    future = pool.submit(context.run, work)  # notebooks know by the context which cell prints
    pool.shutdown(wait=False)
    return future


def run_async(work: Work[T], control: Control | None = None) -> T:
    """Run a coroutine function to its end, also where an event loop is running already (notebooks).

    Args:
        work: What to run.
        control: Told of Ctrl-C while it runs in a thread; its result is returned then. Without it the work is cancelled.

    Raises:
        KeyboardInterrupt: It was cancelled.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    ending = control or Control()
    future: Future[Any] = in_thread(lambda: asyncio.run(work() if control else ending.until_stopped(work())))
    while not future.done():
        try:
            wait([future])
        except KeyboardInterrupt:
            ending.stop(INTERRUPTED)
    if control is None and ending.reason:
        raise KeyboardInterrupt
    found: T = future.result()
    return found
