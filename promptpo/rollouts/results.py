"""Rollouts spread over workers, and their conversion to records."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence, Sized
from dataclasses import replace

from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.rollouts.jobs import Executor, Job
from promptpo_sandbox import Episode, Limits, Rollout

MIN_CHUNK = 8
"""Minimum number of episodes per worker when a job is split: lockstep needs several to be fast."""

MAX_OUTPUT = Limits().output_bytes
"""Maximum number of characters of captured prints in a rollout, over all workers."""


async def roll_out(
    executor: Executor, jobs: Sequence[Job], done: list[Rollout] | None = None
) -> list[Rollout]:
    """Roll out jobs concurrently, each spread over the executor's workers if it is large enough.

    The results equal those of a single worker, bit for bit, since episodes are independent. Cancelling this cancels all jobs.

    Args:
        executor: Runs the jobs.
        jobs: The jobs.
        done: Collects the rollouts that ended, even if others fail.

    Raises:
        EnvironmentFaultError: The environment raised, hung, or crashed its process repeatedly.
    """
    chunks = [_chunks(job, executor.jobs) for job in jobs]
    tasks = [[asyncio.ensure_future(executor.run(chunk)) for chunk in of_job] for of_job in chunks]
    every = [task for of_job in tasks for task in of_job]
    try:
        await asyncio.gather(*every)
    finally:
        if done is not None:
            done += [t.result() for t in every if t.done() and not t.cancelled() and t.exception() is None]
        for task in every:  # useless if another failed
            task.cancel()
        await asyncio.gather(*every, return_exceptions=True)
    return [
        _join_chunks(
            [task.result() for task in of_job],
            [chunk.trials for chunk in parts],
            stop_on_failure=job.stop_on_failure,
        )
        for job, parts, of_job in zip(jobs, chunks, tasks, strict=True)
    ]


def _chunks(job: Job, workers: int) -> list[Job]:
    """Split a job into consecutive ones, each large enough for a worker."""
    parts = min(workers, len(job.trials) // MIN_CHUNK)
    if parts < 2 or job.step_limit is not None:  # noqa: PLR2004
        return [job]
    size = -(-len(job.trials) // parts)
    return [replace(job, trials=job.trials[i : i + size]) for i in range(0, len(job.trials), size)]


def _join_chunks(rollouts: Sequence[Rollout], chunks: Sequence[Sized], *, stop_on_failure: bool) -> Rollout:
    """Join the rollouts of consecutive chunks into the one that a single worker would have returned."""
    failed = [index for index, rollout in enumerate(rollouts) if rollout.failure is not None]
    counted = rollouts[: failed[0] + 1] if failed and stop_on_failure else rollouts
    unfinished: list[int] = []
    first = 0
    for index, chunk in enumerate(chunks):
        left_out = rollouts[index].unfinished if index < len(counted) else range(len(chunk))
        unfinished += [first + position for position in left_out]
        first += len(chunk)
    return Rollout(
        episodes=tuple(episode for rollout in counted for episode in rollout.episodes),
        failure=rollouts[failed[0]].failure if failed else None,
        steps=sum(rollout.steps for rollout in rollouts),
        output="".join(rollout.output for rollout in counted)[:MAX_OUTPUT],
        policy_seconds=sum(rollout.policy_seconds for rollout in rollouts),
        guest_cpu_seconds=sum(rollout.guest_cpu_seconds for rollout in rollouts),
        unfinished=tuple(unfinished),
    )


def join_rollouts(first: Rollout, more: Rollout) -> Rollout:
    """Join two rollouts of the same source."""
    trials = [range(len(rollout.episodes) + len(rollout.unfinished)) for rollout in (first, more)]
    return _join_chunks([first, more], trials, stop_on_failure=False)


def evaluation_of(rollout: Rollout, seconds: float = 0.0) -> Evaluation:
    """Return the record of a rollout, without its trajectories."""
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
        policy_seconds=round(min(rollout.policy_seconds, rollout.guest_cpu_seconds or math.inf), 4),
        failed=failed,
    )


def record_of(episode: Episode) -> EpisodeRecord:
    """Return the record of an episode, without its trajectory."""
    return EpisodeRecord(
        seed=episode.seed,
        return_=episode.return_,
        steps=episode.steps,
        success=episode.success,
        terminated=episode.terminated,
        truncated=episode.truncated,
        clipped=episode.clipped,
        env_return=episode.env_return,
        parts=episode.parts,
        extremes=episode.extremes,
    )
