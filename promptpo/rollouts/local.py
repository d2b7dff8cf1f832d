"""Worker processes on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import multiprocessing
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from promptpo.errors import EnvironmentFaultError
from promptpo.rollouts.host import Host
from promptpo.rollouts.jobs import Call, Job, Settings, Work, WorkerLostError, gave_up, with_registration
from sandbox import CallResult, Rollout, SandboxStatus

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_LIBC = ctypes.CDLL(None)  # opened here: between fork and exec, with other threads about, it could deadlock


def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _serve(settings: Settings, connection: Connection, pulse: Any) -> None:
    """A worker process: answers jobs until its parent closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    die_with_parent()
    try:
        host: Host | None = Host(settings, pulse)
        fault: Exception | None = None
    except Exception as error:  # noqa: BLE001 - reported to the parent for every job
        host, fault = None, error
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            work = connection.recv()
            try:
                if host is None:
                    raise fault or RuntimeError
                answer: Any = host.answer(work)
            except Exception as error:  # noqa: BLE001 - it crosses to the parent
                answer = error
            try:
                connection.send(answer)
            except (TypeError, ValueError, AttributeError) as error:  # an exception that cannot be pickled
                connection.send(
                    EnvironmentFaultError(f"the environment raised {type(answer).__name__}: {error}")
                )
    if host is not None:
        host.close()


def die_with_parent() -> None:
    """Have Linux end this process when the one that started it is killed, even in the middle of a step."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        _LIBC.prctl(pr_set_pdeathsig, signal.SIGKILL)


@dataclass
class _Worker:
    """One worker process, driven by one thread at a time."""

    settings: Settings
    process: Any = field(default=None, init=False)
    connection: Any = field(default=None, init=False)
    pulse: Any = field(default=None, init=False)
    closing: bool = field(default=False, init=False)

    def ask(self, work: Work) -> Any:
        """Send one piece of work and wait for its answer.

        Raises:
            WorkerLostError: The process died, or took no environment step for too long.
        """
        if self.process is None:
            self._start()
        try:
            self.connection.send(work)
            self._wait()
            answer = self.connection.recv()
        except (EOFError, OSError) as error:
            self.kill()
            raise WorkerLostError("the rollout process died") from error
        except WorkerLostError:
            self.kill()
            raise
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _wait(self) -> None:
        """Return when there is an answer."""
        patience = self.settings.patience
        steps, since = self.pulse.value, time.monotonic()
        while not self.connection.poll(min(1.0, patience)):
            if self.pulse.value != steps:
                steps, since = self.pulse.value, time.monotonic()
            elif time.monotonic() - since > patience:
                raise WorkerLostError(f"no environment step for {patience:.0f} seconds")

    def _start(self) -> None:
        if self.closing:
            raise WorkerLostError("the executor is closing")
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.pulse = context.RawValue("Q", 0)
        arguments = (self.settings, theirs, self.pulse)
        self.process = context.Process(target=_serve, args=arguments, daemon=True)
        with _without_main_module():
            self.process.start()
        theirs.close()

    def end(self) -> None:
        """End the process from another thread than the one in `ask`, which then sees it die."""
        self.closing = True
        if (process := self.process) is not None:
            process.kill()

    def kill(self) -> None:
        """End the process now; the next `ask` starts a new one."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.connection.close()
            self.process = None


_main_module_lock = threading.Lock()


@contextlib.contextmanager
def _without_main_module() -> Iterator[None]:
    """Keep `spawn` from importing the user's script again in every worker."""
    main = sys.modules["__main__"]
    with _main_module_lock:
        saved = {name: getattr(main, name) for name in ("__file__", "__spec__") if hasattr(main, name)}
        try:
            main.__spec__ = None
            with contextlib.suppress(AttributeError):
                del main.__file__
            yield
        finally:
            for name, value in saved.items():
                setattr(main, name, value)


class LocalExecutor:
    """Worker processes on this machine.

    Args:
        settings: The task and the limits.
        jobs: Number of processes; 0 means one per core that this process may use.
    """

    def __init__(self, settings: Settings, jobs: int = 0) -> None:
        self.settings = settings = with_registration(settings)
        self.jobs = jobs or usable_cores()
        self._workers = [_Worker(settings) for _ in range(self.jobs)]
        self._idle: queue.LifoQueue[_Worker] = queue.LifoQueue()
        for worker in reversed(self._workers):
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(self.jobs, thread_name_prefix="rollouts")
        self._closed = False

    async def run(self, job: Job) -> Rollout:
        """See `Executor.run`."""
        rollout: Rollout = await self._submit(job)
        return rollout

    async def call(self, call: Call) -> CallResult:
        """See `Executor.call`."""
        result: CallResult = await self._submit(call)
        return result

    async def status(self) -> SandboxStatus:
        """See `Executor.status`."""
        status: SandboxStatus = await self._submit(None)
        return status

    async def _submit(self, work: Work) -> Any:
        if self._closed:
            raise RuntimeError("the executor is closed")
        return await asyncio.wrap_future(self._threads.submit(self._work, work))

    def _work(self, work: Work) -> Any:
        worker = self._idle.get()
        try:
            try:
                return worker.ask(work)
            except WorkerLostError:
                return worker.ask(work)
        except WorkerLostError as error:
            raise gave_up(self.settings, error) from error
        finally:
            self._idle.put(worker)

    def close(self) -> None:
        """See `Executor.close`."""
        self._closed = True
        for worker in self._workers:
            worker.end()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for worker in self._workers:
            worker.kill()
