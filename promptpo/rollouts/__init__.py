"""Rollouts in host processes, each with its own environments and sandbox.

The main process steps an environment only to describe it, and never runs a policy. It passes a `Job` to an `Executor`
and gets a `Rollout` back; a lost worker costs a repeated rollout, never a run.
"""

from typing import Literal

from promptpo.rollouts.jobs import Call, Executor, Job, Settings
from promptpo.rollouts.results import evaluation_of, join_rollouts, roll_out

__all__ = [
    "Call",
    "Executor",
    "Job",
    "Settings",
    "evaluation_of",
    "join_rollouts",
    "make_executor",
    "roll_out",
]


def make_executor(kind: Literal["local", "ray"], settings: Settings, jobs: int = 0) -> Executor:
    """Return the executor for ``--executor``; a Ray cluster's address comes from RAY_ADDRESS.

    Raises:
        MissingExtraError: Ray is not installed.
    """
    if kind == "local":
        from promptpo.rollouts.local import LocalExecutor

        return LocalExecutor(settings, jobs)
    from promptpo.rollouts.ray_cluster import RayExecutor

    return RayExecutor(settings, jobs)
