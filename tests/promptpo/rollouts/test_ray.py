"""Rollouts on a real local Ray: equal results, and a lost actor costs only a rollout."""

import asyncio
import os
import random
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from promptpo.envs.task import Task
from promptpo.rollouts import Call, Job, Settings, make_executor, roll_out
from promptpo.rollouts.host import Host
from promptpo.rollouts.jobs import Status
from promptpo.rollouts.ray_cluster import _RayHost
from promptpo_sandbox import Layers, Limits, Sandbox, Trial
from tests.promptpo.rollouts.executor_check import check_executor as check
from tests.promptpo.rollouts.test_conformance import ENDLESS, JOB, SETTINGS
from tests.sandbox.canaries import Canaries
from tests.sandbox.test_attacks import ATTACKS, TIGHT, texts_of

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
    """Return the returns of a job on an executor; `then` is called with the executor while the job runs."""

    async def work() -> Any:
        executor = make_executor(kind, settings, 2)
        try:
            task = asyncio.ensure_future(roll_out(executor, [job]))
            if then:
                await asyncio.sleep(0.2)
                then(executor)
            (rollout,) = await task
            return [episode.return_ for episode in rollout.episodes]
        finally:
            executor.close()

    return asyncio.run(work())


def test_ray_gives_the_same_returns_as_local_workers() -> None:
    settings = Settings(Task("CartPole-v1"), Limits())
    job = Job(LEAN, tuple(Trial(seed, None, 500) for seed in range(20)))
    assert returns("ray", settings, job) == returns("local", settings, job)


@pytest.fixture(scope="module")
def canaries() -> Iterator[Canaries]:
    """Objects that attacks must not touch, readable by every user; Ray itself uses this process's generator."""
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(random, "getstate", tuple)
        Path(name).chmod(0o755)
        (Path(name) / "in").mkdir()
        canaries = Canaries(Path(name) / "in")
        yield canaries
        canaries.close()


@pytest.fixture(scope="module")
def cluster(canaries: Canaries) -> Iterator[None]:
    """A cluster whose processes inherit the canaries' environment."""
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


@pytest.mark.usefixtures("cluster")
def test_ray_conforms() -> None:
    assert asyncio.run(check(lambda: make_executor("ray", SETTINGS, 2), JOB, ENDLESS)) == []


@pytest.mark.usefixtures("cluster")
def test_users_environment_is_found_on_the_workers() -> None:
    """The module that registers it is imported there too, and a killed actor is replaced."""
    settings = Settings(Task("tests.environments:Test/Thermostat-v0"), Limits())
    job = Job(HEAT, tuple(Trial(seed, None, 50) for seed in range(8)))
    expected = returns("local", settings, job)

    def kill(executor: Any) -> None:
        for worker in executor.workers:
            executor._ray.kill(worker.actor, no_restart=False)

    assert returns("ray", settings, job, then=kill) == expected


REACHING = ("file_", "process_", "socket_", "ctypes_libc", "frame_gc", "import_from", "exit_system")
"""Attacks on a worker's process: its files, environment variables, descriptors and network."""


class _Ungated(_RayHost):
    """An actor whose sandbox has no gate, so that only its walls stop attacks."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._host = Host(settings)
        self._host.sandbox = Sandbox(settings.limits, layers=Layers(gate=False))


@pytest.mark.usefixtures("cluster")
def test_attacks_do_no_harm_in_an_actor(canaries: Canaries, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the gate, nothing is read, written, started or sent, and the actor goes on."""
    import ray

    monkeypatch.setattr("promptpo.rollouts.ray_cluster._RayHost", _Ungated)
    sources = {p.stem: canaries.arm(p.read_text()) for p in ATTACKS if p.stem.startswith(REACHING)}

    async def work() -> dict[str, Any]:
        executor = make_executor("ray", Settings(Task("CartPole-v1"), TIGHT), 1)
        try:
            assert (await executor.run(Status())).level == "strong"
            assert (
                ray.get(ray.remote(lambda: os.environ["CANARY_KEY"]).remote()) == canaries.token
            )  # the token is within reach
            sound = await executor.run(Job(LEAN, (Trial(0, None, 5),)))
            assert sound.failure is None
            found = {
                name: await executor.run(Job(one, (Trial(1), Trial(2)))) for name, one in sources.items()
            }
            again = await executor.run(Job(LEAN, (Trial(0, None, 5),)))
            assert again.episodes[0].return_ == sound.episodes[0].return_
            return found
        finally:
            executor.close()

    found = asyncio.run(work())
    assert len(found) > 40
    for name, rollout in found.items():
        assert canaries.harm(texts_of(rollout), rollout.output, []) == [], name
        assert rollout.failure is None or rollout.failure.kind != "rejected", name


@pytest.mark.usefixtures("cluster")
def test_hostile_feedback_in_an_actor_is_a_failure(canaries: Canaries) -> None:
    """A class that hangs, reads files or returns too much fails, and the next one works."""
    bodies = (
        "while True: pass",
        f"return open({str(canaries.secret)!r}).read()",
        "return 'x' * 10 ** 9",
        "return (lambda f: f(f))(lambda f: [f(f)])",
    )

    async def work() -> list[Any]:
        limits = replace(TIGHT, call_seconds=1.0)
        executor = make_executor("ray", Settings(Task("CartPole-v1"), limits), 1)
        try:
            classes = [
                f"class Feedback:\n    def summarise(self, episode):\n        {body}\n" for body in bodies
            ]
            failed = [await executor.run(Call(one, "Feedback.summarise", {})) for one in classes]
            good = "class Feedback:\n    def summarise(self, episode):\n        return 'fell'\n"
            assert (await executor.run(Call(good, "Feedback.summarise", {}))).value == "fell"
            return failed
        finally:
            executor.close()

    for result in asyncio.run(work()):
        assert result.failure is not None
        assert canaries.token not in f"{result.failure}{result.value}{result.output}"
