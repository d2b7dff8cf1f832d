"""Base of all executors with workers: who works next, what is repeated, and how jobs are cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeVar

from promptpo.errors import EnvironmentFaultError, WorkerLostError
from promptpo.rollouts.jobs import Call, Job, SandboxWork, Settings, Work
from promptpo_sandbox import CallResult, Rollout, SandboxStatus


class Worker(Protocol):
    """Does one piece of work at a time, somewhere else."""

    async def answer(self, work: Work) -> Any:
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

    async def run(self, job: Job) -> Rollout:
        """See `Executor.run`."""
        rollout: Rollout = await self._submit(job)
        return rollout

    async def call(self, call: Call) -> CallResult:
        """See `Executor.call`."""
        result: CallResult = await self._submit(call)
        return result

    async def simulate(self, work: SandboxWork) -> Any:
        """See `Executor.simulate`."""
        return await self._submit(work)

    async def status(self) -> SandboxStatus:
        """See `Executor.status`."""
        status: SandboxStatus = await self._submit(None)
        return status

    async def _submit(self, work: Work) -> Any:
        idle = self._idle_here()
        if self._closed:
            raise WorkerLostError("the executor is closed.")
        worker = await idle.get()
        try:
            answer = await self._answer(worker, work)
        except Exception as error:
            if self._closed:  # its environments were closed under it
                raise WorkerLostError("the executor is closed.") from error
            raise
        finally:
            idle.put_nowait(worker)
        if self._closed:  # it ended while its environments were being closed
            raise WorkerLostError("the executor is closed.")
        return answer

    def _idle_here(self) -> asyncio.LifoQueue[AWorker]:
        """The idle workers; all of them in an event loop that has not been seen before."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._idle = loop, asyncio.LifoQueue()
            for worker in reversed(self.workers):
                self._idle.put_nowait(worker)
        return self._idle

    async def _answer(self, worker: AWorker, work: Work) -> Any:
        try:
            return await worker.answer(work)
        except WorkerLostError:
            if self._closed:
                raise
        try:
            return await worker.answer(work)
        except WorkerLostError as error:
            if self._closed:
                raise
            name = self.settings.task.name
            raise EnvironmentFaultError(
                f"the environment {name} hung or crashed its process twice ({error})."
            ) from error

    def close(self) -> None:
        """See `Executor.close`."""
        self._closed = True
