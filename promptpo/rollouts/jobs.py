"""Rollout jobs, and the protocol of the executors that run them."""

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
    """One policy source and the episodes to play with it.

    Attributes:
        source: The policy module.
        trials: Seeds, parameter values and horizons.
        record: Whether to return trajectories, and with which observations; see `promptpo_sandbox.Record`.
        stop_on_failure: Whether the first failing episode ends the job (a candidate's evaluation) or only itself (tuning).
        step_limit: Maximum number of environment steps in total.
        reward: A reward program that replaces the task's; empty for the task's, if it has one.
        apart: Whether each episode gets its own guest, as in evaluations that count.
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
    """One call of a method of an untrusted class other than a policy, such as the feedback class."""

    source: str
    target: str
    argument: Any


class Status(Work[SandboxStatus]):
    """Query for the sandbox layers that are active where jobs run."""


class SandboxWork(Work[Any], ABC):
    """Work with guests of its own; its fields determine its result, which is plain data."""

    @abstractmethod
    def run(self, sandbox: Sandbox) -> Any:
        """Do the work in the worker's process, besides its own sandbox."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings passed to each worker once.

    Attributes:
        task: The environment to build.
        limits: Limits of the sandbox.
        allow_weaker: Whether to accept missing sandbox layers.
        clip_actions: Whether to clip continuous actions to their bounds.
        lanes: Number of episodes in lockstep.
        env_timeout: Seconds after which a step, a reset or the construction of the environment counts as hung; policies
            have separate limits.
        registration: Pickled registry entries of environments registered in this process, so that workers find
            environments defined in scripts and notebooks; see `registrations`.
    """

    task: Task
    limits: Limits
    allow_weaker: bool = False
    clip_actions: bool = True
    lanes: int = LANES
    env_timeout: float = 60.0
    registration: bytes | None = None


class Executor(Protocol):
    """Runs jobs and other work on policies and simulators; several pieces may be in flight.

    Attributes:
        jobs: Number of pieces of work that run concurrently.
    """

    jobs: int

    async def run(self, work: Work[T]) -> T:
        """Do a piece of work; only jobs step the environment. Cancelling ends the work where it runs and frees its worker.

        Raises:
            EnvironmentFaultError: The environment raised, hung, or crashed its process repeatedly.
            RewardFaultError: The reward program failed.
            WorkerLostError: The executor was closed before or during the work.
            SimulatorFailedError: A simulator failed, or a policy hung in it.
        """
        ...

    def close(self) -> None:
        """Stop the workers; calling it again is harmless."""
        ...


def with_registration(settings: Settings) -> Settings:
    """Return the settings with this process's registry entries for the task's environments."""
    return replace(settings, registration=registrations(settings.task))


def registrations(task: Task) -> bytes | None:
    """Return pickled registry entries of a task's environments, for another process; None if there are none.

    cloudpickle includes classes of scripts and notebooks by value. The data goes only from this process to its own workers;
    data from a policy's process is never unpickled.
    """
    import cloudpickle
    import gymnasium

    ids = dict.fromkeys(single.env_id for single in task.singles())
    entries = [gymnasium.registry[env_id] for env_id in ids if env_id in gymnasium.registry]
    if not entries:
        return None
    try:
        pickled: bytes = cloudpickle.dumps(entries)
    except Exception:  # noqa: BLE001 - the other process looks up by name entries that cannot be pickled
        return None
    return pickled


def adopt_all(registration: bytes | None) -> None:
    """Register the entries that `registrations` returned in another process."""
    if registration is not None:
        import cloudpickle

        from promptpo.envs.building import adopt

        for entry in cloudpickle.loads(registration):
            adopt(entry)
