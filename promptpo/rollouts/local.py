"""Worker processes on this machine."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import ctypes
import faulthandler
import multiprocessing
import multiprocessing.resource_tracker
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from promptpo.crash_report import cause, end_group, leave, note_group, watch_exits
from promptpo.errors import EnvironmentFaultError, PromptPOError, WorkerLostError
from promptpo.rollouts.host import Host, Pulse
from promptpo.rollouts.jobs import Settings, Work, with_registration
from promptpo.rollouts.pool import PoolExecutor

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_POLL_SECONDS = 0.5
_START_SECONDS = 60.0
"""Time for a worker to start and import its packages, on top of the environment's limit."""
CLOSE_SECONDS = 10.0
"""Time for a worker to close its environments before its whole process group is killed."""

MOST_WORDS = 1 << 16
"""Maximum number of bytes read from a worker's fault handler."""

_LIBC = ctypes.CDLL(None)  # loaded here, as loading it between fork and exec could deadlock


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _EndError(BaseException):
    """Raised to end this worker; no `Exception`, which environments may catch."""


class _Ending:
    """SIGTERM handler that interrupts a worker's work with an exception, once."""

    begun = False

    def __call__(self, *_signal: object) -> None:
        """Handle SIGTERM."""
        if not self.begun:
            self.begun = True
            raise _EndError


def _serve(settings: Settings, connection: Connection, pulse: Any, last_words: Connection) -> None:
    """Run a worker process: answer jobs until the parent closes the connection or sends SIGTERM, then end the process group.

    The worker leads its own group, which includes processes started by environments; Ctrl-C in a terminal goes to the parent.
    """
    os.setsid()
    faulthandler.enable(last_words.fileno(), all_threads=False)
    watch_exits(last_words.fileno())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    os.dup2(
        os.open(os.devnull, os.O_WRONLY), 1
    )  # what environments print is shown by the process that describes them
    sys.stderr = sys.stdout  # compiled code keeps the real one
    host: Host | None = None
    ending = _Ending()
    try:
        signal.signal(signal.SIGTERM, ending)
        fault: Exception | None = None
        try:
            host = Host(settings, Pulse(pulse))
        except Exception as error:  # noqa: BLE001 - reported to the parent for every job
            fault = error
        _answer_all(host, fault, connection)
    except _EndError:
        pass
    finally:
        signal.signal(
            signal.SIGTERM, signal.SIG_IGN
        )  # an environment's own handler might raise while closing
        if host is not None:
            host.close()
        leave(0, group=True)


def _answer_all(host: Host | None, fault: Exception | None, connection: Connection) -> None:
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            work = connection.recv()
            try:
                if host is None:
                    raise fault or RuntimeError
                answer: Any = host.answer(work)
            except Exception as error:  # noqa: BLE001 - sent to the parent
                answer = error
            try:
                connection.send(answer)
            except (TypeError, ValueError, AttributeError) as error:  # an exception that cannot be pickled
                connection.send(
                    EnvironmentFaultError(f"the environment raised {type(answer).__name__}: {error}")
                )


