"""Recorded episodes of a policy, with all observations and actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from promptpo.envs.family import longest
from promptpo.envs.pictures import pictures_in
from promptpo.envs.task import Task
from promptpo.program import Program
from promptpo.rollouts import Job, Settings
from promptpo.rollouts.host import Host
from promptpo.run.episodes import UNBOUNDED_HORIZON

if TYPE_CHECKING:
    from promptpo_sandbox import Episode, Record, Rollout, Trajectory


def record(
    task: Task,
    source: str,
    seeds: Sequence[int],
    *,
    horizon: int | None = None,
    clip_actions: bool = True,
    allow_weaker: bool = False,
) -> Rollout:
    """Run a policy in the sandbox and keep the trajectories; instead of images, what the policy perceived in them.

    Args:
        task: The environment.
        source: The policy module.
        seeds: One for each episode.
        horizon: Maximum number of steps; None means the environment's.
        clip_actions: Clip continuous actions to their bounds.
        allow_weaker: Accept a machine that lacks sandbox layers.

    Raises:
        EnvironmentFaultError: The environment failed.
    """
    from promptpo_sandbox import Limits, Trial

    params = Program.from_source(source).values
    host = Host(Settings(task, Limits(), allow_weaker, clip_actions))
    try:
        env = host.envs(1)[0]
        steps = horizon or longest(env) or UNBOUNDED_HORIZON
        kept: Record = "seen" if pictures_in(env.observation_space) else True
        return host.run(Job(source, tuple(Trial(seed, params, steps) for seed in seeds), record=kept))
    finally:
        host.close()


def trajectory_of(episode: Episode) -> Trajectory:
    """Return the trajectory of a recorded episode.

    Raises:
        ValueError: It was not recorded.
    """
    if episode.trajectory is None:
        raise ValueError("the episode was rolled out without record=True")
    return episode.trajectory
