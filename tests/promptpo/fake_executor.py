"""An executor without processes, for tests of what uses one: it plays what it is told to, and runs no code."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from typing import Any, cast

from promptpo.errors import WorkerLostError
from promptpo.rollouts.jobs import Call, Job, SandboxWork, T, Work
from promptpo_sandbox import (
    CallResult,
    Episode,
    Failure,
    Rollout,
    SandboxStatus,
    SimulatorFailedError,
    Trajectory,
    Trial,
)

NOTHING_RUNS = "this executor runs nothing"


class FakeExecutor:
    """An `Executor` that asks a function instead of running anything.

    Args:
        play: What one episode of a source gives: its return, or how it fails.
        call: What a call gives.
        steps: Environment steps of each episode.
        seconds: How long each job takes.
        jobs: How many it takes at the same time.

    Attributes:
        asked: The jobs, in the order in which they started.
        cancelled: How many of them were cancelled.
    """

    def __init__(
        self,
        play: Callable[[str, Trial], float | Failure],
        *,
        call: Callable[[Call], str | Failure] = lambda _: "",
        steps: int = 10,
        seconds: float = 0.0,
        jobs: int = 2,
    ) -> None:
        self._play = play
        self._call = call
        self._steps = steps
        self._seconds = seconds
        self._closed = asyncio.Event()
        self.jobs = jobs
        self.asked: list[Job] = []
        self.cancelled = 0

    async def run(self, work: Work[T]) -> T:
        """See `Executor.run`; every simulator fails here, and nothing is confined, for nothing runs."""
        self._check_open()
        found: Any = SandboxStatus("weak", (), ())
        if isinstance(work, Job):
            found = await self._roll_out(work)
        elif isinstance(work, Call):
            answer = self._call(work)
            found = CallResult(None, answer) if isinstance(answer, Failure) else CallResult(answer, None)
        elif isinstance(work, SandboxWork):
            raise SimulatorFailedError(Failure("rejected", NOTHING_RUNS))
        return cast("T", found)

    async def _roll_out(self, job: Job) -> Rollout:
        self.asked.append(job)
        try:
            await self._take_time()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        self._check_open()
        episodes: list[Episode] = []
        failure, steps = None, 0
        for trial in job.trials:
            if job.step_limit is not None and steps + self._steps > job.step_limit:
                break
            episodes.append(self._episode(job, trial))
            steps += episodes[-1].steps
            failure = failure or episodes[-1].failure
            if failure is not None and job.stop_on_failure:
                break
        return rollout_of(episodes, trials=len(job.trials))

    async def _take_time(self) -> None:
        """Wait as long as a job takes; closing ends the wait."""
        if not self._seconds:
            return await asyncio.sleep(0)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._closed.wait(), self._seconds)
        return None

    def _episode(self, job: Job, trial: Trial) -> Episode:
        played = self._play(job.source, trial)
        failed = isinstance(played, Failure)
        return Episode(
            seed=trial.seed,
            return_=0.0 if isinstance(played, Failure) else float(played),
            steps=0 if failed else self._steps,
            terminated=not failed,
            truncated=False,
            success=None,
            clipped=0,
            policy_seconds=0.0,
            trajectory=None
            if isinstance(played, Failure) or not job.record
            else self._trajectory(float(played)),
            failure=played if isinstance(played, Failure) else None,
        )

    def _trajectory(self, return_: float) -> Trajectory:
        """The same reward in every step; observations count the steps."""
        steps = self._steps
        return Trajectory([float(t) for t in range(steps + 1)], [0] * steps, [return_ / steps] * steps)

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise WorkerLostError("the executor is closed.")

    def close(self) -> None:
        """See `Executor.close`."""
        self._closed.set()


def rollout_of(episodes: Sequence[Episode], *, trials: int) -> Rollout:
    """A rollout of these episodes, the first of so many trials."""
    failure = next((episode.failure for episode in episodes if episode.failure is not None), None)
    return Rollout(
        episodes=tuple(episodes),
        failure=failure,
        steps=sum(episode.steps for episode in episodes),
        output="",
        policy_seconds=0.0,
        unfinished=tuple(range(len(episodes), trials)),
    )
