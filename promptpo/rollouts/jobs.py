"""Rollout jobs, and the protocol of executors that run them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from promptpo.envs.task import Task
from promptpo_sandbox import (
    CallResult,
    Limits,
    Record,
    Rollout,
    SandboxStatus,
    Trial,
)

if TYPE_CHECKING:
    from promptpo_sandbox import Sandbox

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

LANES = 16
"""Episodes that one guest advances in lockstep; 8 to 32 run at nearly the speed of plain Python."""


class Work(Generic[T_co]):
    """A piece of work for a worker, and the type of its result."""


@dataclass(frozen=True, slots=True)
class Job(Work[Rollout]):
    """One source and the episodes to roll it out for.

    Attributes:
        source: The policy module.
        trials: Seeds, parameter values and horizons.
        record: Whether to bring trajectories back, and with which observations; see `promptpo_sandbox.Record`.
        stop_on_failure: Whether the first failing episode ends the job (a candidate's evaluation) or
            only itself (tuning).
        step_limit: Environment steps that the job may take in all.
        reward: A reward program to use instead of the task's; empty for the task's, if it has one.
        apart: Whether each episode has a guest of its own: where the numbers count.
    """

    source: str
    trials: tuple[Trial, ...]
    record: Record = False
    stop_on_failure: bool = True
    step_limit: int | None = None
    reward: str = ""
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Call(Work[CallResult]):
    """One call of a method of an untrusted class that is no policy, such as the feedback class."""

    source: str
    target: str
    argument: Any


class Status(Work[SandboxStatus]):
    """Which sandbox layers are active where jobs run."""


class SandboxWork(Work[Any], ABC):
    """Work that holds guests of its own for as long as it takes; its fields decide its result, which is plain data."""

    @abstractmethod
    def run(self, sandbox: Sandbox) -> Any:
        """Do it in the worker's process, beside its sandbox."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings that a worker gets once.

    Attributes:
        task: The environment to build.
        limits: Of the sandbox.
        allow_weaker: Accept missing sandbox layers.
        clip_actions: Clip continuous actions into their bounds.
        lanes: Episodes in lockstep.
        env_timeout: Seconds that one step of the environment (or its reset, or building it) may take, after
            which it counts as hung; what policies do has limits of its own, however long those take.
        registration: The pickled registry entries of environments that were registered in this process,
            so that workers find environments of scripts and notebooks; see `registrations`.
    """

    task: Task
    limits: Limits
    allow_weaker: bool = False
    clip_actions: bool = True
    lanes: int = LANES
    env_timeout: float = 60.0
    registration: bytes | None = None


class Executor(Protocol):
    """Runs jobs, and all else that policies and simulators are asked for, somewhere; several may be in flight.

    Attributes:
        jobs: How many run at the same time.
    """

    jobs: int

    async def run(self, work: Work[T]) -> T:
        """Do one piece of work; only jobs take the environment's steps. Cancelling this ends it where it runs, and frees its worker.

        Raises:
            EnvironmentFaultError: The environment raised, hung, or took its process down repeatedly.
            RewardFaultError: The reward program failed.
            WorkerLostError: The executor is closed, or was while this ran.
            SimulatorFailedError: A simulator failed, not a policy.
        """
        ...

    def close(self) -> None:
        """Stop the workers; calling it twice is harmless."""
        ...


def with_registration(settings: Settings) -> Settings:
    """The settings, with the environments' registry entries of this process where it has them."""
    return replace(settings, registration=registrations(settings.task))


def registrations(task: Task) -> bytes | None:
    """The registry entries of a task's environments in this process, for another one; None where there are none.

    cloudpickle takes classes of a script or notebook along by value. This goes from us to our own
    workers; nothing that a policy's process sends is ever unpickled.
    """
    import cloudpickle
    import gymnasium

    ids = dict.fromkeys(single.env_id for single in task.singles())
    entries = [gymnasium.registry[env_id] for env_id in ids if env_id in gymnasium.registry]
    if not entries:
        return None
    try:
        pickled: bytes = cloudpickle.dumps(entries)
    except Exception:  # noqa: BLE001 - entries that cannot travel are looked up by name over there
        return None
    return pickled


def adopt_all(registration: bytes | None) -> None:
    """Register what `registrations` gave in another process."""
    if registration is not None:
        import cloudpickle

        from promptpo.envs.building import adopt

        for entry in cloudpickle.loads(registration):
            adopt(entry)
