"""Two methods compared task by task, where each has few runs of a task and the tasks are many.

The stratified bootstrap of `promptpo_benchmarks.statistics.bootstrap` draws runs anew and keeps the tasks: with one run of each it
has nothing to draw. Here the tasks are drawn anew, so that an interval says what other tasks of the kind might have shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from promptpo_benchmarks.statistics.bootstrap import LEVEL, REPETITIONS, Estimated, Scores, iqm

Runs = Mapping[str, Sequence[float]]
"""Task to the normalised score of each run."""


def chance_of_improvement(one: Runs, other: Runs) -> Estimated:
    """How probable it is that a run of the one beats a run of the other, on a task of this kind.

    Args:
        one: Runs of one method.
        other: Runs of another; tasks that both have count.

    Raises:
        ValueError: They share no task.
    """
    return _over_tasks(
        [_wins(one[task], other[task]) for task in shared(one, other)], lambda x: float(np.mean(x))
    )


def iqm_across(runs: Runs) -> Estimated:
    """Interquartile mean over tasks of the mean over runs.

    Raises:
        ValueError: There is no task.
    """
    return _over_tasks([float(np.mean(scores)) for scores in runs.values()], iqm)


def iqm_lead(one: Runs, other: Runs) -> Estimated:
    """How far the interquartile mean of the one is above that of the other, the same tasks drawn for both.

    Raises:
        ValueError: They share no task.
    """
    pairs = [(float(np.mean(one[task])), float(np.mean(other[task]))) for task in shared(one, other)]
    return _over_tasks(pairs, lambda x: iqm(x[:, 0]) - iqm(x[:, 1]))


def mean_lead(differences: Runs) -> Estimated:
    """How far one version is above another: the mean over tasks of the mean over pairs of runs.

    Args:
        differences: Task to what each pair of runs differs by.

    Raises:
        ValueError: There is no task.
    """
    means = [float(np.mean(values)) for values in differences.values()]
    return _over_tasks(means, lambda x: float(np.mean(x)))


def shared(one: Runs, other: Runs) -> list[str]:
    """Tasks that both have."""
    return [task for task in one if task in other]


def _wins(one: Sequence[float], other: Sequence[float]) -> float:
    difference = np.subtract.outer(np.asarray(one), np.asarray(other))
    return float(((difference > 0) + 0.5 * (difference == 0)).mean())


def _over_tasks(values: Sequence[object], statistic: Callable[[Scores], float]) -> Estimated:
    if not values:
        raise ValueError("there is no task that both have")
    table: Scores = np.asarray(values, dtype=np.float64)
    rng = np.random.default_rng(0)
    picks = rng.integers(0, len(table), (REPETITIONS, len(table)))
    low, high = np.quantile([statistic(table[pick]) for pick in picks], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimated(statistic(table), float(low), float(high))
