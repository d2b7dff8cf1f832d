"""Stopping a run from outside, by a signal, a limit or a caller, and running it for synchronous callers.

Waiting goes on while stopped work closes what it has open; a second interrupt leaves without waiting for that.
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
    """Why a search ended: a kind, and a sentence without a full stop; both are empty in a run that has not ended."""

    kind: StopKind = ""
    sentence: str = ""

    def __str__(self) -> str:
        return self.sentence

    def __bool__(self) -> bool:
        return bool(self.sentence)

    @classmethod
    def read(cls, result: Mapping[str, Any]) -> StopReason:
        """Return the stop reason in a ``result.json``."""
        kind: Any = result.get("stop_kind")
        return cls(kind if kind in get_args(StopKind) else "", str(result.get("stop_reason") or ""))

    @property
    def is_final(self) -> bool:
        """Whether the search came to its own end."""
        return self.kind not in {"interrupted", "cancelled", "model", "fault"}


INTERRUPTED = StopReason("interrupted", "interrupted by Ctrl-C")
"""Stop reason of a run interrupted by the user."""

GRACE_SECONDS = 10.0
"""Limit on all work after a search, in total, once the run is asked to stop; the first test episodes have as much for themselves."""


class TerminatedError(KeyboardInterrupt):
    """Raised on SIGTERM, as schedulers and ``timeout`` send it."""


def terminate(*_signal: object) -> NoReturn:
    """Handle SIGTERM like the second Ctrl-C, which leaves at once."""
    raise TerminatedError


class Control:
    """Stops a run from outside: by a signal, a limit or a caller.

    Attributes:
        then: The command that continues the run.
        reason: Why the run is to stop; falsy until then.
        fault: First fault of the task, in the search or after it; None if there was none.
        on_stop: Called once, when the run is first asked to stop.
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
    def reason_or_fault(self) -> StopReason:
        """Why work after the search is incomplete; falsy if nothing stands in the way."""
        fault = str(self.fault or "").rstrip(".")
        return self.reason or StopReason("fault" if fault else "", fault)

    def stop(self, reason: StopReason) -> None:
        """Stop the search; the best so far is still tested and written. A second call leaves at once.

        May be called from another thread.
        """
        again, self.reason = bool(self.reason), self.reason or reason
        if not again:
            self.on_stop()
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._leave if again else self._stopped.set)

    def _leave(self) -> None:
        # Cancel instead of raising: an exception inside the event loop's own code would make it hang.
        if self._whole is not None and not self._left:
            self._left = True
            self._whole.cancel()

    def _terminate(self) -> None:
        self._terminated = True
        self.stop(StopReason("terminated", "ended by SIGTERM"))
        self._leave()

    @contextmanager
    def handle_interrupts(self) -> Iterator[None]:
        """Stop the search on the first Ctrl-C and report the best so far; leave at once on the second, or on SIGTERM.

        Leaving raises KeyboardInterrupt, whose message names the command that continues.
        """
        self._loop, self._whole = asyncio.get_running_loop(), asyncio.current_task()
        handlers: dict[int, Callable[[], None]] = {}
        if threading.current_thread() is threading.main_thread():
            handlers[signal.SIGINT] = lambda: self.stop(INTERRUPTED)
            if signal.getsignal(signal.SIGTERM) is terminate:
                handlers[signal.SIGTERM] = self._terminate
        before = {number: signal.getsignal(number) for number in handlers}
        for number, handler in handlers.items():
            self._loop.add_signal_handler(number, handler)
        try:
            yield
        finally:
            for number, earlier in before.items():
                self._loop.remove_signal_handler(number)
                signal.signal(number, earlier)
            if self._left:
                kind = TerminatedError if self._terminated else KeyboardInterrupt
                raise kind(f"continue with: {self.then}")

    async def before_search(self, work: Coroutine[Any, Any, T], seconds: float | None = None) -> T:
        """Return the result of work that precedes a search; RunError if the run is stopped before, or its time is up."""
        try:
            found = await self.until_stopped(work, seconds)
        except TimeoutError:
            self.reason, found = seconds_spent(seconds), None
        if found is None:
            raise RunError(f"{self.reason} before any policy was tried; continue with: {self.then}")
        return found

    async def finish(self, work: Coroutine[Any, Any, T], *, at_least: float = 0.0) -> T | None:
        """Return the result of work after the search; None if the task fails, or if a stopped run's work takes too long or fails.

        Once the run is asked to stop, `GRACE_SECONDS` remain in total for all such work, but at least `at_least` seconds for this.
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
        """Return the result of work; None if the run was stopped before it was done.

        The time limit counts from the creation of this object. Once the run is asked to stop, the work may take `patience` seconds more.

        Raises:
            TimeoutError: The time limit is reached.
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
        return None  # a failure while stopping must not cost the best so far


def seconds_spent(seconds: float | None) -> StopReason:
    """Return the stop reason of a run that reached its time limit."""
    return StopReason("seconds", f"the limit of {seconds or 0:g} seconds is reached")


def obey_interrupts() -> None:
    """Make SIGINT interrupt this process even if a shell started it in the background, which ignores the signal."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


async def gather(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run coroutines concurrently; the first failure cancels the rest and is raised by itself."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(item) for item in work]
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    return [task.result() for task in tasks]


def in_thread(work: Callable[[], T]) -> Future[T]:
    """Run work in a new thread and return its future."""
    context, pool = contextvars.copy_context(), ThreadPoolExecutor(1, "promptpo")
    future = pool.submit(context.run, work)  # notebooks find the printing cell by the context
    pool.shutdown(wait=False)
    return future


def run_async(work: Work[T], control: Control | None = None) -> T:
    """Run a coroutine function to its end, even inside a running event loop (notebooks), where it runs in a thread.

    Ctrl-C then stops the control, and the result is still returned; without a control, the work is cancelled by KeyboardInterrupt.
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
