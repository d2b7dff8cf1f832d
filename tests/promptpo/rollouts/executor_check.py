"""A check that every executor is put through: what the optimizer does with one."""

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
"""How long a cancelled job may go on, and a closed executor take."""


async def check_executor(
    make: Callable[[], Executor], job: Job, slow: Job, *, seconds: float = 300.0
) -> list[str]:
    """Put an executor through what the optimizer does with it.

    Args:
        make: Makes the executor; called once.
        job: A job of at least two trials that ends well and soon, the same each time.
        slow: A job that takes a minute or more; it is cancelled.
        seconds: How long all of it may take.

    Returns:
        What is wrong, one sentence each; nothing when all is well.
    """
    executor = make()
    found: list[str] = []
    try:
        async with asyncio.timeout(seconds):
            found += await _tells(executor)
            found += await _rolls_out(executor, job)
            found += await _takes_failures(executor, job)
            found += await _cancels(executor, job, slow)
            found += await _closes(executor, job, slow)
    except TimeoutError:
        found.append(f"it was not done after {seconds:g} s.")
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        found.append(f"it raised {error!r}.")
    finally:
        executor.close()
    return found


async def _tells(executor: Executor) -> list[str]:
    found = []
    if not isinstance(executor.jobs, int) or executor.jobs < 1:
        found.append("jobs is not a positive number.")
    if not isinstance(await executor.run(Status()), SandboxStatus):
        found.append("run() gave no SandboxStatus for a Status.")
    if not isinstance(await executor.run(CALLED), CallResult):
        found.append("run() gave no CallResult for a Call.")
    try:
        if await executor.run(_Nothing()) != "nothing":
            found.append("run() gave another answer than the work in a sandbox.")
    except SimulatorFailedError:
        pass  # as good an answer
    return found


async def _rolls_out(executor: Executor, job: Job) -> list[str]:
    """One job, and more at once than there are workers."""
    first = await executor.run(job)
    if not isinstance(first, Rollout):
        return ["run() gave no Rollout."]
    found = []
    if first.failure is not None:
        found.append(f"the job failed: {first.failure.message}")
    if [episode.seed for episode in first.episodes] != [trial.seed for trial in job.trials]:
        found.append("the episodes are not those of the trials, in order.")
    if first.steps != sum(episode.steps for episode in first.episodes):
        found.append("steps is not the sum of the episodes' steps.")
    others = await asyncio.gather(*(executor.run(job) for _ in range(2 * executor.jobs + 1)))
    if any(_returns(other) != _returns(first) for other in others):
        found.append("the same job did not give the same returns each time.")
    limited = await executor.run(replace(job, step_limit=max(1, first.steps - 1)))
    if limited.steps >= first.steps or len(limited.episodes) + len(limited.unfinished) != len(job.trials):
        found.append("a step limit was passed, or the trials it left out are not in unfinished.")
    return found


def _returns(rollout: Rollout) -> list[tuple[int, float, int]]:
    return [(episode.seed, episode.return_, episode.steps) for episode in rollout.episodes]


async def _takes_failures(executor: Executor, job: Job) -> list[str]:
    """A policy that fails is an outcome, not an error."""
    found = []
    for stop in (True, False):
        rollout = await executor.run(replace(job, source=BROKEN, stop_on_failure=stop))
        if rollout.failure is None:
            found.append("a source that is no program did not fail.")
        if not stop and len(rollout.episodes) != len(job.trials):
            found.append("without stop_on_failure not every trial has a result of its own.")
    return found


async def _cancels(executor: Executor, job: Job, slow: Job) -> list[str]:
    """Cancelled jobs end, those that had not started included, and leave free workers."""
    tasks = [asyncio.ensure_future(executor.run(slow)) for _ in range(executor.jobs + 1)]
    await asyncio.sleep(0.2)
    for task in tasks:
        task.cancel()
    began = time.monotonic()
    await asyncio.wait(tasks)
    seconds = time.monotonic() - began
    found = [] if all(task.cancelled() for task in tasks) else ["a cancelled job was not cancelled."]
    if seconds > STOP_SECONDS:
        found.append(f"cancelled jobs went on for {seconds:.1f} s.")
    free = await asyncio.gather(*(executor.run(job) for _ in range(executor.jobs)))
    if any(rollout.failure is not None for rollout in free):
        found.append("after cancelled jobs a good one failed.")
    return found


async def _closes(executor: Executor, job: Job, slow: Job) -> list[str]:
    """Closing ends what runs; nothing runs afterwards."""
    task = asyncio.ensure_future(executor.run(slow))
    await asyncio.sleep(0.2)
    began = time.monotonic()
    executor.close()
    executor.close()
    seconds = time.monotonic() - began
    found = [] if seconds < STOP_SECONDS else [f"closing took {seconds:.1f} s."]
    if not _refuses(await asyncio.gather(task, return_exceptions=True)):
        found.append("a job that ran while the executor was closed gave a result or an unknown error.")
    if not _refuses(await asyncio.gather(executor.run(job), return_exceptions=True)):
        found.append("a closed executor took a job.")
    return found


def _refuses(results: Sequence[Any]) -> bool:
    return all(isinstance(result, (PromptPOError, asyncio.CancelledError)) for result in results)
