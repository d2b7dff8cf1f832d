"""An executor whose jobs are rewarded by a reward program."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from promptpo.rollouts.jobs import Call, Executor, Job, SandboxWork
    from promptpo_sandbox import CallResult, Rollout, SandboxStatus


class RewardedExecutor:
    """Passes everything on, jobs with a reward program that they have not named themselves.

    Args:
        executor: Who does the work; closing it is its owner's business as well as ours.
        reward: The program.
    """

    def __init__(self, executor: Executor, reward: str) -> None:
        self._executor, self._reward = executor, reward
        self.jobs = executor.jobs

    async def run(self, job: Job) -> Rollout:
        """See `Executor.run`."""
        return await self._executor.run(replace(job, reward=job.reward or self._reward))

    async def call(self, call: Call) -> CallResult:
        """See `Executor.call`."""
        return await self._executor.call(call)

    async def simulate(self, work: SandboxWork) -> Any:
        """See `Executor.simulate`."""
        return await self._executor.simulate(work)

    async def status(self) -> SandboxStatus:
        """See `Executor.status`."""
        return await self._executor.status()

    def close(self) -> None:
        """See `Executor.close`."""
        self._executor.close()
