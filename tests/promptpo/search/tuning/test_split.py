"""How a run's steps are divided between new structures and tuning."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo.search.tuning.split import (
    EPISODES,
    FIRST_EPISODES,
    UNLIMITED_STEPS,
    Round,
    kept_for_the_last,
    tuning_steps,
)

LONG = (1000,) * 4


def round_(
    number: int = 1, left: int = 5, lengths: Any = LONG, measuring: int = 20_000, language_model: bool = True
) -> Any:
    """A round of a run with long episodes."""
    return Round(number, left, lengths, measuring, language_model)


def test_a_models_rounds_get_equal_parts() -> None:
    """A fifth of what is left in the first of five rounds, all of it in the last."""
    assert tuning_steps(round_(left=5), 500_000) == 80_000
    assert tuning_steps(round_(left=1), 100_000) == 80_000


def test_without_a_model_a_round_gets_half_of_what_is_left() -> None:
    """However many rounds are to come; later rounds are bounded in episodes."""
    search = round_(left=5, language_model=False)
    assert tuning_steps(search, 2_000_000) == 980_000
    short = round_(number=3, left=3, lengths=(1, 1), measuring=30, language_model=False)
    assert tuning_steps(short, 500_000) == FIRST_EPISODES // 4


def test_few_episodes_without_a_model_go_into_one_round() -> None:
    """A thousand episodes find the numbers of one good structure, not of five."""
    assert tuning_steps(round_(left=5, language_model=False), 500_000) == 480_000


def test_where_parts_are_too_small_fewer_rounds_are_tuned() -> None:
    """Ten parts of 15,000 do not pay for measuring 20,000 steps; three do, with enough episodes to find something."""
    assert tuning_steps(round_(left=10), 150_000) == 30_000
    assert tuning_steps(round_(left=10), 15_000) == 0


def test_where_two_rounds_of_four_can_be_tuned_it_is_the_first_and_the_last() -> None:
    """The first shows which structures can do anything; the last has the structures that know most."""
    left, spent = 105_000, []
    for number in range(1, 5):
        some = replace(round_(number, 5 - number, measuring=8_000), coming=9_000)
        assert kept_for_the_last(some, left) == (number in {2, 3})
        steps = tuning_steps(some, left)
        spent.append(steps)
        left -= steps + 9_000
    assert spent == [30_000, 0, 0, 40_000]
    assert not kept_for_the_last(round_(2, 4, measuring=8_000), 400_000)
    assert not kept_for_the_last(round_(2, 4, measuring=8_000, language_model=False), 40_000)


def test_nothing_is_kept_for_a_last_round_that_cannot_be_paid() -> None:
    """The second of three rounds with 30,690 steps left, episodes of 1,100: no request may promise what comes to nothing."""
    second = replace(round_(2, 2, lengths=(1_100,), measuring=12_800), coming=12_100, closing=5_500)
    assert not kept_for_the_last(second, 24_090)
    assert tuning_steps(second, 24_090) == 0
    assert kept_for_the_last(second, 34_000)
    assert tuning_steps(second, 34_000) == 0


def test_no_round_takes_what_later_ones_could_use() -> None:
    """Where an even part finds nothing a round has as much as finds something, not all there is; some is kept for the end."""
    first = replace(round_(left=4, measuring=8_000), coming=14_000)
    assert tuning_steps(first, 117_000) == 30_000
    assert tuning_steps(round_(left=1, measuring=8_000), 40_000) == 32_000
    assert tuning_steps(replace(round_(left=1, measuring=8_000), closing=5_000), 40_000) == 27_000


def test_a_handful_of_episodes_is_not_tuned_with() -> None:
    """Four episodes choose numbers by luck, and measuring the choice costs as much again; ten are a search."""
    assert tuning_steps(round_(left=1, measuring=8_000), 11_000) == 0
    assert tuning_steps(round_(left=1, measuring=8_000), 18_000) == 10_000


def test_what_the_last_round_leaves_is_tuned_with_rather_than_left() -> None:
    """Half of the measuring will do where the steps buy nothing else; earlier rounds keep theirs for later ones."""
    last = replace(round_(left=1, measuring=8_000), closing=5_000)
    assert tuning_steps(last, 17_283) == 13_283
    assert tuning_steps(last, 11_000) == 0
    assert tuning_steps(replace(last, left=2), 17_283) == 0


def test_the_last_round_has_its_share() -> None:
    """What the candidates of later rounds take is left out, so that each round tunes with as much."""
    left, spent = 400_000, []
    for number in range(1, 5):
        left -= 30_000
        some = replace(round_(number, 5 - number, measuring=10_000), coming=30_000)
        steps = tuning_steps(some, left)
        spent.append(steps)
        left -= steps + 10_000
    assert left >= 0
    assert max(spent) - min(spent) < 2_000
    assert spent[-1] > 50_000


@pytest.mark.parametrize(("lengths", "steps"), [(LONG, UNLIMITED_STEPS), ((2,), 2 * EPISODES), ((), 0)])
def test_without_a_limit_there_still_is_one(lengths: Any, steps: Any) -> None:
    """A fixed number of steps, fewer where episodes are very short, none where nothing ran."""
    assert tuning_steps(round_(lengths=lengths), None) == steps


@given(
    st.builds(
        Round,
        st.integers(1, 20),
        st.integers(0, 20),
        st.lists(st.integers(1, 1000), max_size=5),
        st.integers(0, 10**6),
        st.booleans(),
    ),
    st.integers(0, 10**7),
)
def test_no_more_than_there_is(some_round: Any, left: Any) -> None:
    """Tuning and measuring together stay within the budget, in the last round tuning and half of the measuring."""
    steps = tuning_steps(some_round, left)
    assert 0 <= steps <= left
    last = some_round.language_model and some_round.left <= 1
    assert steps == 0 or steps + some_round.measuring // (2 if last else 1) <= left


def test_a_small_budget_is_used_where_episodes_are_short() -> None:
    """Its half goes into tuning where measuring cannot be paid in the worst case, if that is many episodes."""
    short = round_(left=1, lengths=(9, 10), measuring=15_000, language_model=False)
    assert tuning_steps(short, 4_779) == 2_389
    assert tuning_steps(round_(left=1, measuring=15_000, language_model=False), 4_779) == 0
