"""One trusted process's environments and sandbox: what every worker is made of."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import cloudpickle
import gymnasium

from promptpo.errors import EnvironmentFaultError, PromptPOError, SandboxFaultError, place_of
from promptpo.rollouts.jobs import Call, Job, Settings, Work
from sandbox import CallResult, Rollout, Sandbox, SandboxError, SandboxStatus, SandboxUnavailableError


class Pulse(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Counts steps where another process can see them; nothing else changes.

    Args:
        env: The environment.
        pulse: Something with a number as ``value``.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], pulse: Any) -> None:
        super().__init__(env)
        self._pulse = pulse

    def step(self, action: Any) -> Any:
        """Step, and count it."""
        self._pulse.value += 1
        return self.env.step(action)


class Host:
    """One trusted process's environments and sandbox: what a worker is made of.

    Args:
        settings: The task and the limits.
        pulse: Its ``value`` is counted up at every environment step, for whoever watches over a hang.
    """

    def __init__(self, settings: Settings, pulse: Any = None) -> None:
        self.settings = settings
        self._pulse = pulse
        if settings.registration is not None:
            from promptpo.envs.building import adopt

            adopt(cloudpickle.loads(settings.registration))
        self.sandbox = Sandbox(settings.limits, allow_weaker=settings.allow_weaker)
        self._envs: list[gymnasium.Env[Any, Any]] = []

    def envs(self, n: int) -> Sequence[gymnasium.Env[Any, Any]]:
        """`n` environments, built once and kept."""
        from promptpo.envs.building import make_env

        while len(self._envs) < n:
            env = make_env(self.settings.task)
            self._envs.append(env if self._pulse is None else Pulse(env, self._pulse))
        return self._envs[:n]

    def answer(self, work: Work) -> Rollout | CallResult | SandboxStatus:
        """Do one piece of work: a job, a call, or (None) tell the sandbox's status.

        Raises:
            EnvironmentFaultError: The environment raised.
            SandboxFaultError: Policies cannot be confined here.
        """
        try:
            if work is None:
                return self.sandbox.status
            if isinstance(work, Call):
                return self.sandbox.call(work.source, work.target, work.argument)
            return self.run(work)
        except SandboxUnavailableError as error:
            raise SandboxFaultError(f"{error}; --allow-weaker-sandbox accepts it.") from error
        except SandboxError as error:
            raise SandboxFaultError(str(error)) from error

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
        except (PromptPOError, SandboxError):
            raise
        except Exception as error:  # the environment's own code: anything can come out of it
            self._envs.clear()
            name = self.settings.task.env_id
            raise EnvironmentFaultError(
                f"the environment {name} raised {type(error).__name__}: {error}{place_of(error)}"
            ) from error

    def close(self) -> None:
        """Close environments and sandbox."""
        self.sandbox.close()
        for env in self._envs:
            with contextlib.suppress(Exception):  # a broken environment may not even close
                env.close()
