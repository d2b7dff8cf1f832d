"""Numerical checks of the model of returns: worked examples, closed forms and boundaries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from promptpo.core.returns import Estimate, Evidence, Returns, mean_of, quantile, selection_values
from promptpo.rollouts.evaluation import EpisodeRecord

UNEVEN = {
    "a": {0: 10.0, 1: 14.0, 2: 9.0, 3: 12.5},
    "b": {0: 11.0, 1: 16.5, 2: 9.5},
    "c": {0: 2.0, 3: 21.0, 4: 7.0},
    "d": {1: 15.0},
    "e": {2: -40.0, 4: -31.0, 5: -35.0},
}
"""An outlier, a noisy program, one with a single episode, and seeds that few have played."""

FLAT = {"a": {0: 5.0, 1: 5.0}, "b": {0: 5.0, 1: 5.0}, "c": {0: 6.0, 2: 6.5}}
"""Returns with almost no noise."""

WORKED: list[dict[str, Any]] = [
    {
        "table": UNEVEN,
        "means": {"a": (11.3939, 1.94969, 4.4), "b": (12.5927, 2.49317, 3.7), "c": (9.7315, 4.24216, 3.9),
                  "d": (13.1698, 4.87082, 2.1), "e": (-34.4256, 2.76983, 3.7)},
        "less a": {"a": (0.0, 0.0, 4.4), "b": (-1.19873, 2.84332, 3.7), "c": (1.66243, 4.50752, 3.9),
                   "d": (-1.77582, 5.04459, 2.1), "e": (45.8195, 3.27578, 3.7)},
        "residuals": {"a": [-0.1535, 0.39874, -0.25655, 0.073553], "b": [-0.18322, 0.67583, -0.39956],
                      "c": [-0.93502, 1.4195, -0.42466], "d": [0.12068], "e": [-0.91223, 0.68501, -0.10763]},
        "best": {"a": 0.145, "b": 0.2565, "c": 0.1605, "d": 0.434, "e": 0.004},
    },
    {
        "table": FLAT,
        "means": {"a": (5.16664, 0.16667, 2.5), "b": (5.16664, 0.16667, 2.5), "c": (6.16667, 0.166671, 2.0)},
        "less a": {"a": (0.0, 0.0, 2.5), "b": (0.0, 0.0030408, 2.5), "c": (-1.00003, 0.00441279, 2.0)},
        "residuals": {"a": [5.3934e-07, -0.003041], "b": [5.3934e-07, -0.003041], "c": [-0.0070844, 0.014166]},
        "best": {"a": 0.0, "b": 0.0, "c": 1.0},
    },
    {
        "table": {"a": {0: 3.0}, "b": {0: 4.0}},
        "means": {"a": (3.0, 7.07107e-10, 2.0), "b": (4.0, 7.07107e-10, 2.0)},
        "less a": {"a": (0.0, 0.0, 2.0), "b": (-1.0, 7.07107e-10, 2.0)},
        "residuals": {"a": [0.0], "b": [0.0]},
        "best": {"a": 0.0, "b": 1.0},
    },
    {
        "table": {"a": {0: 3.0}},
        "means": {"a": (3.0, math.inf, 2.0)},
        "less a": {"a": (0.0, math.inf, 2.0)},
        "residuals": {"a": [0.0]},
        "best": {"a": 1.0},
    },
]  # fmt: skip


def approx_estimate(estimate: Estimate) -> Any:
    """Mean, standard error and degrees of freedom, to five digits."""
    return pytest.approx((estimate.mean, estimate.standard_error, estimate.df), rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("worked", WORKED, ids=["uneven", "flat", "one start", "one episode"])
def test_worked_examples(worked: dict[str, Any]) -> None:
    """Pins the numbers, so that a change of method shows here first."""
    model = Returns(worked["table"])
    for name, expected in worked["means"].items():
        assert expected == approx_estimate(model.of(name))
        assert worked["less a"][name] == approx_estimate(model.difference("a", name))
        found = [model.residual(name, start) for start in worked["table"][name]]
        assert found == pytest.approx(worked["residuals"][name], rel=1e-4, abs=1e-8)
    assert model.probability_best() == pytest.approx(worked["best"], abs=5e-3)


def test_empty_table_has_no_best() -> None:
    assert Returns({}).probability_best() == {}


def test_probabilities_of_identical_programs_sum_to_one() -> None:
    """Their covariance is singular."""
    shares = Returns({name: {0: 1.0, 1: 1.0} for name in "ab"}).probability_best()
    assert sum(shares.values()) == 1


STUDENT = {1: (1, 1), 2: (3, 16, 5), 3: (-15, 17, 19, 3), 4: (-945, -1920, 1482, 776, 79)}
"""Numerators of the expansion (Abramowitz and Stegun, 26.7.5), lowest power first; odd powers of z."""


@pytest.mark.parametrize("df", [1, 1.5, 2, 3.7, 8, 50])
def test_quantile_matches_the_expansion(df: float) -> None:
    """Degrees of freedom below one count as one."""
    z = 1.959964
    terms = (
        sum(c * z ** (2 * i + 1) for i, c in enumerate(numerators)) / denominator / df**power
        for (power, numerators), denominator in zip(STUDENT.items(), (4, 96, 384, 92_160), strict=True)
    )
    assert quantile(df) == pytest.approx(z + sum(terms), rel=1e-12)
    assert quantile(0.5) == quantile(1.0)


@pytest.mark.parametrize("mean", [-3.0, -0.4, 0.0, 0.4, 3.0])
@pytest.mark.parametrize("error", [0.5, 1.0, 2.5])
def test_expected_gain_matches_the_integral(mean: float, error: float) -> None:
    x = np.linspace(mean - 12 * error, mean + 12 * error, 200_001)
    density = np.exp(-(((x - mean) / error) ** 2) / 2) / (error * math.sqrt(2 * math.pi))
    assert Estimate(mean, error).gain == pytest.approx(np.trapezoid(np.maximum(x, 0) * density, x), abs=1e-6)


def test_quantiles_and_means_match_the_textbook() -> None:
    for df, value in ((2, 4.303), (5, 2.571), (10, 2.228), (30, 2.042)):
        assert quantile(df) == pytest.approx(value, rel=0.01)
    assert mean_of([1.0, 3.0]).standard_error == pytest.approx(1.0)
    assert [mean_of([1.0, 3.0, 5.0][:n]).df for n in (1, 2, 3)] == [1, 1, 2]
    assert math.isinf(mean_of([1.0]).standard_error)
    assert math.isnan(mean_of([]).mean)


def test_expected_gain_without_or_with_infinite_error() -> None:
    assert [Estimate(mean, 0.0).gain for mean in (-2.0, 0.0, 2.0)] == [0.0, 0.0, 2.0]
    assert Estimate(1.0).gain == math.inf


def test_verdict_requires_more_than_the_margin() -> None:
    """Without an error, any difference counts."""
    margin = Estimate(0.0, 1.0, 5.0).margin
    assert margin == quantile(5.0)
    means = (-margin - 1e-9, -margin, 0.0, margin, margin + 1e-9)
    assert [Estimate(mean, 1.0, 5.0).verdict for mean in means] == [-1, 0, 0, 0, 1]
    assert [Estimate(mean, 0.0).verdict for mean in (-1.0, 0.0, 1.0)] == [-1, 0, 1]
    assert Estimate(1.0, 0.0).margin == 0


def test_mean_of_non_finite_values_has_infinite_error() -> None:
    assert mean_of([1.0, math.inf]).standard_error == math.inf
    assert mean_of([1.0, math.inf]).df == Estimate(0.0).df


def test_success_is_worth_three_ranges_of_the_returns() -> None:
    """Unknown success adds nothing."""
    episodes = {
        "a": [EpisodeRecord(0, 10.0, 1, success=True), EpisodeRecord(1, 20.0, 1, success=False)],
        "b": [EpisodeRecord(0, -5.0, 1, success=None)],
    }
    assert selection_values(episodes) == {"a": {0: 10.0 + 3 * 25.0, 1: 20.0}, "b": {0: -5.0}}
    assert selection_values({"a": []}) == {"a": {}}


def episodes_of(*returns: float, wins: Any = None) -> list[EpisodeRecord]:
    """Episodes with these returns on consecutive seeds."""
    return [EpisodeRecord(n, value, 1, wins and wins[n]) for n, value in enumerate(returns)]


def test_threshold_holds_with_fifteen_episodes_and_the_lower_bound() -> None:
    flat = Evidence.of(episodes_of(*[5.0] * 15))
    assert flat.exceeds(5.0)
    assert not flat.exceeds(5.0 + 1e-9)
    assert not Evidence.of(episodes_of(*[5.0] * 14)).exceeds(5.0)
    spread = Evidence.of(episodes_of(*range(15)))
    low, high = spread.interval
    assert spread.exceeds(low)
    assert not spread.exceeds(low + 1e-6)
    assert high - 7 == pytest.approx(7 - low)


def test_models_estimate_overrides_the_sample_mean() -> None:
    judged = Evidence(tuple(episodes_of(1.0, 2.0)), Estimate(9.0, 0.5, 4.0))
    assert (judged.mean_return, judged.standard_error) == (9.0, 0.5)
    assert judged.interval == pytest.approx((9 - quantile(4.0) / 2, 9 + quantile(4.0) / 2))
    assert math.isnan(Evidence.of(episodes_of(1.0)).standard_error)
    assert math.isnan(
        Evidence.of(episodes_of(1.0)).paired_difference(Evidence.of(episodes_of(2.0))).standard_error
    )


def test_successes_are_compared_on_pairs_where_both_are_known() -> None:
    mine = Evidence.of(episodes_of(1.0, 1.0, 1.0, wins=[True, None, True]))
    theirs = Evidence.of(episodes_of(1.0, 1.0, 1.0, wins=[False, True, None]))
    assert mine.paired_difference(theirs).successes == (1.0,)
    assert theirs.paired_difference(mine).successes == (-1.0,)
    assert not mine.paired_difference(theirs).tie
    assert mine.paired_difference(mine).tie
    assert not mine.paired_difference(Evidence.of(episodes_of(1.0, 2.0, 1.0, wins=[True, None, True]))).tie
    assert not mine.paired_difference(Evidence()).tie


@pytest.mark.parametrize("unit", [1e200, 1e-200])
def test_estimates_are_scale_equivariant_at_extreme_sizes(unit: float) -> None:
    """Squares of such returns overflow or underflow."""
    small = Returns(UNEVEN)
    large = Returns({name: {s: unit * r for s, r in played.items()} for name, played in UNEVEN.items()})
    for name in UNEVEN:
        assert large.of(name).mean == pytest.approx(unit * small.of(name).mean)
        assert large.difference(name, "a").margin == pytest.approx(unit * small.difference(name, "a").margin)
    assert large.probability_best() == pytest.approx(small.probability_best())
