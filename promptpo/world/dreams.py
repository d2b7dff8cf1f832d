"""Rollouts in a world model behind the executor's protocol: what tunes and screens in the environment does so here."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from promptpo.rollouts import Job
from promptpo.rollouts.results import joined
from sandbox import Imagine, Rollout

if TYPE_CHECKING:
    import gymnasium

    from promptpo.rollouts import Executor

STEPS_AT_ONCE = 40_000
"""Steps, in the worst case, that one request asks for: far less than the deadline of a call allows."""


@dataclass(frozen=True, slots=True)
class Dream:
    """A world model that policies may act in.

    Attributes:
        source: The module.
        params: Values of its ``PARAMS``; None where it declares none.
        starts: Observations to start from.
        spaces: Of observations and actions.
    """

    source: str
    params: Mapping[str, float] | None
    starts: tuple[Any, ...]
    spaces: tuple[gymnasium.Space[Any], gymnasium.Space[Any]]


async def dreamt(executor: Executor, dream: Dream, jobs: Sequence[Job]) -> list[Rollout]:
    """Roll jobs out in a world model; no environment takes a step.

    Raises:
        WorldFailedError: The world failed.
    """
    return list(await asyncio.gather(*(_dreamt(executor, dream, job) for job in jobs)))


async def _dreamt(executor: Executor, dream: Dream, job: Job) -> Rollout:
    longest = max((trial.horizon or 1 for trial in job.trials), default=1)
    size = max(1, STEPS_AT_ONCE // longest)
    found: Rollout | None = None
    for first in range(0, len(job.trials), size):
        rollout = await executor.imagine(
            Imagine(
                dream.source,
                dream.params,
                job.source,
                job.trials[first : first + size],
                dream.starts,
                *dream.spaces,
                bool(job.record),
            )
        )
        found = rollout if found is None else joined(found, rollout)
    return found or Rollout((), None, 0, "", 0.0)
