"""Base class of executors with workers: scheduling, retries and cancellation."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeVar

from promptpo.errors import EnvironmentFaultError, WorkerLostError
from promptpo.rollouts.jobs import Settings, T, Work

CLOSED = "the executor is closed."


class Worker(Protocol):
    """Does one piece of work at a time, elsewhere."""

    async def answer(self, work: Work[Any]) -> Any:
        """Do a piece of work. Cancelling ends the work itself, whatever a policy or an environment is doing.

        Raises:
            WorkerLostError: The worker died or hung; the next work starts a new one.
        """
        ...


AWorker = TypeVar("AWorker", bound=Worker)


class PoolExecutor(Generic[AWorker]):
    """An `Executor` over workers of one kind.

    Args:
        settings: The task and the limits.
        workers: The workers; those listed first are preferred, so that they stay warm.

    Attributes:
        settings: See `Args`.
        jobs: Number of workers.
        workers: The workers.
    """

    def __init__(self, settings: Settings, workers: Sequence[AWorker]) -> None:
        self.settings = settings
        self.workers = list(workers)
        self.jobs = len(self.workers)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._idle: asyncio.LifoQueue[AWorker] = asyncio.LifoQueue()
        self._closed = False

    async def run(self, work: Work[T]) -> T:
        """See `Executor.run`; work on a lost worker is retried once."""
        idle = self._idle_here()
        if self._closed:
            raise WorkerLostError(CLOSED)
        worker = await idle.get()
        try:
            try:
                answer: T = await worker.answer(work)
            except WorkerLostError:
                if self._closed:
                    raise
                answer = await worker.answer(work)
        except Exception as error:
            if self._closed:  # its environments were closed while it ran
                raise WorkerLostError(CLOSED) from error
            if isinstance(error, WorkerLostError):
                name = self.settings.task.name
                twice = f"the environment {name} hung or crashed its process twice ({error})."
                raise EnvironmentFaultError(twice) from error
            raise
        finally:
            idle.put_nowait(worker)
        if self._closed:  # it returned while its environments were being closed
            raise WorkerLostError(CLOSED)
        return answer

    def _idle_here(self) -> asyncio.LifoQueue[AWorker]:
        """Return the idle workers; in a new event loop, all of them."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._idle = loop, asyncio.LifoQueue()
            for worker in reversed(self.workers):
                self._idle.put_nowait(worker)
        return self._idle

    def close(self) -> None:
        """See `Executor.close`."""
        self._closed = True
