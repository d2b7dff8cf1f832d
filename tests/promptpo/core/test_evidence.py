"""Evidence on a candidate's returns, and on the difference between two candidates."""

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


def played(returns: Any, *, start: int = 0, success: Any = None) -> Any:
    """Episodes with these returns on consecutive seeds."""
    successes = success if isinstance(success, list) else [success] * len(returns)
    return [
        EpisodeRecord(start + i, value, 10, won)
        for i, (value, won) in enumerate(zip(returns, successes, strict=True))
    ]


def test_episodes_are_pooled_and_each_seed_counts_once() -> None:
    """Training and validation together, with the error of their mean."""
    evidence = Evidence.of(played([1.0, 3.0]), played([5.0, 7.0], start=100), played([3.0], start=1))
    assert evidence.returns == (1.0, 3.0, 5.0, 7.0)
    assert evidence.mean_return == 4.0
    assert evidence.standard_error == pytest.approx(math.sqrt(20 / 3) / 2)


def test_pairs_cancel_what_the_starts_have_in_common() -> None:
    """A difference of 1 is clear between returns that vary by hundreds from start to start."""
    dice = random.Random(0)
    starts = [dice.uniform(-500, 500) for _ in range(10)]
    one = Evidence.of(played([value + 1 + dice.uniform(-0.1, 0.1) for value in starts]))
    other = Evidence.of(played(starts))
    assert one.paired_difference(other).verdict == 1
    assert other.paired_difference(one).verdict == -1
    assert one.standard_error > 50


def test_noise_is_no_difference() -> None:
    """A lucky episode does not make a candidate better."""
    one, other = Evidence.of(played([10.0, 20.0, 90.0])), Evidence.of(played([12.0, 19.0, 20.0]))
    assert one.mean_return > other.mean_return
    assert one.paired_difference(other).verdict == 0


def test_one_success_more_does_not_outweigh_a_tenfold_return() -> None:
    """10 of 10 at a return of 355 against 9 of 10 at 3,551: the second."""
    sure = Evidence.of(played([350.0 + i for i in range(10)], success=True))
    rich = Evidence.of(played([3550.0 + i for i in range(10)], success=[True] * 9 + [False]))
    assert rich.paired_difference(sure).verdict == 1
    always = Evidence.of(played([350.0 + i for i in range(10)], success=True))
    never = Evidence.of(played([3550.0 + i for i in range(10)], success=[True] * 3 + [False] * 7))
    assert always.paired_difference(never).verdict == 1


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12), st.lists(st.floats(-1e6, 1e6), max_size=12))
def test_comparing_is_antisymmetric_and_equals_tie(mine: Any, theirs: Any) -> None:
    """Whoever is better one way is worse the other way; equal episodes are a tie and no verdict."""
    one, other = Evidence.of(played(mine)), Evidence.of(played(theirs))
    assert one.paired_difference(other).verdict == -other.paired_difference(one).verdict
    assert one.paired_difference(one).tie
    assert one.paired_difference(one).verdict == 0


def test_one_episode_tells_no_spread() -> None:
    """Neither its standard error nor an interval; two episodes tell both."""
    one, two = Evidence.of(played([3.0])), Evidence.of(played([3.0, 4.0]))
    assert math.isnan(replace(one, estimate=Estimate(3.0, 0.5)).standard_error)
    assert replace(two, estimate=Estimate(3.0, 0.5)).standard_error == 0.5
    assert all(map(math.isnan, bootstrap_interval(one.returns)))
    assert not any(map(math.isnan, bootstrap_interval(two.returns)))


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_rewards_that_are_no_numbers_have_no_interval(wrong: float) -> None:
    """A mean over them is none, no warning comes, and infinities of both signs are no error."""
    evidence = Evidence.of(played([3.0, wrong, -wrong]))
    assert math.isnan(evidence.mean_return)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(map(math.isnan, bootstrap_interval((3.0, wrong))))
    assert math.isnan(evidence.paired_difference(Evidence.of(played([0.0, 0.0, 0.0]))).mean)


def test_rounding_is_no_difference() -> None:
    """Beside returns of some ten, differences of billionths are none; beside nothing larger they are, and so are larger ones."""
    one, other = Evidence.of(played([0.0] * 9)), Evidence.of(played([-4e-9 - n * 1e-10 for n in range(9)]))
    assert one.paired_difference(other).verdict == 1
    assert one.paired_difference(other, 10.0).tie
    assert not one.paired_difference(other, 10.0).verdict
    assert one.paired_difference(Evidence.of(played([-1e-5] * 9)), 10.0).verdict == 1
