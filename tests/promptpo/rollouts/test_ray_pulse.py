"""The heartbeat of a Ray actor, with a fake actor that answers on demand."""

import asyncio
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest

from promptpo.rollouts import ray_cluster
from promptpo.rollouts.jobs import Status


def test_interrupt_during_an_actors_start_leaves_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """The actor is killed, and its heartbeat, which then fails, is no longer awaited."""
    monkeypatch.setattr(ray_cluster, "_POLL_SECONDS", 0.01)
    pulse: Future[Any] = Future()
    method = SimpleNamespace(remote=lambda *_: SimpleNamespace(future=Future))
    beat = SimpleNamespace(
        options=lambda **_: SimpleNamespace(remote=lambda: SimpleNamespace(future=lambda: pulse))
    )
    errors = SimpleNamespace(RayTaskError=OSError, RayActorError=OSError, ObjectLostError=OSError)
    killed: list[Any] = []
    ray = SimpleNamespace(exceptions=errors, kill=killed.append)

    async def interrupt() -> None:
        worker = ray_cluster.RayWorker(ray, lambda: SimpleNamespace(answer=method, beat=beat), 60.0)
        working = asyncio.ensure_future(worker.answer(Status()))
        await asyncio.sleep(0.005)  # the first poll has started with the short interval
        monkeypatch.setattr(ray_cluster, "_POLL_SECONDS", 60.0)
        await asyncio.sleep(0.1)
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
        assert worker.actor is None

    asyncio.run(interrupt())
    assert len(killed) == 1
    assert pulse.cancelled()
