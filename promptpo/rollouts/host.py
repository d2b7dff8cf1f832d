"""The environments and the sandbox of a worker, in one trusted process."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import gymnasium

from promptpo.envs.contract import ContractEnv, blaming
from promptpo.errors import (
    EnvironmentFaultError,
    PromptPOError,
    RewardFaultError,
    SandboxFaultError,
    UnsupportedSpaceError,
)
from promptpo.rollouts.jobs import Call, Job, SandboxWork, Settings, Work, adopt_all
from promptpo_sandbox import (
    RewardFailedError,
    Rollout,
    Sandbox,
    SandboxError,
    SandboxUnavailableError,
)
from promptpo_sandbox.errors import SpaceBorderError


class Pulse:
    """Tells another process whether the environment's code is running, and how long ago that last changed.

    Args:
        number: Object with an integer ``value`` shared with the watcher: 0 until the host is ready, odd while the environment's
            code runs, and different after each start or end.
    """

    def __init__(self, number: Any) -> None:
        self.number = number

    def rest(self) -> None:
        """Report that the environment's code is not running, whatever was reported before."""
        self.number.value += 2 - self.number.value % 2

    def __enter__(self) -> None:
        self.number.value += 1

    def __exit__(self, *error: object) -> None:
        self.number.value += 1


class PulsedEnv(ContractEnv):
    """Reports to a pulse when the environment's code runs, and checks its results; otherwise changes nothing.

    Args:
        env: The environment.
        pulse: The pulse.
        name: Name of the environment.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], pulse: Pulse, name: str) -> None:
        super().__init__(env, name)
        self._number = pulse.number

    def step(self, action: Any) -> Any:
        """Step; inlines `Pulse` for speed, as it runs every step."""
        number, action = self._number, self._as_sampled(action)
        number.value = before = number.value + 1
        result = self.env.step(action)
        number.value = before + 1
        return self.check_step(result)

    def reset(self, **how: Any) -> Any:
        """Reset; as in `step`, an exception leaves the number odd, which marks the environment's code as running."""
        self._number.value += 1
        result = self.env.reset(**how)
        self._number.value += 1
        return self.check_reset(result)


class Host:
    """The environments and the sandbox of a worker, in one trusted process.

    Args:
        settings: The task and the limits.
        pulse: Reports to the process that watches for hangs.
    """

    def __init__(self, settings: Settings, pulse: Pulse | None = None) -> None:
        self.settings = settings
        self._pulse = pulse
        adopt_all(settings.registration)
        self.sandbox = Sandbox(settings.limits, allow_weaker=settings.allow_weaker)
        self._envs: list[gymnasium.Env[Any, Any]] = []
        if pulse is not None:
            pulse.rest()

    def envs(self, n: int) -> Sequence[gymnasium.Env[Any, Any]]:
        """Return `n` environments, built once and kept."""
        from promptpo.envs.building import make_env

        while len(self._envs) < n:
            with contextlib.nullcontext() if self._pulse is None else self._pulse:
                env = make_env(self.settings.task)
            name = self.settings.task.name
            self._envs.append(
                ContractEnv(env, name) if self._pulse is None else PulsedEnv(env, self._pulse, name)
            )
        return self._envs[:n]

    def answer(self, work: Work[Any]) -> Any:
        """Do a piece of work.

        Raises:
            SimulatorFailedError: A simulator failed.
            EnvironmentFaultError: The environment raised.
            RewardFaultError: The reward program failed.
            SandboxFaultError: Policies cannot be confined here.
            UnsupportedSpaceError: Observations or actions cannot be handed to a policy.
        """
        try:
            if isinstance(work, Job):
                return self.run(work)
            if isinstance(work, Call):
                return self.sandbox.call(work.source, work.target, work.argument)
            return work.run(self.sandbox) if isinstance(work, SandboxWork) else self.sandbox.status
        except SandboxUnavailableError as error:
            raise SandboxFaultError(f"{error}; --allow-weaker-sandbox accepts it.") from error
        except SpaceBorderError as error:
            raise UnsupportedSpaceError(f"{error}.") from error
        except SandboxError as error:
            raise SandboxFaultError(str(error)) from error

    def run(self, job: Job) -> Rollout:
        """Roll out one job in this process.

        Raises:
            EnvironmentFaultError: The environment raised.
            RewardFaultError: The reward program failed.
        """
        own = self.settings.task.reward
        lanes = 1 if job.apart else self.settings.lanes
        envs = self.envs(min(lanes, max(1, len(job.trials))))
        try:
            return self.sandbox.rollout(
                job.source,
                envs,
                job.trials,
                record=job.record,
                clip_actions=self.settings.clip_actions,
                stop_on_failure=job.stop_on_failure,
                on_step_limit=job.step_limit,
                reward=job.reward or (own.source if own else ""),
                apart=job.apart,
            )
        except EnvironmentFaultError:
            self._close_environments()
            raise
        except RewardFailedError as error:
            from promptpo.envs.rewarded import reward_fault

            raise RewardFaultError(reward_fault(error, own)) from error
        except (PromptPOError, SandboxError):
            raise
        except (Exception, SystemExit):  # from the environment's own code, which may raise anything
            self._close_environments()
            if self._pulse is None or not self._pulse.number.value % 2:
                raise  # the environment's code was not running
            self._pulse.rest()
            with blaming(f"the environment {self.settings.task.name}"):
                raise

    def _close_environments(self) -> None:
        while self._envs:
            self._envs.pop().close()

    def close(self) -> None:
        """Close environments and sandbox."""
        self._close_environments()
        self.sandbox.close()
