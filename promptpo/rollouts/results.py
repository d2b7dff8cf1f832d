"""Rollouts spread over workers, and rollouts as records."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.rollouts.jobs import Executor, Job
from sandbox import Episode, Rollout

MIN_CHUNK = 8
"""Episodes below which a job is not worth splitting: lockstep needs company to be fast."""


async def roll_out(executor: Executor, job: Job) -> Rollout:
    """Roll out one job, spread over the executor's workers where it is large enough.

    The result is that of a single worker, bit for bit: episodes do not know of each other.

    Raises:
        EnvironmentFaultError: The environment raised, hung, or took its process down repeatedly.
    """
    parts = min(executor.jobs, len(job.trials) // MIN_CHUNK)
    if parts < 2 or job.step_limit is not None:  # noqa: PLR2004
        return await executor.run(job)
    size = -(-len(job.trials) // parts)
    chunks = [job.trials[i : i + size] for i in range(0, len(job.trials), size)]
    rollouts = await asyncio.gather(*(executor.run(replace(job, trials=chunk)) for chunk in chunks))
    return _joined(rollouts, stop_on_failure=job.stop_on_failure)


def _joined(rollouts: Sequence[Rollout], *, stop_on_failure: bool) -> Rollout:
    """One rollout from the rollouts of consecutive chunks."""
    episodes: list[Episode] = []
    failure = None
    for rollout in rollouts:
        episodes.extend(rollout.episodes)
        failure = failure or rollout.failure
        if failure is not None and stop_on_failure:
            break
    return replace(
        rollouts[0],
        episodes=tuple(episodes),
        failure=failure,
        steps=sum(rollout.steps for rollout in rollouts),
        output="".join(rollout.output for rollout in rollouts),
        policy_seconds=sum(rollout.policy_seconds for rollout in rollouts),
    )


def joined(first: Rollout, more: Rollout) -> Rollout:
    """Two rollouts of the same source as one."""
    both = _joined([first, more], stop_on_failure=False)
    unfinished = tuple(len(first.episodes) + len(first.unfinished) + i for i in more.unfinished)
    return replace(both, unfinished=(*first.unfinished, *unfinished))


def evaluation_of(rollout: Rollout, seconds: float = 0.0) -> Evaluation:
    """The record of a rollout, without its trajectories."""
    failure = rollout.failure
    finished = [episode for episode in rollout.episodes if episode.failure is None]
    failed = len(rollout.episodes) - len(finished)
    return Evaluation(
        outcome="ok" if failure is None else failure.kind,
        episodes=tuple(record_of(episode) for episode in finished),
        steps=rollout.steps,
        error="" if failure is None else failure.message,
        detail="" if failure is None else failure.detail,
        failed_at=None if failure is None else (failure.seed, failure.step),
        output=rollout.output,
        seconds=round(seconds, 4),
        policy_seconds=round(rollout.policy_seconds, 4),
        failed=failed,
    )


def record_of(episode: Episode) -> EpisodeRecord:
    """The record of an episode, without its trajectory."""
    return EpisodeRecord(
        seed=episode.seed,
        return_=episode.return_,
        steps=episode.steps,
        success=episode.success,
        terminated=episode.terminated,
        truncated=episode.truncated,
        clipped=episode.clipped,
    )
