"""An executor whose jobs are rewarded by a reward program."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from promptpo.rollouts.jobs import Job

if TYPE_CHECKING:
    from promptpo.rollouts.jobs import Executor, T, Work


class RewardedExecutor:
    """Passes everything on, jobs with a reward program that they have not named themselves.

    Args:
        executor: Who does the work; closing it is its owner's business as well as ours.
        reward: The program.
    """

    def __init__(self, executor: Executor, reward: str) -> None:
        self._executor, self._reward = executor, reward
        self.jobs = executor.jobs

    async def run(self, work: Work[T]) -> T:
        """See `Executor.run`."""
        rewarded: Any = replace(work, reward=work.reward or self._reward) if isinstance(work, Job) else work
        found: T = await self._executor.run(rewarded)
        return found

    def close(self) -> None:
        """See `Executor.close`."""
        self._executor.close()
