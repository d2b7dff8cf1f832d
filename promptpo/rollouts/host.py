"""One trusted process's environments and sandbox: what every worker is made of."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from promptpo.errors import EnvironmentFaultError, PromptPOError
from promptpo.rollouts.jobs import Call, Job, Settings, Work
from sandbox import CallResult, Rollout, Sandbox, SandboxStatus

if TYPE_CHECKING:
    import gymnasium


class Host:
    """One trusted process's environments and sandbox: what a worker is made of.

    Args:
        settings: The task and the limits.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.sandbox = Sandbox(settings.limits, allow_weaker=settings.allow_weaker)
        self._envs: list[gymnasium.Env[Any, Any]] = []

    def envs(self, n: int) -> Sequence[gymnasium.Env[Any, Any]]:
        """`n` environments, built once and kept."""
        from promptpo.spec.environments import make_env

        while len(self._envs) < n:
            self._envs.append(make_env(self.settings.task))
        return self._envs[:n]

    def answer(self, work: Work) -> Rollout | CallResult | SandboxStatus:
        """Do one piece of work: a job, a call, or (None) tell the sandbox's status.

        Raises:
            EnvironmentFaultError: The environment raised.
        """
        if work is None:
            return self.sandbox.status
        if isinstance(work, Call):
            return self.sandbox.call(work.source, work.target, work.argument)
        return self.run(work)

    def run(self, job: Job) -> Rollout:
        """Roll out one job in this process.

        Raises:
            EnvironmentFaultError: The environment raised.
        """
        envs = self.envs(min(self.settings.lanes, max(1, len(job.trials))))
        try:
            return self.sandbox.rollout(
                job.source,
                envs,
                job.trials,
                record=job.record,
                clip_actions=self.settings.clip_actions,
                stop_on_failure=job.stop_on_failure,
                on_step_limit=job.step_limit,
            )
        except PromptPOError:
            raise
        except Exception as error:  # the environment's own code: anything can come out of it
            self._envs.clear()
            name = self.settings.task.env_id
            raise EnvironmentFaultError(
                f"the environment {name} raised {type(error).__name__}: {error}"
            ) from error

    def close(self) -> None:
        """Close environments and sandbox."""
        self.sandbox.close()
        for env in self._envs:
            with contextlib.suppress(Exception):  # a broken environment may not even close
                env.close()
