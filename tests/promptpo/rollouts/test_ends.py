"""Workers close their environments before they end, and leave no process behind, however they end."""

from __future__ import annotations

import asyncio
import errno
import itertools
import multiprocessing
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from promptpo.core.control import gather
from promptpo.envs import building, closing, notes
from promptpo.envs.task import Task, Wrapping
from promptpo.errors import EnvironmentFaultError, PromptPOError
from promptpo.rollouts import Job, Settings, local
from promptpo.rollouts.local import LocalExecutor
from promptpo_sandbox import Limits, Trial
from tests.promptpo.ending_environments import CLOSES, HABITS, HOLD, counts, running

ENVIRONMENT = "tests.promptpo.ending_environments:Simulator"
POLICY = "class Policy:\n    def act(self, obs):\n        return 1\n"
SLEEPS = POLICY.replace("return", "sum(range(10 ** 9)); return")


def settings(log: Path, **habits: Any) -> Settings:
    """Return settings of workers with the environment."""
    timeout = 0.4 if habits.get("step") == "hangs" else 100.0
    return Settings(Task(ENVIRONMENT, {"log": str(log), **habits}), Limits(), lanes=2, env_timeout=timeout)


def play(worker_settings: Settings, *, source: str = POLICY, jobs: int = 1, then: Any = None) -> None:
    """Roll out in workers, call `then` meanwhile, and close the workers."""

    async def work() -> None:
        executor = LocalExecutor(worker_settings, jobs)
        try:
            job = Job(source, tuple(Trial(seed, None, 20) for seed in range(2)))
            task = asyncio.ensure_future(gather(executor.run(job) for _ in range(jobs)))  # noqa: RUF006
            if then is not None:
                await then(executor, task)
            await task
        finally:
            executor.close()

    asyncio.run(work())


@pytest.mark.usefixtures("copied")
@pytest.mark.parametrize(
    ("close", "habit"), [*itertools.product(CLOSES, ["none"]), *(("well", h) for h in HABITS if h != "none")]
)
def test_every_environment_of_a_worker_is_closed(
    tmp_path: Path, close: str, habit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever happens in its constructor and in `close`; if that hangs, its simulators are killed."""
    jobs = 2 if (close, habit) == ("well", "none") else 1
    for seconds in (1.0, 20.0) if "hangs" in close else (100.0,):
        monkeypatch.setattr(local, "CLOSE_SECONDS", seconds)
        log, began = tmp_path / f"log {seconds}", time.monotonic()
        play(settings(log, close=close, habit=habit, forgets=close != "well"), jobs=jobs)
        started, closed = counts(log)
        assert started == 2 * jobs
        assert closed == started or "hangs" in close
        assert not running(log)
        assert time.monotonic() - began < 100
        if closed:  # otherwise the machine was too busy to begin in time
            break
    assert closed > 0


@pytest.mark.usefixtures("copied")
@pytest.mark.parametrize("habit", ["none", "leaves"])
def test_cancelled_worker_closes_its_environments(tmp_path: Path, habit: str) -> None:
    """It is cancelled in the middle of a policy's step; a worker whose environment ignores signals is killed."""
    log = tmp_path / "log"

    async def cancel(_: Any, task: asyncio.Future[Any]) -> None:
        while counts(log)[0] < 2:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.3)
        task.cancel()

    with pytest.raises(asyncio.CancelledError):
        play(settings(log, habit=habit), source=SLEEPS, then=cancel)
    assert counts(log) == (2, 2)
    assert not running(log)


@pytest.mark.usefixtures("copied")
@pytest.mark.parametrize("step", ["hangs", "os._exit(0)", "exit(0)", "killed", "raises"])
def test_failed_step_leaves_no_simulator(tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence names the cause, and environments that can still close are closed."""
    monkeypatch.setattr(local, "CLOSE_SECONDS", 1.0 if step in {"os._exit(0)", "killed"} else 20.0)
    log = tmp_path / "log"
    with pytest.raises(EnvironmentFaultError) as raised:
        play(settings(log, step=step))
    says = {"hangs": "did not end within", "os._exit(0)": "os._exit", "killed": "from outside"}
    assert says.get(step, "raised") in str(raised.value)
    assert not running(log)
    if step in {"hangs", "exit(0)", "raises"}:
        assert len(set(counts(log))) == 1


@pytest.mark.usefixtures("copied")
def test_killed_worker_leaves_no_simulator(tmp_path: Path) -> None:
    """The rollout is repeated in another worker."""
    log, hold = tmp_path / "log", tmp_path / HOLD
    hold.touch()

    async def kill(executor: LocalExecutor, _: Any) -> None:
        while counts(log)[0] < 2:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.02)
        os.kill(executor.workers[0].process.pid, signal.SIGKILL)
        hold.unlink()

    play(settings(log), then=kill)
    assert counts(log) == (4, 2)
    assert not running(log)


@pytest.mark.parametrize("close", [close for close in CLOSES if close != "hangs in C"])
def test_closing_prints_at_most_one_warning(
    tmp_path: Path, close: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is one line for all environments of a name; closing twice calls the environment's `close` once."""
    monkeypatch.setattr(closing, "CLOSE_SECONDS", 0.5 if "hangs" in close else 100.0)
    monkeypatch.setattr(notes, "_printed_keys", set())
    monkeypatch.setattr(closing, "hung", [])
    log = tmp_path / "log"
    for _ in range(3):
        env = building.make_env(Task(ENVIRONMENT, {"log": str(log), "close": close}))
        env.reset(seed=0)
        env.close()
        env.close()
    assert counts(log) == (3, 3)
    err = capsys.readouterr().err
    assert err.count("\n") == (close != "well")
    assert ("took more than" in err) == ("hangs" in close)


def test_refused_environment_is_closed(tmp_path: Path) -> None:
    """An unusable wrapper is found only after the simulator has started."""
    log = tmp_path / "log"
    task = Task(ENVIRONMENT, {"log": str(log)}, wrappers=(Wrapping("NoSuchWrapper"),))
    with pytest.raises(PromptPOError):
        building.make_env(task)
    assert counts(log) == (1, 1)


@pytest.mark.parametrize("step", ["Pipe", "RawValue", "Process.start"])
def test_process_that_cannot_be_started_is_reported_and_started_by_the_next_work(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk or without free descriptors, whichever part of the start fails, one sentence says so."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    context = multiprocessing.get_context("spawn")
    owner, name = (context.Process, "start") if "." in step else (type(context), step)

    async def work() -> int:
        executor = LocalExecutor(settings(tmp_path / "log"), 1)
        job = Job(POLICY, (Trial(0, None, 20),))
        try:
            with monkeypatch.context() as broken:
                broken.setattr(owner, name, refuse)
                with pytest.raises(PromptPOError, match="cannot start a rollout process: No space left"):
                    await executor.run(job)
            return (await executor.run(job)).steps
        finally:
            executor.close()

    assert asyncio.run(work()) > 0
