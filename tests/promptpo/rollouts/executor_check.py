"""A conformance check for executors: everything that the optimizer relies on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from promptpo.errors import PromptPOError
from promptpo.rollouts.jobs import Call, Executor, Job, SandboxWork, Status
from promptpo_sandbox import (
    CallResult,
    Rollout,
    Sandbox,
    SandboxStatus,
    SimulatorFailedError,
)

BROKEN = "this is no program\n"
CALLED = Call("class Told:\n    def tell(self, of):\n        return str(of)\n", "Told.tell", 3)


class _Nothing(SandboxWork):
    """Work that needs no guest."""

    def run(self, sandbox: Sandbox) -> str:
        """See `SandboxWork.run`."""
        return "nothing"


STOP_SECONDS = 20.0
"""Time limit for cancelling a job and for closing an executor, in seconds."""


async def check_executor(
    make: Callable[[], Executor], job: Job, slow: Job, *, seconds: float = 300.0
) -> list[str]:
    """Use an executor as the optimizer does.

    Args:
        make: Builds the executor; called once.
        job: A deterministic job of at least two trials that succeeds quickly.
        slow: A job that takes a minute or more; it is cancelled.
        seconds: Time limit of the whole check.

    Returns:
        One sentence for each fault; empty if there is none.
    """
    executor = make()
    faults: list[str] = []
    try:
        async with asyncio.timeout(seconds):
            faults += await _check_other_work(executor)
            faults += await _check_rollouts(executor, job)
            faults += await _check_failures(executor, job)
            faults += await _check_cancelling(executor, job, slow)
            faults += await _check_closing(executor, job, slow)
    except TimeoutError:
        faults.append(f"it was not done after {seconds:g} s.")
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        faults.append(f"it raised {error!r}.")
    finally:
        executor.close()
    return faults


async def _check_other_work(executor: Executor) -> list[str]:
    faults = []
    if not isinstance(executor.jobs, int) or executor.jobs < 1:
        faults.append("jobs is not a positive number.")
    if not isinstance(await executor.run(Status()), SandboxStatus):
        faults.append("run() gave no SandboxStatus for a Status.")
    if not isinstance(await executor.run(CALLED), CallResult):
        faults.append("run() gave no CallResult for a Call.")
    try:
        if await executor.run(_Nothing()) != "nothing":
            faults.append("run() gave another answer than the work in a sandbox.")
    except SimulatorFailedError:
        pass  # an acceptable answer
    return faults


async def _check_rollouts(executor: Executor, job: Job) -> list[str]:
    """Run one job, then more jobs than there are workers."""
    first = await executor.run(job)
    if not isinstance(first, Rollout):
        return ["run() gave no Rollout."]
    faults = []
    if first.failure is not None:
        faults.append(f"the job failed: {first.failure.message}")
    if [episode.seed for episode in first.episodes] != [trial.seed for trial in job.trials]:
        faults.append("the episodes are not those of the trials, in order.")
    if first.steps != sum(episode.steps for episode in first.episodes):
        faults.append("steps is not the sum of the episodes' steps.")
    others = await asyncio.gather(*(executor.run(job) for _ in range(2 * executor.jobs + 1)))
    if any(_returns(other) != _returns(first) for other in others):
        faults.append("the same job did not give the same returns each time.")
    limited = await executor.run(replace(job, step_limit=max(1, first.steps - 1)))
    if limited.steps >= first.steps or len(limited.episodes) + len(limited.unfinished) != len(job.trials):
        faults.append("a step limit was passed, or the trials it left out are not in unfinished.")
    return faults


def _returns(rollout: Rollout) -> list[tuple[int, float, int]]:
    return [(episode.seed, episode.return_, episode.steps) for episode in rollout.episodes]


async def _check_failures(executor: Executor, job: Job) -> list[str]:
    """A policy that fails is an outcome, not an error."""
    faults = []
    for stop in (True, False):
        rollout = await executor.run(replace(job, source=BROKEN, stop_on_failure=stop))
        if rollout.failure is None:
            faults.append("a source that is no program did not fail.")
        if not stop and len(rollout.episodes) != len(job.trials):
            faults.append("without stop_on_failure not every trial has a result of its own.")
    return faults


async def _check_cancelling(executor: Executor, job: Job, slow: Job) -> list[str]:
    """Cancelled jobs end, including those that had not started, and free their workers."""
    tasks = [asyncio.ensure_future(executor.run(slow)) for _ in range(executor.jobs + 1)]
    await asyncio.sleep(0.2)
    for task in tasks:
        task.cancel()
    began = time.monotonic()
    await asyncio.wait(tasks)
    seconds = time.monotonic() - began
    faults = [] if all(task.cancelled() for task in tasks) else ["a cancelled job was not cancelled."]
    if seconds > STOP_SECONDS:
        faults.append(f"cancelled jobs went on for {seconds:.1f} s.")
    free = await asyncio.gather(*(executor.run(job) for _ in range(executor.jobs)))
    if any(rollout.failure is not None for rollout in free):
        faults.append("after cancelled jobs a good one failed.")
    return faults


async def _check_closing(executor: Executor, job: Job, slow: Job) -> list[str]:
    """Closing ends running jobs, and nothing runs afterwards."""
    task = asyncio.ensure_future(executor.run(slow))
    await asyncio.sleep(0.2)
    began = time.monotonic()
    executor.close()
    executor.close()
    seconds = time.monotonic() - began
    faults = [] if seconds < STOP_SECONDS else [f"closing took {seconds:.1f} s."]
    if not _are_refused(await asyncio.gather(task, return_exceptions=True)):
        faults.append("a job that ran while the executor was closed gave a result or an unknown error.")
    if not _are_refused(await asyncio.gather(executor.run(job), return_exceptions=True)):
        faults.append("a closed executor took a job.")
    return faults


def _are_refused(results: Sequence[Any]) -> bool:
    return all(isinstance(result, (PromptPOError, asyncio.CancelledError)) for result in results)
