"""Run untrusted policies in confined processes, many episodes in lockstep, at nearly full speed.

::

    from promptpo_sandbox import Sandbox, Trial

    with Sandbox() as box:
        rollout = box.rollout(source, envs, [Trial(seed) for seed in range(10)])
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from promptpo_sandbox.box import Sandbox
    from promptpo_sandbox.errors import (
        SandboxBrokenError,
        SandboxError,
        SandboxUnavailableError,
        UnsupportedSpaceError,
    )
    from promptpo_sandbox.reader import check_source
    from promptpo_sandbox.results import (
        CallResult,
        Episode,
        Failure,
        FailureKind,
        Layers,
        Limits,
        PlainData,
        Record,
        Rollout,
        SandboxStatus,
        Trajectory,
        Trial,
    )
    from promptpo_sandbox.rewards import RewardFailedError
    from promptpo_sandbox.simulators import Recorded, SimulatorFailedError

__all__ = [
    "CallResult",
    "Episode",
    "Failure",
    "FailureKind",
    "Layers",
    "Limits",
    "PlainData",
    "Record",
    "Recorded",
    "RewardFailedError",
    "Rollout",
    "Sandbox",
    "SandboxBrokenError",
    "SandboxError",
    "SandboxStatus",
    "SandboxUnavailableError",
    "SimulatorFailedError",
    "Trajectory",
    "Trial",
    "UnsupportedSpaceError",
    "check_source",
]

_HOMES = {
    "box": ("Sandbox",),
    "reader": ("check_source",),
    "rewards": ("RewardFailedError",),
    "simulators": ("Recorded", "SimulatorFailedError"),
    "errors": tuple(n for n in __all__ if n.endswith("Error") and not n.endswith("FailedError")),
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that `promptpo_sandbox.text`, say, needs neither numpy nor gymnasium."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"promptpo_sandbox.{_MODULES.get(name, 'results')}"), name)
