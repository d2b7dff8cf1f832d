"""Runs policies that nobody trusts: in confined processes, many episodes in lockstep, at nearly full speed.

::

    from sandbox import Sandbox, Trial

    with Sandbox() as box:
        rollout = box.rollout(source, envs, [Trial(seed) for seed in range(10)])
"""

from sandbox.box import Sandbox, check_source
from sandbox.errors import SandboxBrokenError, SandboxError, SandboxUnavailableError, UnsupportedSpaceError
from sandbox.results import (
    CallResult,
    Episode,
    Failure,
    FailureKind,
    Layers,
    Limits,
    PlainData,
    Rollout,
    SandboxStatus,
    Trajectory,
    Trial,
)

__all__ = [
    "CallResult",
    "Episode",
    "Failure",
    "FailureKind",
    "Layers",
    "Limits",
    "PlainData",
    "Rollout",
    "Sandbox",
    "SandboxBrokenError",
    "SandboxError",
    "SandboxStatus",
    "SandboxUnavailableError",
    "Trajectory",
    "Trial",
    "UnsupportedSpaceError",
    "check_source",
]
