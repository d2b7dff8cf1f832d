"""How long episodes are: when they are cut, and when not."""

from typing import Any

import pytest

from promptpo.search.tuning.clock import SHORTEST, STAGES, Clock
from sandbox import Rollout, Trial
from tests.promptpo.search.tuning.conftest import episode


def rollout(*episodes: Any) -> Any:
    """A rollout of (return, steps, terminated) triples."""
    made = tuple(episode(Trial(0), r, steps, terminated=ended) for r, steps, ended in episodes)
    return Rollout(made, None, sum(e.steps for e in made), "", 0.0)


def clock(steps: int = 100_000, horizon: int = 1000) -> Any:
    """A clock of a long task whose budget pays for few full episodes."""
    return Clock(steps, horizon, population=16)


def test_long_episodes_are_cut_at_first() -> None:
    """Short, medium and full, as the budget is spent."""
    one = clock()
    horizons = []
    for _ in range(10):
        horizons.append(one.stage_horizon())
        one.add(rollout(*[(1.0, 1000, False)] * 10))
    assert horizons[0] == SHORTEST
    assert horizons == sorted(horizons)
    assert horizons[-1] == 1000
    assert horizons.count(SHORTEST) >= 10 * STAGES[0] * 0.8


def test_episodes_that_reach_a_goal_are_not_cut() -> None:
    """Where the ones that end earn more, the end is what matters."""
    one = clock()
    for _ in range(20):
        one.add(rollout((90.0, 120, True), (-10.0, 200, False)))
    assert not one.failing
    assert one.stage_horizon() == 1000


def test_episodes_that_end_in_a_fall_are_cut() -> None:
    """Where the ones that end earn less, they are cut, but not before others fail."""
    one = clock()
    for _ in range(20):
        one.add(rollout((50.0, 140, True), (200.0, 200, False)))
    assert one.failing
    assert one.stage_horizon() == 512
    assert one.survived() >= 2 * 140


def test_a_few_rollouts_decide_nothing() -> None:
    """Nor do those in which all episodes end."""
    one = clock()
    one.add(rollout((50.0, 140, True), (200.0, 200, False)))
    for _ in range(20):
        one.add(rollout((50.0, 140, True)))
    assert one.stage_horizon() == 1000


@pytest.mark.parametrize("horizon", [1000, None])
def test_cost_is_bounded_by_what_was_seen(horizon: int | None) -> None:
    """One episode may be twice as long as any before, many twice as long on average."""
    one = clock(horizon=horizon)
    assert one.cost(3, horizon) == 3000
    one.add(rollout((0.0, 2, True), (0.0, 4, True)))
    assert one.cost(1, horizon) == 8
    assert one.cost(100, horizon) == 2 * 100 * 3 + 8


@pytest.mark.parametrize(
    ("most", "horizon", "longer"), [(1000, 1000, True), (300, 260, True), (200, 130, False)]
)
def test_episodes_become_as_long_as_can_be_paid(most: int, horizon: int, longer: bool) -> None:
    """Whole ones where these are payable; else twice as long as often as that is; else none of another length."""
    clock = Clock(10_000, 1000, 10, cut=True)
    assert clock.stage_horizon() == 130
    assert clock.lengthen_within(most) is longer
    assert clock.stage_horizon() == horizon
    ending = Clock(10_000, 1000, 10, cut=True, episodes=10, endings=10)
    assert ending.stage_horizon() == 1000
    assert ending.lengthen_within(most)
