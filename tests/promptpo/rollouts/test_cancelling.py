"""Cancelling a rollout ends its worker's job; slow policies are outcomes, hung environments are not."""

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from promptpo.envs.task import Task
from promptpo.errors import EnvironmentFaultError
from promptpo.rollouts import Job, Settings, roll_out
from promptpo.rollouts.local import LocalExecutor
from promptpo_sandbox import Limits, Trial
from tests.waiting import is_running

LEAN = "class Policy:\n    def act(self, obs):\n        return 1 if obs[2] + 0.5 * obs[3] > 0 else 0\n"
SLOW = LEAN.replace("return", "sum(range(30_000_000)); return")
CARTPOLE = Settings(Task("CartPole-v1"), Limits(step_seconds=30.0, episode_seconds=600.0))


def children(pid: Any) -> Any:
    """Return the ids of all direct and indirect child processes."""
    direct = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [*direct, *(grandchild for child in direct for grandchild in children(child))]


@pytest.mark.slow
def test_cancelled_rollout_ends_its_guests_and_frees_the_workers() -> None:
    """Within seconds no policy runs any more, and another job succeeds."""

    async def work() -> None:
        executor = LocalExecutor(CARTPOLE, 2)

        def started() -> list[int]:
            return [pid for worker in executor.workers for pid in children(worker.process.pid)]

        try:
            await asyncio.gather(*(executor.run(Job(LEAN, (Trial(0, None, 50),))) for _ in range(2)))  # warm
            zygotes = started()
            job = Job(SLOW, tuple(Trial(seed, None, 500) for seed in range(24)))
            task = asyncio.ensure_future(roll_out(executor, [job]))
            async with asyncio.timeout(60):
                while len(running := started()) < len(zygotes) + 2:  # noqa: ASYNC110 - a guest for each
                    await asyncio.sleep(0.02)  # processes send no events
            began = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert time.monotonic() - began < 20
            while any(map(is_running, running)):
                assert time.monotonic() - began < 20
                await asyncio.sleep(0.05)
            (again,) = await roll_out(executor, [Job(LEAN, (Trial(0, None, 50),))])
            assert again.failure is None
        finally:
            executor.close()

    asyncio.run(work())


def test_time_limit_ends_a_rollout() -> None:
    """A limit on wall time cancels the rollout."""

    async def work() -> None:
        executor = LocalExecutor(CARTPOLE, 1)
        try:
            job = Job(SLOW, tuple(Trial(seed, None, 500) for seed in range(8)))
            began = time.monotonic()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.7):
                    await roll_out(executor, [job])
            assert time.monotonic() - began < 20
        finally:
            executor.close()

    asyncio.run(work())


def test_one_executor_serves_several_event_loops() -> None:
    """In notebooks each call runs a loop of its own."""
    executor = LocalExecutor(CARTPOLE, 1)
    try:
        job = Job(LEAN, (Trial(0, None, 50),))

        async def run_three() -> Any:
            return await asyncio.gather(*(executor.run(job) for _ in range(3)))

        first, second = (asyncio.run(run_three()) for _ in range(2))
        assert [r.episodes[0].return_ for r in first] == [r.episodes[0].return_ for r in second]
    finally:
        executor.close()


@pytest.mark.slow
def test_slow_constructors_are_outcomes() -> None:
    """Time in policies has limits of its own and does not count against the environment's."""
    limits = Limits(construct_seconds=1.0)
    settings = replace(CARTPOLE, limits=limits, env_timeout=3.0, lanes=4)
    hang = (
        "class Policy:\n    def __init__(self):\n        while True:\n            pass\n"
        + LEAN.partition("\n")[2]
    )

    async def work() -> Any:
        executor = LocalExecutor(settings, 1)
        try:
            job = Job(hang, tuple(Trial(seed, None, 50) for seed in range(4)), stop_on_failure=False)
            return (await roll_out(executor, [job]))[0]
        finally:
            executor.close()

    rollout = asyncio.run(work())
    assert [episode.failure.kind for episode in rollout.episodes] == ["timeout"] * 4


@pytest.mark.slow
def test_environment_that_hangs_in_reset_is_given_up() -> None:
    settings = Settings(Task("tests.environments:Test/HangsInReset-v0"), Limits(), env_timeout=1.0)

    async def work() -> None:
        executor = LocalExecutor(settings, 1)
        try:
            await roll_out(executor, [Job(LEAN, (Trial(0, None, 5),))])
        finally:
            executor.close()

    began = time.monotonic()
    with pytest.raises(EnvironmentFaultError, match="hung"):
        asyncio.run(work())
    assert time.monotonic() - began < 80


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_workers() -> None:
    """Failures end the rollout in the order of the trials."""
    fails = """
class Policy:
    def __init__(self, params):
        self.bad = params["bad"]
    def act(self, obs):
        print("acting", self.bad)
        return "left" if self.bad else 0
"""
    job = Job(fails, tuple(Trial(seed, {"bad": float(seed in (9, 20))}, 30) for seed in range(24)))

    def roll_out_with(jobs: int) -> Any:
        async def work() -> Any:
            executor = LocalExecutor(CARTPOLE, jobs)
            try:
                return await roll_out(
                    executor, [replace(job, stop_on_failure=stop) for stop in (True, False)]
                )
            finally:
                executor.close()

        return asyncio.run(work())

    for one, three in zip(roll_out_with(1), roll_out_with(3), strict=True):
        assert [(e.seed, e.return_, e.failure) for e in one.episodes] == [
            (e.seed, e.return_, e.failure) for e in three.episodes
        ]
        assert (one.failure, one.unfinished, one.output) == (three.failure, three.unfinished, three.output)
        assert one.failure.seed == 9
