"""Every executor passes the check, and the check finds the faults of bad ones."""

import asyncio
from typing import Any

import pytest

from promptpo.envs.task import Task
from promptpo.rollouts import Job, Settings
from promptpo.rollouts.local import LocalExecutor
from promptpo_sandbox import Failure, Limits, Trial
from tests.promptpo.fake_executor import FakeExecutor
from tests.promptpo.rollouts.executor_check import check_executor as check

LEAN = "class Policy:\n    def act(self, obs):\n        return 1 if obs[2] + 0.5 * obs[3] > 0 else 0\n"
SLOW = LEAN.replace("return", "sum(range(30_000_000)); return")
JOB = Job(LEAN, tuple(Trial(seed, None, 50) for seed in range(6)))
ENDLESS = Job(SLOW, tuple(Trial(seed, None, 500) for seed in range(40)))
SETTINGS = Settings(Task("CartPole-v1"), Limits(step_seconds=20.0, episode_seconds=600.0))


def play(source: str, trial: Trial) -> float | Failure:
    """Return a score that depends on the seed, or a failure for a source without a policy."""
    if "class Policy" not in source:
        return Failure("rejected", "there is no policy", seed=trial.seed)
    return float(trial.seed)


class SlowExecutor(FakeExecutor):
    """Takes a minute for slow sources."""

    slow_seconds = 60.0

    async def run(self, job: Any) -> Any:
        """See `Executor.run`."""
        self._seconds = self.slow_seconds if "30_000_000" in getattr(job, "source", "") else 0.0
        return await super().run(job)


@pytest.mark.slow
def test_local_executor_conforms() -> None:
    assert asyncio.run(check(lambda: LocalExecutor(SETTINGS, 2), JOB, ENDLESS)) == []


def test_fake_executor_conforms() -> None:
    fake = SlowExecutor(play)
    assert asyncio.run(check(lambda: fake, JOB, ENDLESS)) == []
    assert fake.cancelled == 3
    assert fake.asked[0] is JOB


class Uncancellable(SlowExecutor):
    """Ignores cancellation, and works after it was closed."""

    slow_seconds = 2.0

    async def run(self, job: Any) -> Any:
        """See `Executor.run`."""
        try:
            return await super().run(job)
        except asyncio.CancelledError:
            return await FakeExecutor(play).run(job)

    def close(self) -> None:
        """Does nothing."""


class Inconsistent(FakeExecutor):
    """Returns another score each time, reverses the order of seeds and ignores step limits."""

    rolled = 0

    async def run(self, job: Any) -> Any:
        """See `Executor.run`."""
        if not isinstance(job, Job):
            return await super().run(job)
        self.rolled += 1
        reversed_job = Job(job.source, job.trials[::-1])
        return await FakeExecutor(lambda *_: float(self.rolled)).run(reversed_job)


@pytest.mark.slow
def test_check_finds_every_fault() -> None:
    faults = asyncio.run(check(lambda: Uncancellable(play), JOB, ENDLESS, seconds=30))
    assert "a cancelled job was not cancelled." in faults
    assert "a closed executor took a job." in faults
    faults = asyncio.run(check(lambda: Inconsistent(play), JOB, ENDLESS, seconds=30))
    for sentence in (
        "the episodes are not those of the trials, in order.",
        "the same job did not give the same returns each time.",
        "a step limit was passed, or the trials it left out are not in unfinished.",
        "a source that is no program did not fail.",
    ):
        assert sentence in faults
