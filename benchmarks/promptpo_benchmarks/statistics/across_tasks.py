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


def chance_of_improvement(runs: Runs, other: Runs) -> Estimated:
    """Probability that a run of one method beats a run of the other, on a task of this kind.

    Args:
        runs: Runs of one method.
        other: Runs of the other; tasks that both have count.

    Raises:
        ValueError: They share no task.
    """
    return _over_tasks(
        [_wins(runs[task], other[task]) for task in common_tasks(runs, other)], lambda x: float(np.mean(x))
    )


def iqm_across(runs: Runs) -> Estimated:
    """Interquartile mean over tasks of the mean over runs.

    Raises:
        ValueError: There is no task.
    """
    return _over_tasks([float(np.mean(scores)) for scores in runs.values()], iqm)


def iqm_lead(runs: Runs, other: Runs) -> Estimated:
    """Difference of the interquartile means of two methods, with the same tasks drawn for both.

    Raises:
        ValueError: They share no task.
    """
    pairs = [(float(np.mean(runs[task])), float(np.mean(other[task]))) for task in common_tasks(runs, other)]
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


def common_tasks(runs: Runs, other: Runs) -> list[str]:
    """Tasks that both have."""
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
