"""Rollouts on a real Ray, started here: the same results, and a lost actor costs a rollout and no more."""

import asyncio
from importlib.util import find_spec
from typing import Any

import pytest

from promptpo.envs.task import Task
from promptpo.rollouts import Job, Settings, make_executor, roll_out
from promptpo_sandbox import Limits, Trial

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is an extra"),
]

LEAN = """class Policy:
    def act(self, obs):
        return 1 if obs[2] + 0.5 * obs[3] > 0 else 0
"""
HEAT = """import numpy as np


class Policy:
    def act(self, obs):
        sum(range(2_000))
        return np.clip(obs["wish"] - obs["room"], -1.0, 1.0)
"""


def returns(kind: Any, settings: Any, job: Any, then: Any = None) -> Any:
    """Returns of a job on an executor; `then` is called with it while the job runs."""

    async def work() -> Any:
        executor = make_executor(kind, settings, 2)
        try:
            task = asyncio.ensure_future(roll_out(executor, job))
            if then:
                await asyncio.sleep(0.2)
                then(executor)
            rollout = await task
            return [episode.return_ for episode in rollout.episodes]
        finally:
            executor.close()

    return asyncio.run(work())


def test_ray_gives_the_same_returns_as_local_workers() -> None:
    """Where a rollout runs changes nothing."""
    settings = Settings(Task("CartPole-v1"), Limits())
    job = Job(LEAN, tuple(Trial(seed, None, 500) for seed in range(20)))
    assert returns("ray", settings, job) == returns("local", settings, job)


def test_a_users_own_environment_is_found_on_the_workers() -> None:
    """The module that registers it is imported there too, and a killed actor is replaced."""
    settings = Settings(Task("tests.environments:Test/Thermostat-v0"), Limits())
    job = Job(HEAT, tuple(Trial(seed, None, 50) for seed in range(8)))
    expected = returns("local", settings, job)

    def kill(executor: Any) -> None:
        for worker in executor.workers:
            executor._ray.kill(worker.actor, no_restart=False)

    assert returns("ray", settings, job, then=kill) == expected
