"""Helpers that drive the tuner without environments: returns are functions of parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from promptpo.features.tuning.batches import Batch, Start
from promptpo.features.tuning.outcome import TuningResult
from promptpo.features.tuning.tuning import Tuning
from promptpo_sandbox import Episode, Failure, Rollout, Trial

Return = Callable[[Trial], float]


def episode(
    trial: Trial, return_: float, steps: int, *, terminated: bool = False, success: bool | None = None
) -> Episode:
    """Return a finished episode; a NaN return stands for a failure."""
    failure = Failure("crashed", "the policy crashed") if math.isnan(return_) else None
    return Episode(
        seed=trial.seed,
        return_=return_,
        steps=steps,
        terminated=terminated,
        truncated=not terminated,
        success=success,
        clipped=0,
        policy_seconds=0.0,
        failure=failure,
    )


def fake_rollout(
    job: Batch,
    return_of: Return,
    length: int,
    *,
    terminated: bool = False,
    success: Callable[[Trial], bool | None] = lambda _: None,
) -> Rollout:
    """Return a rollout of a job whose returns are a function of its trials."""
    episodes = tuple(
        episode(
            trial,
            return_of(trial),
            min(length, trial.horizon or length),
            terminated=terminated,
            success=success(trial),
        )
        for trial in job.trials
    )
    failed = [e.failure for e in episodes if e.failure]
    return Rollout(episodes, failed[0] if failed else None, sum(e.steps for e in episodes), "", 0.0)


def run_tuner(
    starts: Sequence[Start],
    return_of: Return,
    *,
    length: int = 10,
    terminated: bool = False,
    **options: object,
) -> tuple[tuple[TuningResult, ...], list[Batch]]:
    """Drive a `Tuning` to its end; return its results and all requested batches."""
    settings = {"steps": 20_000, "horizon": length, "seed": 0, "seeds": _seeds, **options}
    tuning = Tuning(starts, **settings)
    jobs: list[Batch] = []
    while tuning.batches:
        jobs += tuning.batches
        tuning.step([fake_rollout(job, return_of, length, terminated=terminated) for job in tuning.batches])
    return tuning.result(), jobs


def _seeds(start: int, n: int) -> tuple[int, ...]:
    return tuple(range(start, start + n))
