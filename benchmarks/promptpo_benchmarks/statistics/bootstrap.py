"""Statistics over runs and tasks, as Agarwal et al. recommend for few runs (NeurIPS 2021).

Their library, rliable 1.2.0, does not work with the current release of the `arch` package that it
depends on (its bootstrap refuses ``random_state=None``), so the four methods are implemented here in
numpy; the tests compare the point estimates with scipy's ``trim_mean`` and ``mannwhitneyu``.

Scores are matrices of shape (runs, tasks), or stacks of such matrices. Bootstraps are stratified: runs are resampled within each
task, tasks stay. Seeds are fixed, so that reports are reproducible.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from promptpo.core.returns import mean_of, quantile

Scores = NDArray[np.float64]

REPETITIONS = 2_000
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Estimated:
    """A point estimate with a 95 % interval."""

    value: float
    low: float
    high: float


def iqm(scores: Scores) -> Any:
    """Return the interquartile mean of each matrix: the mean of the middle half of all runs on all tasks.

    Args:
        scores: Shape (..., runs, tasks).
    """
    flat = np.sort(scores.reshape(*scores.shape[:-2], -1), axis=-1)
    cut = int(0.25 * flat.shape[-1])
    return flat[..., cut : flat.shape[-1] - cut].mean(axis=-1)


def probability_of_improvement(scores: Scores, others: Scores) -> Any:
    """Return the probability, for each pair of matrices, that a run of the first method beats one of the second on the same task.

    Args:
        scores: Shape (..., runs, tasks).
        others: Shape (..., other runs, tasks), for the same tasks.
    """
    difference = scores[..., :, None, :] - others[..., None, :, :]
    return ((difference > 0) + 0.5 * (difference == 0)).mean(axis=(-3, -2, -1))


def mean_ranks(matrices: Mapping[str, Scores]) -> dict[str, float]:
    """Return the mean over tasks of the rank of each column's mean score, 1 for the best; equal scores share their ranks."""
    means = {column: scores.mean(axis=0) for column, scores in matrices.items()}

    def ranks(own: Scores) -> Scores:
        better = sum((other > own).astype(float) + 0.5 * (other == own) for other in means.values())
        return np.asarray(better + 0.5)  # plus the half from comparing it with itself

    return {column: float(ranks(own).mean()) for column, own in means.items()}


def profile(scores: Scores, thresholds: Sequence[float]) -> Scores:
    """Return the performance profile of each matrix: the share of runs above each threshold."""
    shares = [(scores > threshold).mean(axis=(-2, -1)) for threshold in thresholds]
    return np.stack(shares, axis=-1)


def interval(scores: Scores, statistic: Callable[[Scores], Any]) -> Estimated:
    """Return a statistic of a score matrix with its stratified bootstrap interval.

    Args:
        scores: Shape (runs, tasks).
        statistic: Computes it for each matrix of a stack, like `iqm`.
    """
    return _summarize(statistic(scores), statistic(_resample(scores)))


def improvement_interval(scores: Scores, others: Scores) -> Estimated:
    """Return `probability_of_improvement` with its stratified bootstrap interval."""
    draws = probability_of_improvement(_resample(scores), _resample(others, seed=1))
    return _summarize(probability_of_improvement(scores, others), draws)


def profile_band(scores: Scores, thresholds: Sequence[float]) -> tuple[Scores, Scores]:
    """Return lower and upper 95 % bootstrap bounds of `profile`, point by point."""
    low, high = np.quantile(
        profile(_resample(scores), thresholds), [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0
    )
    return low, high


def mean_interval(runs: Sequence[Sequence[float]]) -> Estimated:
    """Return the mean over runs of the mean over episodes.

    The interval is a bootstrap over episodes, which does not cover other seeds. From three runs on it is Student's over runs'
    means, if wider: a bootstrap of fewer than five runs would end at their extremes, and runs that agree may all be lucky.

    Args:
        runs: Returns of the held-out episodes of each run.
    """
    means = [float(np.mean(run)) for run in runs]
    rng = np.random.default_rng(0)
    per_run = [rng.choice(np.asarray(run), (REPETITIONS, len(run))).mean(axis=1) for run in runs]
    ends = [np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) for draws in per_run]
    return interval_over_runs(means, [(float(low), float(high)) for low, high in ends])


def interval_over_runs(means: Sequence[float], ends: Sequence[tuple[float, float]]) -> Estimated:
    """Return the wider of the runs' mean interval over episodes and, from three runs on, Student's over runs.

    Args:
        means: Each run's mean.
        ends: Each run's interval over its episodes, which are the same for all runs.
    """
    low, high = np.mean(ends, axis=0)
    found = mean_of(means)
    margin = quantile(found.df) * found.standard_error if len(means) >= MANY_RUNS else 0.0
    return Estimated(found.mean, min(float(low), found.mean - margin), max(float(high), found.mean + margin))


MANY_RUNS = 3
"""Number of runs from which intervals also cover the spread between runs."""


def complete(columns: Mapping[str, Mapping[str, Sequence[float]]]) -> tuple[list[str], dict[str, Scores]]:
    """Return score matrices over the tasks that every column has.

    Args:
        columns: Normalised scores of runs, by column and task.

    Returns:
        The tasks, and a matrix for each column, with as many runs as its task with the fewest.
    """
    shared = set.intersection(*(set(tasks) for tasks in columns.values())) if columns else set()
    first = next(iter(columns.values()), {})
    tasks = [task for task in first if task in shared]
    if not tasks:
        return [], {}
    matrices = {}
    for column, scores in columns.items():
        runs = min(len(scores[task]) for task in tasks)
        matrices[column] = np.array([scores[task][:runs] for task in tasks], dtype=np.float64).T
    return tasks, matrices


def _resample(scores: Scores, seed: int = 0) -> Scores:
    """Resample the runs of each task; shape (repetitions, runs, tasks)."""
    rng = np.random.default_rng(seed)
    runs, tasks = scores.shape
    picks = rng.integers(0, runs, (REPETITIONS, runs, tasks))
    return np.take_along_axis(scores[None], picks, axis=1)


def _summarize(value: float, draws: Scores) -> Estimated:
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimated(float(value), float(low), float(high))
