"""Inputs and outputs of the sandbox: plain frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from promptpo_sandbox.text import clean

FailureKind: TypeAlias = Literal["rejected", "crashed", "timeout", "memory", "invalid_action"]
Level: TypeAlias = Literal["strong", "medium", "weak"]

Record: TypeAlias = bool | Literal["seen", "info"]
"""Whether to keep trajectories; "seen" replaces observations with what ``perceive`` returned, "info" adds the numeric
entries of the environment's ``info``."""

PlainData: TypeAlias = Any
"""None, bool, int, float, str, bytes, numeric numpy arrays, and lists, tuples and dicts of them."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Resource limits of untrusted code.

    Seconds are CPU time of the code's process where the system reports it, so that a busy machine causes no failure; a
    process that waits instead of working is ended after `wall_factor` times as many seconds of wall time.

    Attributes:
        step_seconds: One call of ``act``.
        episode_seconds: Total policy time of one episode, construction included.
        construct_seconds: Checking and compiling the source, or building one policy.
        call_seconds: One `Sandbox.call`.
        wall_factor: Maximum ratio of wall time to CPU time.
        memory_bytes: Address space beyond that of the interpreter and numpy.
        output_bytes: Captured prints of one episode, and of one rollout.
        source_bytes: Length of the source in UTF-8.
        text_bytes: The text that one `Sandbox.call` returns, in UTF-8.
        message_bytes: One message from the guest.
        cpu_seconds: CPU time of one guest; a last resort behind the deadlines.
    """

    step_seconds: float = 1.0
    episode_seconds: float = 60.0
    construct_seconds: float = 10.0
    call_seconds: float = 10.0
    wall_factor: float = 10.0
    memory_bytes: int = 512 * 1024 * 1024
    output_bytes: int = 64 * 1024
    source_bytes: int = 100_000
    text_bytes: int = 64 * 1024
    message_bytes: int = 16 * 1024 * 1024
    cpu_seconds: int = 7200


@dataclass(frozen=True, slots=True)
class Layers:
    """Layers of protection to apply: all of them, except in tests that show what each one does.

    Attributes:
        gate: The check of the syntax tree, with restricted builtins and modules.
        environment: The guest's environment variables are empty.
        descriptors: The guest has no open files but its two pipes and ``/dev/null``.
        session: Own session and process group.
        directory: The current directory (for root also the root directory) is an empty one.
        rlimits: Address space, CPU time, file size, open files, processes, core dumps.
        user: For root only: an unprivileged user without groups.
        parent_death: The guest dies with its parent and cannot be inspected by its peers.
        no_new_privileges: No program gains rights by being executed.
        landlock: No file-system access, no TCP, no signals to other processes.
        seccomp: Only the few system calls that computing needs.
    """

    gate: bool = True
    environment: bool = True
    descriptors: bool = True
    session: bool = True
    directory: bool = True
    rlimits: bool = True
    user: bool = True
    parent_death: bool = True
    no_new_privileges: bool = True
    landlock: bool = True
    seccomp: bool = True


@dataclass(frozen=True, slots=True)
class SandboxStatus:
    """The layers of protection in force on this machine.

    Attributes:
        level: "strong": system-call filter and file-system rules, and for root another user; "medium": the
            filter without one of the others; "weak": less.
        active: Names of the layers in force (see `Layers`).
        missing: "name: reason" for those that this system lacks or that were switched off.
    """

    level: Level
    active: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trial:
    """One episode to run.

    Attributes:
        seed: For ``env.reset(seed=seed)``; the policy's own random numbers derive from it.
        params: Passed to ``Policy(params)``; names of elements (``W[0,1]``) are assembled into arrays.
        horizon: The episode is truncated after this many steps.
    """

    seed: int
    params: Mapping[str, float] | None = None
    horizon: int | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """A policy's failure.

    Attributes:
        kind: Kind of failure.
        message: One sentence for a language model and for people.
        detail: The traceback, cut to the policy's own lines, or a sample of what the policy saw and returned.
        seed: Seed of the episode in which it happened.
        step: Index of the ``act`` call in which it happened; None for construction and the gate.

    Its texts may contain what untrusted code wrote, so they are passed through `clean`.
    """

    kind: FailureKind
    message: str
    detail: str = ""
    seed: int | None = None
    step: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", clean(self.message))
        object.__setattr__(self, "detail", clean(self.detail))


@dataclass(frozen=True, slots=True)
class Trajectory:
    """Record of one episode of T steps.

    Attributes:
        observations: T + 1 observations, the final one included; or, if requested, T dicts that ``perceive`` last
            returned before each action, empty where it returned none.
        actions: T actions, as passed to the environment.
        rewards: T rewards.
        debug: T dicts of what the policy kept in ``self.debug``, a few numbers and short texts by name; empty if it
            never kept any.
        infos: T dicts of the numeric entries of the environment's ``info``; empty unless requested.
    """

    observations: Sequence[Any]
    actions: Sequence[Any]
    rewards: Sequence[float]
    debug: Sequence[Mapping[str, Any]] = ()
    infos: Sequence[Mapping[str, float]] = ()

    @property
    def perceived(self) -> bool:
        """Whether its observations are what ``perceive`` returned."""
        return len(self.observations) == len(self.rewards) > 0


@dataclass(frozen=True, slots=True)
class Episode:
    """Result of one trial.

    Attributes:
        seed: Seed of the trial.
        return_: Sum of rewards; of the steps up to the failure, if there was one.
        steps: Environment steps.
        terminated: Whether the environment ended it.
        truncated: Whether a time limit (the environment's or the trial's) ended it.
        success: Whether any step's info reported ``success`` or ``is_success``, or whether the reward program, if any,
            reported success at the end; None if neither said.
        clipped: Actions that were clipped into the bounds.
        policy_seconds: Wall time of the policy, shared out evenly among episodes in lockstep.
        trajectory: Only if requested.
        failure: Why it ended early, if it did.
        env_return: Sum of the environment's own rewards if a reward program replaces them; None otherwise.
        parts: Sum of each part of the reward that the reward program reports, by name.
        extremes: The least and the greatest reward of a step; empty if no step had a finite one.
    """

    seed: int
    return_: float
    steps: int
    terminated: bool
    truncated: bool
    success: bool | None
    clipped: int
    policy_seconds: float
    trajectory: Trajectory | None = None
    failure: Failure | None = None
    env_return: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    extremes: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Rollout:
    """Result of rolling out one source.

    Attributes:
        episodes: In the order of the trials; those that were cancelled or ran out of budget are left out.
        failure: Failure of the first failing trial in order, or of the source as a whole.
        steps: Every environment step taken, those of failed, cancelled and repeated episodes included.
        output: Output of the policies, in the order of the trials, capped.
        policy_seconds: Wall time spent waiting for the policies.
        guest_cpu_seconds: CPU time of the guests.
        unfinished: Indices of the trials without an episode.
    """

    episodes: tuple[Episode, ...]
    failure: Failure | None
    steps: int
    output: str
    policy_seconds: float
    guest_cpu_seconds: float = 0.0
    unfinished: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CallResult:
    """Result of one call: text, or a failure."""

    value: str | None
    failure: Failure | None
    output: str = ""


def unstarted_episode(trial: Trial, failure: Failure) -> Episode:
    """Return the episode of a trial whose policy failed before its first step."""
    return Episode(
        trial.seed, 0.0, 0, terminated=False, truncated=False, success=None, clipped=0, policy_seconds=0.0,
        failure=failure,
    )  # fmt: skip
