"""Workers on a Ray cluster: each Ray actor holds its own host-and-guest pair."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from promptpo.errors import MissingExtraError, UsageError, WorkerLostError
from promptpo.rollouts.jobs import Settings, Work, with_registration
from promptpo.rollouts.pool import PoolExecutor

_POLL_SECONDS = 2.0
_START_SECONDS = 120.0
"""Time for an actor to be placed and import its packages, on top of the environment's limit."""

CLOSE_SECONDS = 10.0
"""Time for actors to close their environments."""


class RayWorker:
    """One Ray actor, replaced by another, perhaps elsewhere, if it is lost.

    Args:
        ray: The `ray` package, whose own types are incomplete.
        make: Starts an actor.
        env_timeout: See `Settings`.

    Attributes:
        actor: The actor, if there is one.
    """

    def __init__(self, ray: Any, make: Callable[[], Any], env_timeout: float) -> None:
        self._ray = ray
        self._make = make
        self._env_timeout = env_timeout
        self.actor: Any = make()

    async def answer(self, work: Work[Any]) -> Any:
        """See `Worker.answer`."""
        errors = self._ray.exceptions
        self.actor = self.actor or self._make()
        answer = asyncio.wrap_future(self.actor.answer.remote(work).future())
        try:
            await self._watch(answer)
            return await answer
        except asyncio.CancelledError:
            self.kill()
            raise
        except errors.RayTaskError as error:
            raise error.cause or error from None
        except (errors.RayActorError, errors.ObjectLostError) as error:
            self.kill()
            raise WorkerLostError("a Ray actor died") from error
        finally:
            answer.cancel()

    async def _watch(self, answer: asyncio.Future[Any]) -> None:
        """Wait until there is an answer.

        Raises:
            WorkerLostError: The environment hangs, or the actor does not respond.
        """
        beat, since = 0, time.monotonic()
        while not (await asyncio.wait([answer], timeout=min(_POLL_SECONDS, self._env_timeout)))[0]:
            asked = asyncio.wrap_future(
                self.actor.beat.options(concurrency_group="watching").remote().future()
            )
            try:
                done, _ = await asyncio.wait([asked], timeout=_POLL_SECONDS)
            finally:
                asked.cancel()  # nobody reads the failure of a late pulse
            now_at, now = (asked.result() if done and not asked.exception() else beat), time.monotonic()
            if now_at != beat:
                beat, since = now_at, now
            limit = self._env_timeout + (0.0 if beat else _START_SECONDS)
            if (beat % 2 or not beat or not done) and now - since > limit:
                self.kill()
                raise WorkerLostError(f"an environment step did not end within {limit:.0f} seconds")

    def kill(self) -> None:
        """Kill the actor and its work, policies included."""
        if self.actor is not None:
            self._ray.kill(self.actor)
            self.actor = None


class RayExecutor(PoolExecutor[RayWorker]):
    """Runs jobs on Ray actors.

    If an actor or its node is lost, another actor is started and gets the job again.

    Args:
        settings: The task and the limits.
        jobs: Number of actors; 0 means one per CPU of the cluster.

    Raises:
        MissingExtraError: Ray is not installed.
        UsageError: There is no cluster at RAY_ADDRESS.
    """

    def __init__(self, settings: Settings, jobs: int = 0) -> None:
        try:
            import ray
        except ImportError as error:
            raise MissingExtraError(
                'Ray is not installed; install it with: pip install "promptpo[ray]"'
            ) from error
        settings = with_registration(settings)
        self._ray: Any = ray
        self._started = not ray.is_initialized()
        if self._started:
            try:
                ray.init(include_dashboard=False, log_to_driver=False, configure_logging=False)
            except ConnectionError as error:
                raise UsageError(f"there is no Ray cluster at RAY_ADDRESS: {error}") from error
            except OSError as error:  # sockets are in the folder for temporary files
                raise UsageError(
                    f"Ray cannot start here: {error}. If the path is too long, shorten it: RAY_TMPDIR=/tmp promptpo ..."
                ) from error
        jobs = jobs or max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        kind = self._ray.remote(num_cpus=1, concurrency_groups={"watching": 1})(_RayHost)
        workers = [RayWorker(ray, lambda: kind.remote(settings), settings.env_timeout) for _ in range(jobs)]
        super().__init__(settings, workers)

    def close(self) -> None:
        """Stop the actors, and Ray itself if this object started it; calling it again is harmless."""
        if not self._closed:
            super().close()
            asked = [worker.actor.close.remote() for worker in self.workers if worker.actor is not None]
            if asked:
                self._ray.wait(asked, num_returns=len(asked), timeout=CLOSE_SECONDS)
            for worker in self.workers:
                worker.kill()
            if self._started and self._ray.is_initialized():
                self._ray.shutdown()


class _Number:
    """Counter of a `Pulse` within one process."""

    value = 0


class _RayHost:
    """The actor: it answers in one thread and reports its pulse in another."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._number = _Number()
        self._host: Any = None

    def answer(self, work: Work[Any]) -> Any:
        """See `Host.answer`."""
        from promptpo.rollouts.host import Host, Pulse

        if self._host is None:
            self._host = Host(self._settings, Pulse(self._number))
        return self._host.answer(work)

    def close(self) -> None:
        """See `Host.close`."""
        if self._host is not None:
            self._host.close()

    def beat(self) -> int:
        """Return the pulse's number; see `Pulse`."""
        return self._number.value
