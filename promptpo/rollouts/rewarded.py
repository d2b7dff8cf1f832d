"""An executor that adds a reward program to jobs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from promptpo.rollouts.jobs import Job

if TYPE_CHECKING:
    from promptpo.rollouts.jobs import Executor, T, Work


class RewardedExecutor:
    """Adds a reward program to jobs without one; passes everything on to another executor.

    Args:
        executor: Executor that does the work; closing this one closes it too.
        reward: Source of the reward program.
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
