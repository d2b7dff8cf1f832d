"""An executor without processes, for tests of its callers: it returns scripted results and runs no code."""

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
    """An `Executor` that calls a function instead of running policies.

    Args:
        play: Returns the return or the failure of one episode of a source.
        call: Returns the result of a call.
        steps: Environment steps of each episode.
        seconds: Duration of each job.
        jobs: Number of jobs at a time.

    Attributes:
        asked: Jobs, in the order in which they started.
        cancelled: Number of cancelled jobs.
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
        """See `Executor.run`; simulators fail, and nothing is confined since nothing runs."""
        self._check_open()
        result: Any = SandboxStatus("weak", (), ())
        if isinstance(work, Job):
            result = await self._roll_out(work)
        elif isinstance(work, Call):
            answer = self._call(work)
            result = CallResult(None, answer) if isinstance(answer, Failure) else CallResult(answer, None)
        elif isinstance(work, SandboxWork):
            raise SimulatorFailedError(Failure("rejected", NOTHING_RUNS))
        return cast("T", result)

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
        """Wait for the duration of a job, or until the executor is closed."""
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
        """Every step has the same reward, and observations count the steps."""
        steps = self._steps
        return Trajectory([float(t) for t in range(steps + 1)], [0] * steps, [return_ / steps] * steps)

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise WorkerLostError("the executor is closed.")

    def close(self) -> None:
        """See `Executor.close`."""
        self._closed.set()


def rollout_of(episodes: Sequence[Episode], *, trials: int) -> Rollout:
    """Return a rollout of these episodes, the first of `trials`."""
    failure = next((episode.failure for episode in episodes if episode.failure is not None), None)
    return Rollout(
        episodes=tuple(episodes),
        failure=failure,
        steps=sum(episode.steps for episode in episodes),
        output="",
        policy_seconds=0.0,
        unfinished=tuple(range(len(episodes), trials)),
    )
