"""Base of all executors with workers: who works next, what is repeated, and how jobs are cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeVar

from promptpo.errors import EnvironmentFaultError, WorkerLostError
from promptpo.rollouts.jobs import Settings, T, Work

CLOSED = "the executor is closed."


class Worker(Protocol):
    """Does one piece of work at a time, somewhere else."""

    async def answer(self, work: Work[Any]) -> Any:
        """Do it. Cancelling this ends the work itself, whatever a policy or an environment is doing.

        Raises:
            WorkerLostError: The worker died or hung; the next work gets it anew.
        """
        ...


AWorker = TypeVar("AWorker", bound=Worker)


class PoolExecutor(Generic[AWorker]):
    """An `Executor` over workers of one kind.

    Args:
        settings: The task and the limits.
        workers: Who works; the first is asked first, so that it is warm the longest.

    Attributes:
        settings: See `Args`.
        jobs: How many there are.
        workers: The same.
    """

    def __init__(self, settings: Settings, workers: Sequence[AWorker]) -> None:
        self.settings = settings
        self.workers = list(workers)
        self.jobs = len(self.workers)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._idle: asyncio.LifoQueue[AWorker] = asyncio.LifoQueue()
        self._closed = False

    async def run(self, work: Work[T]) -> T:
        """See `Executor.run`; a worker that is lost is asked once more."""
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
            if self._closed:  # its environments were closed under it
                raise WorkerLostError(CLOSED) from error
            if isinstance(error, WorkerLostError):
                name = self.settings.task.name
                twice = f"the environment {name} hung or crashed its process twice ({error})."
                raise EnvironmentFaultError(twice) from error
            raise
        finally:
            idle.put_nowait(worker)
        if self._closed:  # it ended while its environments were being closed
            raise WorkerLostError(CLOSED)
        return answer

    def _idle_here(self) -> asyncio.LifoQueue[AWorker]:
        """The idle workers; all of them in an event loop that has not been seen before."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._idle = loop, asyncio.LifoQueue()
            for worker in reversed(self.workers):
                self._idle.put_nowait(worker)
        return self._idle

    def close(self) -> None:
        """See `Executor.close`."""
        self._closed = True
