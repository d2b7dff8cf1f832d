"""Rewards that a task's text promises."""

import pytest

from promptpo.run.records import Experiment
from promptpo.search.history import History
from promptpo.spec.promises import promises
from promptpo.telling.promises import in_words, to_earn, unseen

BOARD = '''"""A board.

A square board with a goal.
"""


def reward(obs, action, next_obs):
    """Each step costs a little. Reaching the goal gives a large bonus. Some cells cost more than that."""


EPISODE = {"max_steps": 9, "end": "A fall costs 100 points."}
'''

PRESS = '''"""A press."""


def reward(obs, action):
    reward = -0.1
    if env.broken:
        reward -= 50.0
    if env.pressed:
        reward = 10.0
    return reward
'''


def earning(*earned: float, probe: tuple[float, ...] = ()) -> History:
    """A history in which single steps of programs, and of one experiment, have earned so much."""
    return History(earned=earned, experiments=[Experiment("p2.1", "", "went", earned=probe)])


def test_what_only_an_experiment_has_earned_is_told_beside_the_promise() -> None:
    """The promise is still to be kept by a program, and the prompt says who has seen it kept."""
    found = promises(BOARD)
    past = earning(-10.0, -1.0, probe=(-10.0, 999.0))
    assert "but a step of experiment p2.1 earned 999. The task text says:" in in_words(found, past)
    assert "no program has earned it, but a step of experiment p2.1 earned 999: see" in to_earn(found, past)
    assert "no step has earned it." in to_earn(found, earning(-10.0, -1.0, probe=(-10.0, -1.0)))
    assert in_words([], earning(-1.0, 2.0, probe=(0.0, 5.0))).endswith(
        "; a step of experiment p2.1 earned 5."
    )
    assert in_words(found, History()) == ""


def test_what_only_an_experiment_has_lost_is_told() -> None:
    """A death that no program has died yet."""
    said = in_words([], earning(-0.3, 1.0, probe=(-29.5, 0.9)))
    assert (
        said
        == "Single steps of programs have earned from -0.3 to 1 so far; a step of experiment p2.1 earned -29.5."
    )
    assert "experiment" not in in_words([], earning(-0.3, 1.0, probe=(-0.4, 0.9)))


def test_a_bonus_without_a_number_is_a_promise_as_long_as_nothing_was_earned() -> None:
    """Who has earned something may have had it."""
    found = promises(BOARD)
    assert "Reaching the goal gives a large bonus." in [one.words for one in unseen(found, -1.0)]
    assert unseen([one for one in found if not one.amount], 982.0) == []
    assert in_words(found, earning(-10.0, -1.0)).startswith(
        "No step of any program has earned more than -1 so far (least -10)"
    )


def test_a_number_in_the_code_is_a_promise() -> None:
    """Only amounts clearly above what was earned."""
    found = promises(PRESS)
    assert [one.amount for one in found] == [10.0]
    assert unseen(found, 2.0)
    assert not unseen(found, 9.5)
    assert (
        in_words(found, earning(-0.1, 9.5)) == "Single steps of programs have earned from -0.1 to 9.5 so far."
    )


@pytest.mark.parametrize(
    ("sentence", "amount"),
    [
        ("Landing safely is rewarded with +100 points.", 100.0),
        ("The plant pays a bonus of 5.", 5.0),
        ("A reward of 1,000 is given at the goal.", 1000.0),
        ("The total reward of an episode is 300 points.", None),
        ("For example, if you finish in 732 frames, your reward is 1000 - 0.1*732 = 926.8 points.", None),
        ("The reward at the goal is 100, and the target is x = 5.", 100.0),
        ("The pole is 2 m long.", None),
        ("Some cells cost far more than the bonus is worth.", None),
        ("The reward is 1 - 0.9 * steps / 270.", 1.0),
    ],
)
def test_amounts_are_read_from_sentences_about_rewards(sentence: str, amount: float | None) -> None:
    """Not those of whole episodes, and not other numbers."""
    found = [one.amount for one in promises(f'"""A task.\n\n{sentence}\n"""\n')]
    assert found == ([] if amount is None else [amount])


def test_what_is_no_spec_promises_nothing() -> None:
    """A user's text may be anything."""
    assert promises("not python (") == ()
