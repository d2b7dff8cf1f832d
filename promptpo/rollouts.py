"""Where rollouts run: host processes, each with its own environments and its own sandbox.

The main process never steps an environment and never runs a policy. It hands a `Job` to an `Executor`
and gets a `Rollout` back; losing a worker means rolling out again, never losing a run.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import queue
import signal
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from promptpo.errors import EnvironmentFaultError, PromptPOError
from promptpo.records import EpisodeRecord, Evaluation, Task

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    import gymnasium

    from sandbox import CallResult, Episode, Limits, Rollout, SandboxStatus, Trial

LANES = 16
"""Episodes that one guest advances in lockstep; 8 to 32 run at nearly the speed of plain Python."""


@dataclass(frozen=True, slots=True)
class Job:
    """One source and the episodes to roll it out for.

    Attributes:
        source: The policy module.
        trials: Seeds, parameter values and horizons.
        record: Whether to bring trajectories back.
        stop_on_failure: Whether the first failing episode ends the job (a candidate's evaluation) or
            only itself (tuning).
        step_limit: Environment steps that the job may take in all.
    """

    source: str
    trials: tuple[Trial, ...]
    record: bool = False
    stop_on_failure: bool = True
    step_limit: int | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a method of an untrusted class that is no policy, such as the feedback class."""

    source: str
    target: str
    argument: Any


@dataclass(frozen=True, slots=True)
class Settings:
    """What a worker needs to know once.

    Attributes:
        task: The environment to build.
        limits: Of the sandbox.
        allow_weaker: Accept missing sandbox layers.
        clip_actions: Clip continuous actions into their bounds.
        lanes: Episodes in lockstep.
        env_timeout: Seconds without a finished environment step after which the environment counts as hung.
    """

    task: Task
    limits: Limits
    allow_weaker: bool = False
    clip_actions: bool = True
    lanes: int = LANES
    env_timeout: float = 120.0


class Executor(Protocol):
    """Runs jobs somewhere; several may be in flight.

    Attributes:
        jobs: How many run at the same time.
    """

    jobs: int

    async def run(self, job: Job) -> Rollout:
        """Roll out one job.

        Raises:
            EnvironmentFaultError: The environment raised, hung, or took its process down repeatedly.
        """
        ...

    async def call(self, call: Call) -> CallResult:
        """Call one method of an untrusted class."""
        ...

    async def status(self) -> SandboxStatus:
        """Which sandbox layers are active where the jobs run."""
        ...

    def close(self) -> None:
        """Stop the workers; calling it twice is harmless."""
        ...


def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class WorkerLostError(PromptPOError):
    """A worker process died or hung; its job was not finished."""


class Host:
    """One trusted process's environments and sandbox: what a worker is made of.

    Args:
        settings: The task and the limits.
    """

    def __init__(self, settings: Settings) -> None:
        from sandbox import Sandbox

        self.settings = settings
        self.sandbox = Sandbox(settings.limits, allow_weaker=settings.allow_weaker)
        self._envs: list[gymnasium.Env[Any, Any]] = []

    def envs(self, n: int) -> Sequence[gymnasium.Env[Any, Any]]:
        """`n` environments, built once and kept."""
        from promptpo.spec.environments import make_env

        while len(self._envs) < n:
            self._envs.append(make_env(self.settings.task))
        return self._envs[:n]

    def run(self, job: Job) -> Rollout:
        """Roll out one job in this process.

        Raises:
            EnvironmentFaultError: The environment raised.
        """
        envs = self.envs(min(self.settings.lanes, max(1, len(job.trials))))
        try:
            return self.sandbox.rollout(
                job.source,
                envs,
                job.trials,
                record=job.record,
                clip_actions=self.settings.clip_actions,
                stop_on_failure=job.stop_on_failure,
                on_step_limit=job.step_limit,
            )
        except PromptPOError:
            raise
        except Exception as error:  # the environment's own code: anything can come out of it
            self._envs.clear()
            name = self.settings.task.env_id
            raise EnvironmentFaultError(
                f"the environment {name} raised {type(error).__name__}: {error}"
            ) from error

    def close(self) -> None:
        """Close environments and sandbox."""
        self.sandbox.close()
        for env in self._envs:
            with contextlib.suppress(Exception):  # a broken environment may not even close
                env.close()


def _serve(settings: Settings, connection: Connection) -> None:
    """A worker process: answers jobs until its parent closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    _die_with_parent()
    try:
        host: Host | None = Host(settings)
        fault: Exception | None = None
    except Exception as error:  # noqa: BLE001 - reported to the parent for every job
        host, fault = None, error
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            work = connection.recv()
            try:
                if host is None:
                    raise fault or RuntimeError
                if work is None:
                    answer: Any = host.sandbox.status
                elif isinstance(work, Job):
                    answer = host.run(work)
                else:
                    answer = host.sandbox.call(work.source, work.target, work.argument)
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


def _die_with_parent() -> None:
    """Have Linux end this process when the main one is killed, even in the middle of a step."""
    if sys.platform == "linux":
        import ctypes

        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


@dataclass
class _Worker:
    """One worker process, driven by one thread at a time."""

    settings: Settings
    process: Any = field(default=None, init=False)
    connection: Any = field(default=None, init=False)
    closing: bool = field(default=False, init=False)

    def ask(self, work: Job | Call | None, timeout: float) -> Any:
        """Send one piece of work and wait for its answer.

        Raises:
            WorkerLostError: The process died or stayed silent.
        """
        if self.process is None:
            self._start()
        try:
            self.connection.send(work)
            if not self.connection.poll(timeout):
                raise WorkerLostError(f"no answer for {timeout:.0f} seconds")
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

    def _start(self) -> None:
        if self.closing:
            raise WorkerLostError("the executor is closing")
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(self.settings, theirs), daemon=True)
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
def _without_main_module() -> Any:
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
        self.settings = settings
        self.jobs = jobs or usable_cores()
        self._workers = [_Worker(settings) for _ in range(self.jobs)]
        self._idle: queue.LifoQueue[_Worker] = queue.LifoQueue()
        for worker in reversed(self._workers):
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(self.jobs, thread_name_prefix="rollouts")
        self._closed = False

    async def run(self, job: Job) -> Rollout:
        """See `Executor.run`."""
        rollout: Rollout = await asyncio.wrap_future(self._submit(job, self._deadline(job)))
        return rollout

    async def call(self, call: Call) -> CallResult:
        """See `Executor.call`."""
        result: CallResult = await asyncio.wrap_future(self._submit(call, 120.0))
        return result

    async def status(self) -> SandboxStatus:
        """See `Executor.status`."""
        status: SandboxStatus = await asyncio.wrap_future(self._submit(None, 120.0))
        return status

    def _deadline(self, job: Job) -> float:
        """Seconds for a job: the policy's own limits end it far earlier, so only a hung environment meets it."""
        episodes = len(job.trials)
        return self.settings.env_timeout + episodes * self.settings.limits.episode_seconds

    def _submit(self, work: Job | Call | None, timeout: float) -> Future[Any]:
        if self._closed:
            raise RuntimeError("the executor is closed")
        return self._threads.submit(self._work, work, timeout)

    def _work(self, work: Job | Call | None, timeout: float) -> Any:
        worker = self._idle.get()
        try:
            for attempt in (1, 2):
                try:
                    return worker.ask(work, timeout)
                except WorkerLostError as error:
                    if self._closed or attempt == 2:  # noqa: PLR2004
                        raise EnvironmentFaultError(
                            f"the environment {self.settings.task.env_id} hung or took its process down twice ({error})."
                        ) from error
            raise AssertionError  # unreachable: the second attempt returns or raises
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


def evaluation_of(rollout: Rollout, seconds: float = 0.0) -> Evaluation:
    """The record of a rollout, without its trajectories."""
    failure = rollout.failure
    finished = [episode for episode in rollout.episodes if episode.failure is None]
    return Evaluation(
        outcome="ok" if failure is None else failure.kind,
        episodes=tuple(record_of(episode) for episode in finished),
        steps=rollout.steps,
        error="" if failure is None else failure.message,
        detail="" if failure is None else failure.detail,
        failed_at=None if failure is None else (failure.seed, failure.step),
        output=rollout.output,
        seconds=round(seconds, 4),
        policy_seconds=round(rollout.policy_seconds, 4),
    )


def record_of(episode: Episode) -> EpisodeRecord:
    """The record of an episode, without its trajectory."""
    return EpisodeRecord(
        seed=episode.seed,
        return_=episode.return_,
        steps=episode.steps,
        success=episode.success,
        terminated=episode.terminated,
        truncated=episode.truncated,
        clipped=episode.clipped,
    )


MIN_CHUNK = 8
"""Episodes below which a job is not worth splitting: lockstep needs company to be fast."""


async def roll_out(executor: Executor, job: Job) -> Rollout:
    """Roll out one job, spread over the executor's workers where it is large enough.

    The result is that of a single worker, bit for bit: episodes do not know of each other.

    Raises:
        EnvironmentFaultError: The environment raised, hung, or took its process down repeatedly.
    """
    parts = min(executor.jobs, len(job.trials) // MIN_CHUNK)
    if parts < 2 or job.step_limit is not None:  # noqa: PLR2004
        return await executor.run(job)
    size = -(-len(job.trials) // parts)
    chunks = [job.trials[i : i + size] for i in range(0, len(job.trials), size)]
    rollouts = await asyncio.gather(*(executor.run(replace(job, trials=chunk)) for chunk in chunks))
    return _joined(rollouts, stop_on_failure=job.stop_on_failure)


def _joined(rollouts: Sequence[Rollout], *, stop_on_failure: bool) -> Rollout:
    """One rollout from the rollouts of consecutive chunks."""
    episodes: list[Episode] = []
    failure = None
    for rollout in rollouts:
        episodes.extend(rollout.episodes)
        failure = failure or rollout.failure
        if failure is not None and stop_on_failure:
            break
    return replace(
        rollouts[0],
        episodes=tuple(episodes),
        failure=failure,
        steps=sum(rollout.steps for rollout in rollouts),
        output="".join(rollout.output for rollout in rollouts),
        policy_seconds=sum(rollout.policy_seconds for rollout in rollouts),
    )
