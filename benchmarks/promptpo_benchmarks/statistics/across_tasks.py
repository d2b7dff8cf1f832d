"""Comparison of two methods task by task, for few runs per task and many tasks.

The stratified bootstrap of `promptpo_benchmarks.statistics.bootstrap` resamples runs and keeps the tasks: with one run
of each it has nothing to resample. Here tasks are resampled, so that an interval covers other tasks of the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from promptpo_benchmarks.statistics.bootstrap import LEVEL, REPETITIONS, Estimated, Scores, iqm

Runs = Mapping[str, Sequence[float]]
"""Normalised score of each run, by task."""


def chance_of_improvement(runs: Runs, other: Runs) -> Estimated:
    """Return the probability that a run of one method beats a run of the other, on a task of this kind.

    Args:
        runs: Runs of one method.
        other: Runs of the other; only tasks that both have count.

    Raises:
        ValueError: They share no task.
    """
    return _over_tasks(
        [_wins(runs[task], other[task]) for task in common_tasks(runs, other)], lambda x: float(np.mean(x))
    )


def iqm_across(runs: Runs) -> Estimated:
    """Return the interquartile mean over tasks of the mean over runs.

    Raises:
        ValueError: There is no task.
    """
    return _over_tasks([float(np.mean(scores)) for scores in runs.values()], iqm)


def iqm_lead(runs: Runs, other: Runs) -> Estimated:
    """Return the difference of the interquartile means of two methods, with the same tasks drawn for both.

    Raises:
        ValueError: They share no task.
    """
    pairs = [(float(np.mean(runs[task])), float(np.mean(other[task]))) for task in common_tasks(runs, other)]
    return _over_tasks(pairs, lambda x: iqm(x[:, 0]) - iqm(x[:, 1]))


def mean_lead(differences: Runs) -> Estimated:
    """Return how far one version is above another: the mean over tasks of the mean over pairs of runs.

    Args:
        differences: Difference of each pair of runs, by task.

    Raises:
        ValueError: There is no task.
    """
    means = [float(np.mean(values)) for values in differences.values()]
    return _over_tasks(means, lambda x: float(np.mean(x)))


def common_tasks(runs: Runs, other: Runs) -> list[str]:
    """Return the tasks that both have."""
    return [task for task in runs if task in other]


def _wins(scores: Sequence[float], other: Sequence[float]) -> float:
    difference = np.subtract.outer(np.asarray(scores), np.asarray(other))
    return float(((difference > 0) + 0.5 * (difference == 0)).mean())


def _over_tasks(values: Sequence[object], statistic: Callable[[Scores], float]) -> Estimated:
    if not values:
        raise ValueError("there is no task that both have")
    table: Scores = np.asarray(values, dtype=np.float64)
    rng = np.random.default_rng(0)
    picks = rng.integers(0, len(table), (REPETITIONS, len(table)))
    low, high = np.quantile([statistic(table[pick]) for pick in picks], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimated(statistic(table), float(low), float(high))