def die_with_parent() -> None:
    """Have Linux kill this process when its parent dies, even in the middle of a step."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        _LIBC.prctl(pr_set_pdeathsig, signal.SIGKILL)
        parent = multiprocessing.parent_process()
        if parent is not None and not parent.is_alive():  # it died before the call
            os._exit(1)


class LocalWorker:
    """One worker process, started by its first work.

    Args:
        settings: The task and the limits.
        threads: Threads that wait for the process.
    """

    def __init__(self, settings: Settings, threads: ThreadPoolExecutor) -> None:
        self.settings = settings
        self.process: Any = None
        self._threads = threads
        self._connection: Any = None
        self._pulse: Any = None
        self._last_words: Any = None
        self._stopped = False
        self._closing = False
        self._asked: float | None = None
        self._waiting: concurrent.futures.Future[Any] | None = None

    async def answer(self, work: Work[Any]) -> Any:
        """See `Worker.answer`."""
        self._stopped = False
        self._waiting = waiting = self._threads.submit(self._ask, work)
        try:
            return await asyncio.wrap_future(waiting)
        except asyncio.CancelledError:
            self.stop()
            if not waiting.cancel():  # its thread notices the end of the process
                concurrent.futures.wait([waiting], CLOSE_SECONDS)
            raise

    def _ask(self, work: Work[Any]) -> Any:
        """Send one piece of work and wait for its answer.

        Raises:
            WorkerLostError: The process died, was stopped, or its environment hung.
        """
        try:
            if self.process is None:
                self._start()
            self._connection.send(work)
            self._wait()
            answer = self._connection.recv()
        except (EOFError, OSError) as error:
            self.end()
            raise WorkerLostError(f"the rollout process was ended {self._cause()}") from error
        except WorkerLostError:
            self.end()
            raise
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _wait(self) -> None:
        """Wait until there is an answer.

        Only the environment's code is watched: the sandbox has deadlines for policies, and a job's total time depends on them.
        """
        limit = self.settings.env_timeout
        beat, since = self._pulse.value, time.monotonic()
        while not self._connection.poll(min(_POLL_SECONDS, limit)):
            if self._stopped or self._closing:
                raise WorkerLostError("the executor was closed or its work was cancelled")
            now = time.monotonic()
            if self._pulse.value != beat:
                beat, since = self._pulse.value, now
            elif (beat % 2 and now - since > limit) or (not beat and now - since > limit + _START_SECONDS):
                raise WorkerLostError(f"an environment step did not end within {limit:.0f} seconds")

    def _start(self) -> None:
        if self._stopped or self._closing:
            raise WorkerLostError("the executor was closed or its work was cancelled")
        context = multiprocessing.get_context("spawn")
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads slow down small matrices thirtyfold
        try:
            self._connection, theirs = context.Pipe()
            self._pulse = context.RawValue("Q", 0)
            self._last_words, last_words = context.Pipe(duplex=False)
            process: Any = context.Process(
                target=_serve, args=(self.settings, theirs, self._pulse, last_words), daemon=True
            )
            multiprocessing.resource_tracker.ensure_running()  # it would undo the next line
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until the new process can ignore it
            with _without_main_module():
                process.start()
        except OSError as error:
            raise PromptPOError(f"cannot start a rollout process: {error.strerror}.") from error
        self.process = process
        note_group(process.pid)
        theirs.close()
        last_words.close()

    def _cause(self) -> str:
        """Return what ended the process, as a phrase."""
        left = os.read(self._last_words.fileno(), MOST_WORDS) if self._last_words.poll() else b""
        return cause(left.decode("utf-8", "replace"))

    def stop(self, *, for_good: bool = False) -> None:
        """Ask the process to close its environments and exit; called from another thread than the waiting one."""
        self._stopped = True
        self._closing |= for_good
        self._asked = self._asked or time.monotonic()
        if (process := self.process) is not None:
            process.terminate()

    def end(self) -> None:
        """End the process and all that its environments started; the next work starts a new one."""
        if self.process is not None:
            self.stop()  # first: the signal must not arrive while a worker closes after losing its connection
            self._connection.close()
            asked, self._asked = self._asked or 0.0, None
            self.process.join(max(0.0, asked + CLOSE_SECONDS - time.monotonic()))
            end_group(self.process.pid)
            self.process.kill()  # it may not have its own group yet
            self.process.join()
            note_group(self.process.pid, over=True)
            self.process = None

    def finish(self) -> None:
        """End the process once no one waits for its answer."""
        if self._waiting is not None:
            concurrent.futures.wait([self._waiting])
        self.end()


_main_module_lock = threading.Lock()


@contextlib.contextmanager
def _without_main_module() -> Iterator[None]:
    """Keep `spawn` from importing the user's script again in every worker."""
    main = vars(sys.modules["__main__"])
    with _main_module_lock:
        saved = {name: main[name] for name in ("__file__", "__spec__") if name in main}
        try:
            main["__spec__"] = None
            main.pop("__file__", None)
            yield
        finally:
            main.update(**saved)


class LocalExecutor(PoolExecutor[LocalWorker]):
    """Worker processes on this machine.

    Args:
        settings: The task and the limits.
        jobs: Number of processes; 0 means one per core that this process may use.
    """

    def __init__(self, settings: Settings, jobs: int = 0) -> None:
        settings = with_registration(settings)
        jobs = jobs or usable_cores()
        self._threads = ThreadPoolExecutor(jobs, thread_name_prefix="rollouts")
        super().__init__(settings, [LocalWorker(settings, self._threads) for _ in range(jobs)])

    def close(self) -> None:
        """See `Executor.close`."""
        if self._closed:
            return
        super().close()
        for worker in self.workers:
            worker.stop(for_good=True)
        # On the threads that started them: the processes die with those threads, see `die_with_parent`.
        concurrent.futures.wait([self._threads.submit(worker.finish) for worker in self.workers])
        self._threads.shutdown()
