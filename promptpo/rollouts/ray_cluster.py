"""Workers on a Ray cluster: each Ray actor holds its own host-and-guest pair."""

from __future__ import annotations

import asyncio
from typing import Any

from promptpo.errors import MissingExtraError, UsageError
from promptpo.rollouts.jobs import (
    Call,
    Job,
    Settings,
    Work,
    WorkerLostError,
    deadline,
    gave_up,
    with_registration,
)
from sandbox import CallResult, Rollout, SandboxStatus


class RayExecutor:
    """Runs jobs on Ray actors.

    Losing an actor, or the node it is on, costs rolling its job out again: Ray restarts the actor
    elsewhere, and the job is sent once more.

    Args:
        settings: The task and the limits.
        jobs: Number of actors; 0 means one per CPU of the cluster.
        address: Of a running cluster, as `ray.init` takes it; None starts one on this machine.

    Raises:
        MissingExtraError: Ray is not installed.
        UsageError: There is no cluster at the address.
    """

    def __init__(self, settings: Settings, jobs: int = 0, address: str | None = None) -> None:
        try:
            import ray
        except ImportError as error:
            raise MissingExtraError(
                'Ray is not installed; install it with: pip install "promptpo[ray]"'
            ) from error
        self.settings = settings = with_registration(settings)
        self._ray: Any = ray  # its own types are partial
        self._started = not ray.is_initialized()
        if self._started:
            try:
                ray.init(address, include_dashboard=False, log_to_driver=False, configure_logging=False)
            except ConnectionError as error:
                raise UsageError(f"there is no Ray cluster at {address or 'RAY_ADDRESS'}: {error}") from error
        self.jobs = jobs or max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        actor = ray.remote(num_cpus=1, max_restarts=-1)(_RayHost)
        self.actors: list[Any] = [actor.remote(settings) for _ in range(self.jobs)]
        self._idle: asyncio.Queue[Any] = asyncio.Queue()
        for one in self.actors:
            self._idle.put_nowait(one)

    async def run(self, job: Job) -> Rollout:
        """See `Executor.run`."""
        rollout: Rollout = await self._submit(job)
        return rollout

    async def call(self, call: Call) -> CallResult:
        """See `Executor.call`."""
        result: CallResult = await self._submit(call)
        return result

    async def status(self) -> SandboxStatus:
        """See `Executor.status`."""
        status: SandboxStatus = await self._submit(None)
        return status

    async def _submit(self, work: Work) -> Any:
        actor = await self._idle.get()
        try:
            try:
                return await self._ask(actor, work)
            except WorkerLostError:
                return await self._ask(actor, work)
        except WorkerLostError as error:
            raise gave_up(self.settings, error) from error
        finally:
            self._idle.put_nowait(actor)

    async def _ask(self, actor: Any, work: Work) -> Any:
        """One attempt.

        Raises:
            WorkerLostError: The actor died or stayed silent; Ray starts it again.
        """
        errors = self._ray.exceptions
        try:
            return await asyncio.wait_for(
                asyncio.wrap_future(actor.answer.remote(work).future()), deadline(self.settings, work)
            )
        except TimeoutError as error:
            self._ray.kill(actor, no_restart=False)
            raise WorkerLostError("no answer in time") from error
        except errors.RayTaskError as error:
            raise error.cause or error from None
        except (errors.RayActorError, errors.ObjectLostError) as error:
            raise WorkerLostError("a Ray actor died") from error

    def close(self) -> None:
        """Stop the actors, and Ray itself where this started it; calling it twice is harmless."""
        for actor in self.actors:
            self._ray.kill(actor)
        self.actors = []
        if self._started and self._ray.is_initialized():
            self._ray.shutdown()


class _RayHost:
    """What runs in each actor."""

    def __init__(self, settings: Settings) -> None:
        from promptpo.rollouts.host import Host

        self._host = Host(settings)

    def answer(self, work: Work) -> Any:
        """See `Host.answer`."""
        return self._host.answer(work)
