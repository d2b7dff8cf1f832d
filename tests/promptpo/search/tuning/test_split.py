"""How a run's steps are divided between new structures and tuning."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo.search.tuning.split import EPISODES, FIRST_EPISODES, UNLIMITED_STEPS, Round, tuning_steps

LONG = (1000,) * 4


def round_(number=1, left=5, lengths=LONG, measuring=20_000, language_model=True):
    """A round of a run with long episodes."""
    return Round(number, left, lengths, measuring, language_model)


def test_a_models_rounds_get_equal_parts():
    """A fifth of what is left in the first of five rounds, all of it in the last."""
    assert tuning_steps(round_(left=5), 500_000) == 80_000
    assert tuning_steps(round_(left=1), 100_000) == 80_000


def test_without_a_model_a_round_gets_half_of_what_is_left():
    """However many rounds are to come; later rounds are bounded in episodes."""
    search = round_(left=5, language_model=False)
    assert tuning_steps(search, 2_000_000) == 980_000
    short = round_(number=3, left=3, lengths=(1, 1), measuring=30, language_model=False)
    assert tuning_steps(short, 500_000) == FIRST_EPISODES // 4


def test_few_episodes_without_a_model_go_into_one_round():
    """A thousand episodes find the numbers of one good structure, not of five."""
    assert tuning_steps(round_(left=5, language_model=False), 500_000) == 480_000


def test_a_part_that_is_too_small_becomes_everything():
    """Ten parts of 15,000 do not pay for measuring 20,000 steps, so one round tunes with what there is."""
    assert tuning_steps(round_(left=10), 150_000) == 130_000
    assert tuning_steps(round_(left=10), 15_000) == 0


@pytest.mark.parametrize(("lengths", "steps"), [(LONG, UNLIMITED_STEPS), ((2,), 2 * EPISODES), ((), 0)])
def test_without_a_limit_there_still_is_one(lengths, steps):
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
def test_no_more_than_there_is(some_round, left):
    """Tuning and measuring together stay within the budget."""
    steps = tuning_steps(some_round, left)
    assert 0 <= steps <= left
    assert steps == 0 or steps + some_round.measuring <= left
