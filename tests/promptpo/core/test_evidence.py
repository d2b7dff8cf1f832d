"""Evidence on a candidate's returns, and paired differences between candidates."""

import math
import random
import warnings
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo.core.returns import Estimate, Evidence
from promptpo.output.report.scores import bootstrap_interval
from promptpo.rollouts.evaluation import EpisodeRecord


def episodes_of(returns: Any, *, start: int = 0, success: Any = None) -> Any:
    """Episodes with these returns on consecutive seeds."""
    successes = success if isinstance(success, list) else [success] * len(returns)
    return [
        EpisodeRecord(start + i, value, 10, won)
        for i, (value, won) in enumerate(zip(returns, successes, strict=True))
    ]


def test_episodes_are_pooled_by_seed() -> None:
    evidence = Evidence.of(
        episodes_of([1.0, 3.0]), episodes_of([5.0, 7.0], start=100), episodes_of([3.0], start=1)
    )
    assert evidence.returns == (1.0, 3.0, 5.0, 7.0)
    assert evidence.mean_return == 4.0
    assert evidence.standard_error == pytest.approx(math.sqrt(20 / 3) / 2)


def test_pairing_cancels_the_effect_of_the_initial_state() -> None:
    """A difference of 1 is clear although returns vary by hundreds between seeds."""
    dice = random.Random(0)
    starts = [dice.uniform(-500, 500) for _ in range(10)]
    one = Evidence.of(episodes_of([value + 1 + dice.uniform(-0.1, 0.1) for value in starts]))
    other = Evidence.of(episodes_of(starts))
    assert one.paired_difference(other).verdict == 1
    assert other.paired_difference(one).verdict == -1
    assert one.standard_error > 50


def test_single_lucky_episode_is_not_a_difference() -> None:
    one, other = Evidence.of(episodes_of([10.0, 20.0, 90.0])), Evidence.of(episodes_of([12.0, 19.0, 20.0]))
    assert one.mean_return > other.mean_return
    assert one.paired_difference(other).verdict == 0


def test_success_rate_is_traded_off_against_return() -> None:
    """One more success in ten does not outweigh a tenfold return; seven more do."""
    sure = Evidence.of(episodes_of([350.0 + i for i in range(10)], success=True))
    rich = Evidence.of(episodes_of([3550.0 + i for i in range(10)], success=[True] * 9 + [False]))
    assert rich.paired_difference(sure).verdict == 1
    always = Evidence.of(episodes_of([350.0 + i for i in range(10)], success=True))
    never = Evidence.of(episodes_of([3550.0 + i for i in range(10)], success=[True] * 3 + [False] * 7))
    assert always.paired_difference(never).verdict == 1


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12), st.lists(st.floats(-1e6, 1e6), max_size=12))
def test_comparison_is_antisymmetric(mine: Any, theirs: Any) -> None:
    one, other = Evidence.of(episodes_of(mine)), Evidence.of(episodes_of(theirs))
    assert one.paired_difference(other).verdict == -other.paired_difference(one).verdict
    assert one.paired_difference(one).tie
    assert one.paired_difference(one).verdict == 0


def test_single_episode_has_no_standard_error_or_interval() -> None:
    one, two = Evidence.of(episodes_of([3.0])), Evidence.of(episodes_of([3.0, 4.0]))
    assert math.isnan(replace(one, estimate=Estimate(3.0, 0.5)).standard_error)
    assert replace(two, estimate=Estimate(3.0, 0.5)).standard_error == 0.5
    assert all(map(math.isnan, bootstrap_interval(one.returns)))
    assert not any(map(math.isnan, bootstrap_interval(two.returns)))


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_non_finite_returns_have_no_interval(wrong: float) -> None:
    """They must cause neither warnings nor exceptions."""
    evidence = Evidence.of(episodes_of([3.0, wrong, -wrong]))
    assert math.isnan(evidence.mean_return)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(map(math.isnan, bootstrap_interval((3.0, wrong))))
    assert math.isnan(evidence.paired_difference(Evidence.of(episodes_of([0.0, 0.0, 0.0]))).mean)


def test_rounding_errors_are_not_a_difference() -> None:
    """The tolerance is relative to the size of the returns."""
    one, other = (
        Evidence.of(episodes_of([0.0] * 9)),
        Evidence.of(episodes_of([-4e-9 - n * 1e-10 for n in range(9)])),
    )
    assert one.paired_difference(other).verdict == 1
    assert one.paired_difference(other, 10.0).tie
    assert not one.paired_difference(other, 10.0).verdict
    assert one.paired_difference(Evidence.of(episodes_of([-1e-5] * 9)), 10.0).verdict == 1
