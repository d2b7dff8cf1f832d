"""Rollouts on a real Ray, started here: the same results, and a lost actor costs a rollout and no more."""

import asyncio
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from promptpo.envs.task import Task
from promptpo.rollouts import Job, Settings, make_executor, roll_out
from promptpo_sandbox import Limits, Trial
from tests.promptpo.rollouts.conformance import check
from tests.promptpo.rollouts.test_conformance import ENDLESS, JOB, SETTINGS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(400),
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


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """One for the tests that do not start and stop theirs."""
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


@pytest.mark.usefixtures("cluster")
def test_ray_conforms() -> None:
    """Real actors do what the optimizer relies on."""
    assert asyncio.run(check(lambda: make_executor("ray", SETTINGS, 2), JOB, ENDLESS)) == []


@pytest.mark.usefixtures("cluster")
def test_a_users_own_environment_is_found_on_the_workers() -> None:
    """The module that registers it is imported there too, and a killed actor is replaced."""
    settings = Settings(Task("tests.environments:Test/Thermostat-v0"), Limits())
    job = Job(HEAT, tuple(Trial(seed, None, 50) for seed in range(8)))
    expected = returns("local", settings, job)

    def kill(executor: Any) -> None:
        for worker in executor.workers:
            executor._ray.kill(worker.actor, no_restart=False)

    assert returns("ray", settings, job, then=kill) == expected
