"""Statistics agree with scipy's and with known values."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from promptpo_benchmarks.statistics.bootstrap import (
    complete,
    improvement_interval,
    interval,
    iqm,
    mean_interval,
    mean_ranks,
    probability_of_improvement,
    profile,
    profile_band,
)

finite = st.floats(-1e3, 1e3)
matrices = arrays.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=finite)


@pytest.mark.slow
@given(matrices)
def test_interquartile_mean_is_scipys_trimmed_mean(scores: Any) -> None:
    """A quarter is cut off at both ends, over all runs and tasks."""
    from scipy import stats

    assert iqm(scores) == pytest.approx(stats.trim_mean(scores, 0.25, axis=None))


@given(st.data())
@settings(max_examples=50)
def test_probability_of_improvement_is_the_mann_whitney_statistic(data: Any) -> None:
    """Averaged over tasks, with ties counted half."""
    tasks = data.draw(st.integers(1, 4))
    rows = st.integers(1, 6)
    values = st.integers(0, 3).map(float)
    a = data.draw(arrays.arrays(np.float64, st.tuples(rows, st.just(tasks)), elements=values))
    b = data.draw(arrays.arrays(np.float64, st.tuples(rows, st.just(tasks)), elements=values))
    from scipy import stats

    expected = [stats.mannwhitneyu(a[:, t], b[:, t]).statistic / (len(a) * len(b)) for t in range(tasks)]
    assert probability_of_improvement(a, b) == pytest.approx(np.mean(expected))


@given(matrices)
def test_performance_profile_falls_from_one_to_zero(scores: Any) -> None:
    thresholds = [scores.min() - 1, *np.sort(scores.ravel()), scores.max()]
    shares = profile(scores, thresholds)
    assert shares[0] == 1
    assert shares[-1] == 0
    assert (np.diff(shares) <= 0).all()


def test_intervals_have_about_their_nominal_coverage() -> None:
    """For interquartile means of 10 runs on 5 tasks."""
    rng = np.random.default_rng(0)
    from scipy import stats

    truth = stats.norm.expect(lambda x: x, lb=stats.norm.ppf(0.25), ub=stats.norm.ppf(0.75)) / 0.5
    hits = 0
    for _ in range(40):
        estimate = interval(rng.normal(size=(10, 5)), iqm)
        hits += estimate.low <= truth <= estimate.high
    assert hits >= 33


def test_interval_is_reproducible_and_contains_its_value() -> None:
    scores = np.random.default_rng(1).random((5, 4))
    first, second = interval(scores, iqm), interval(scores, iqm)
    assert first == second
    assert first.low < first.value < first.high


def test_improvement_of_a_clearly_better_method() -> None:
    """One against it, one half against itself."""
    worse = np.random.default_rng(2).random((5, 3))
    assert improvement_interval(worse + 2, worse).low == 1
    assert improvement_interval(worse, worse).value == pytest.approx(0.5)


def test_band_contains_the_profile() -> None:
    scores, thresholds = np.random.default_rng(3).random((6, 4)), [0.1, 0.5, 0.9]
    low, high = profile_band(scores, thresholds)
    assert (low <= profile(scores, thresholds)).all()
    assert (profile(scores, thresholds) <= high).all()


def test_interval_over_runs_is_students_from_three_on() -> None:
    """For fewer, episodes are resampled; the interval of three agrees with scipy and exceeds their range."""
    from scipy import stats

    few = mean_interval([[0.0] * 50, [10.0] * 50])
    many = mean_interval([[0.0] * 50, [10.0] * 50, [5.0] * 50])
    assert (few.low, few.value, few.high) == (5.0, 5.0, 5.0)
    known = stats.t.interval(0.95, 2, loc=5.0, scale=5.0 / 3**0.5)
    assert (many.low, many.high) == pytest.approx(known, rel=0.02)
    assert many.low < 0
    assert many.high > 10


def test_equal_runs_do_not_narrow_the_interval() -> None:
    """They play the same test seeds."""
    episodes = [float(n % 2) for n in range(50)]
    one, three = mean_interval([episodes]), mean_interval([episodes] * 3)
    assert three.high - three.low == pytest.approx(one.high - one.low, rel=0.15)


def test_complete_matrix_has_shared_tasks_and_equal_numbers_of_runs() -> None:
    tasks, matrices_ = complete(
        {"a": {"x": [1, 2], "y": [3]}, "b": {"y": [4, 5], "x": [6, 7]}, "c": {"x": [0], "y": [0]}}
    )
    assert tasks == ["x", "y"]
    assert {name: m.shape for name, m in matrices_.items()} == {"a": (1, 2), "b": (2, 2), "c": (1, 2)}
    assert matrices_["b"].tolist() == [[6, 4], [7, 5]]
    assert complete({"a": {"x": [1]}, "b": {"y": [1]}}) == ([], {})


@given(st.data())
@settings(max_examples=50)
def test_mean_ranks_agree_with_scipy_and_ignore_scale(data: Any) -> None:
    """Ties share their rank."""
    from scipy import stats

    tasks, columns = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 5))
    values = st.integers(0, 3).map(float)
    scores = {
        f"c{n}": np.array([data.draw(st.lists(values, min_size=tasks, max_size=tasks))])
        for n in range(columns)
    }
    table = np.vstack(list(scores.values()))
    expected = stats.rankdata(-table, axis=0).mean(axis=1)
    assert list(mean_ranks(scores).values()) == pytest.approx(list(expected))
    scaled = {name: 7 * own - 3 for name, own in scores.items()}
    assert mean_ranks(scaled) == pytest.approx(mean_ranks(scores))
