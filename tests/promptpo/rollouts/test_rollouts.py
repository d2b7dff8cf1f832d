"""Worker processes: losing one costs a rollout, and a broken environment gets one sentence."""

import asyncio
import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from promptpo.envs.task import Task
from promptpo.errors import EnvironmentFaultError, WorkerLostError
from promptpo.rollouts import Job, Settings, evaluation_of, roll_out
from promptpo.rollouts.local import LocalExecutor
from promptpo_sandbox import Limits, Trial

HEAT = """class Policy:
    def act(self, obs):
        import numpy as np
        return np.clip(obs["wish"] - obs["room"], -1.0, 1.0)
""".replace("        import numpy as np\n", "").replace(
    "class Policy", "import numpy as np\n\n\nclass Policy"
)

LEAN = """class Policy:
    def act(self, obs):
        return 1 if obs[2] + 0.5 * obs[3] > 0 else 0
"""


def thermostat(name: str = "Thermostat", **kwargs: Any) -> Any:
    """Return settings for one of the test environments."""
    return Settings(Task(f"tests.environments:Test/{name}-v0", kwargs), Limits())


def trials(n: Any) -> Any:
    """Return `n` trials."""
    return tuple(Trial(seed, None, 50) for seed in range(n))


def run(settings: Any, job: Any, jobs: int = 1, then: Any = None) -> Any:
    """Roll one job out; `then` is called with the executor while it runs."""

    async def work() -> Any:
        executor = LocalExecutor(settings, jobs)
        try:
            task = asyncio.ensure_future(roll_out(executor, [job]))
            if then:
                await asyncio.to_thread(then, executor)
            return (await task)[0]
        finally:
            executor.close()

    return asyncio.run(work())


@pytest.mark.slow
def test_number_of_workers_does_not_change_episodes() -> None:
    job = Job(HEAT, trials(24))
    one, three = (run(thermostat(), job, jobs) for jobs in (1, 3))
    assert [e.return_ for e in one.episodes] == [e.return_ for e in three.episodes]
    assert one.steps == three.steps == 24 * 50


@pytest.mark.slow
def test_killed_worker_is_replaced_and_its_job_repeated() -> None:
    def kill(executor: Any) -> None:
        worker = executor.workers[0]
        while worker.process is None or worker.process.pid is None:
            time.sleep(0.01)
        time.sleep(0.3)
        os.kill(worker.process.pid, signal.SIGKILL)

    slow = HEAT.replace("return", "sum(range(20_000)); return")
    expected = run(thermostat(), Job(slow, trials(8)))
    again = run(thermostat(), Job(slow, trials(8)), then=kill)
    assert [e.return_ for e in again.episodes] == [e.return_ for e in expected.episodes]


@pytest.mark.slow
def test_environment_that_dies_once_is_tried_again(tmp_path: Path) -> None:
    """The crash is not the policy's fault and may not repeat."""
    rollout = run(thermostat("DiesOnce", flag=str(tmp_path / "flag")), Job(HEAT, trials(2)))
    assert evaluation_of(rollout).outcome == "ok"


@pytest.mark.usefixtures("copied")
def test_policy_time_excludes_waiting_for_the_cpu() -> None:
    rollout = run(thermostat(), Job(HEAT, trials(1)))
    waited = replace(rollout, policy_seconds=60.0, guest_cpu_seconds=0.5)
    assert evaluation_of(waited).policy_seconds == 0.5
    assert evaluation_of(replace(waited, policy_seconds=0.25)).policy_seconds == 0.25


@pytest.mark.slow
def test_crash_in_compiled_code_is_located() -> None:
    """The sentence has the signal and the environment's current line."""
    with pytest.raises(EnvironmentFaultError, match=r"segmentation fault .*environments/__init__\.py, line"):
        run(thermostat("Faults"), Job(HEAT, trials(1)))


@pytest.mark.usefixtures("copied")
def test_exception_of_the_environment_gets_one_sentence() -> None:
    with pytest.raises(EnvironmentFaultError, match=r"Test/Raises-v0 raised KeyError: 'no such sensor'"):
        run(thermostat("Raises"), Job(HEAT, trials(2)))


@pytest.mark.slow
@pytest.mark.usefixtures("copied")
def test_environment_that_hangs_is_given_up() -> None:
    """It is given up after two timeouts, each of which kills its process."""
    limits = Limits(step_seconds=0.05, construct_seconds=0.5)
    settings = replace(thermostat("Hangs"), env_timeout=0.3, limits=limits, lanes=1)
    started = time.monotonic()
    with pytest.raises(EnvironmentFaultError, match="hung"):
        run(settings, Job(HEAT, trials(1)))
    assert time.monotonic() - started < 60


def test_environment_registered_in_a_script_is_found() -> None:
    """Classes that exist only in this process are sent to workers by value."""
    import gymnasium

    from tests.environments import Thermostat

    class Local(Thermostat):
        """A class that cannot be imported by name."""

        def step(self, action: Any) -> Any:
            """Constant reward."""
            observation, _, *rest = super().step(action)
            return observation, 2.0, *rest

    gymnasium.register("Local/Env-v0", entry_point=Local, max_episode_steps=10)
    settings = Settings(Task("Local/Env-v0"), Limits())
    rollout = run(settings, Job(HEAT, (Trial(0, None, 10),)))
    assert rollout.episodes[0].return_ == 20.0


@pytest.mark.usefixtures("copied")
def test_closing_ends_running_work_at_once() -> None:
    """Ctrl-C must not wait for a long rollout."""
    slow = LEAN.replace("return", "sum(range(3_000_000)); return")
    settings = Settings(Task("CartPole-v1"), Limits())

    async def work() -> None:
        executor = LocalExecutor(settings, 1)
        task = asyncio.ensure_future(executor.run(Job(slow, tuple(Trial(s, None, 500) for s in range(50)))))
        await asyncio.sleep(0.5)
        started = time.monotonic()
        executor.close()
        assert time.monotonic() - started < 20
        with pytest.raises((WorkerLostError, asyncio.CancelledError)):
            await task

    asyncio.run(work())


@pytest.mark.usefixtures("copied")
def test_step_limit_ends_a_job_early() -> None:
    """Unfinished episodes are left out."""
    rollout = run(thermostat(), Job(HEAT, trials(4), step_limit=120))
    assert rollout.steps <= 120
    assert len(rollout.episodes) < 4


@pytest.mark.usefixtures("copied")
def test_success_rate_is_read_from_info() -> None:
    sort = "class Policy:\n    def act(self, obs):\n        return (obs['colour'] + 1) % 3\n"
    assert evaluation_of(run(thermostat("Sorter"), Job(sort, trials(3)))).success_rate == 1.0


def test_starting_workers_block_ctrl_c() -> None:
    """A terminal sends it to all its processes, and these cannot ignore it yet."""
    blocked: list[str] = []

    def look(executor: Any) -> None:
        while not (process := executor.workers[0].process) or not process.pid:
            time.sleep(0.01)
        status = Path(f"/proc/{process.pid}/status").read_text()
        blocked.extend(line.split()[1] for line in status.splitlines() if line.startswith("SigBlk"))

    run(Settings(Task("CartPole-v1"), Limits()), Job(LEAN, trials(1)), then=look)
    assert int(blocked[0], 16) >> (signal.SIGINT - 1) & 1
