"""Actions as words, answers as actions, and values of actions."""

import math
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st

from promptpo.errors import UnsupportedSpaceError
from promptpo_baselines.llm_agent.actions import Named, Numbers, actions_of
from promptpo_baselines.llm_agent.agent import label_logprobs
from promptpo_baselines.llm_agent.prompts import check_observations, format_observation
from promptpo_baselines.llm_agent.values import FLOOR, StepValues

SPEC = '''
class Action:
    """What act returns."""

    MOVE_LEFT = 0
    MOVE_DOWN = 1  # towards the goal, if the ice lets you
    STAY = 2  # for one step


'''
THREE = Named(spaces.Discrete(3), {0: "MOVE_LEFT", 1: "MOVE_DOWN: towards the goal", 2: "STAY: for one step"})
TORQUES = Numbers(
    spaces.Box(np.array([-2.0, 0.0]), np.array([2.0, 1.0]), dtype=np.float64), {0: "torque: N m"}
)


def test_actions_are_described_as_in_the_spec() -> None:
    """By names, with the comments of their lines."""
    described = actions_of(spaces.Discrete(3), SPEC).describe()
    assert described.splitlines() == [
        "(A) MOVE_LEFT",
        "(B) MOVE_DOWN: towards the goal, if the ice lets you",
        "(C) STAY: for one step",
    ]
    assert "1. from -2 to 2: torque: N m" in TORQUES.describe()


def test_action_space_with_an_offset_keeps_its_values() -> None:
    """The letter A means the first value, and the spec's names belong to values."""
    actions = actions_of(spaces.Discrete(2, start=1), SPEC)
    assert isinstance(actions, Named)
    assert actions.describe().splitlines()[0].startswith("(A) MOVE_DOWN")
    choice = actions.read("A")
    assert choice is not None
    assert choice.action == 1


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("B", 1), ("(b)", 1), (" B)", 1), ("Action: C", 2), ("**A**", 0), ("`C`", 2), ("A: MOVE_LEFT", 0),
        ("I would MOVE_DOWN here", 1), ("The best is (C).", 2), ("\n\nB\n", 1), ("A - because", 0),
        ("D", None), ("", None), ("I cannot tell", None), ("(A) or (B)?", 0), ("either STAY or MOVE_LEFT", None),
        ("A good question", None),
    ],
)  # fmt: skip
def test_letter_or_name_is_parsed(text: str, index: Any) -> None:
    """An answer that names none or two is invalid."""
    choice = THREE.read(text)
    assert (None if choice is None else choice.action) == index


@pytest.mark.parametrize(
    ("text", "numbers", "clipped"),
    [
        ("0.5, 1", [0.5, 1.0], False), ("[0.5, 1]", [0.5, 1.0], False), ("torque [9, -1e3]", [2.0, 0.0], True),
        ("-.5 .25]", [-0.5, 0.25], False), ("0.5", None, False), ("1 2 3", None, False), ("nan, inf", None, False),
        ("[1e999, 0]", None, False), ("none", None, False),
    ],
)  # fmt: skip
def test_numbers_are_parsed_and_clipped(text: str, numbers: Any, clipped: bool) -> None:
    """The right count of finite numbers, within the bounds."""
    choice = TORQUES.read(text)
    assert (choice is None) == (numbers is None)
    if choice is not None:
        assert choice.action.tolist() == numbers
        assert choice.clipped == clipped


@given(st.text(max_size=60))
def test_any_answer_is_an_action_or_none(text: str) -> None:
    """Parsing never fails, and the result is legal."""
    named, torques = THREE.read(text), TORQUES.read(text)
    assert named is None or named.action in (0, 1, 2)
    assert torques is None or bool(np.all((torques.action >= [-2, 0]) & (torques.action <= [2, 1])))


def test_unsupported_spaces_are_refused() -> None:
    """The sentence names an alternative; images are refused too."""
    for space in (spaces.MultiDiscrete([2, 2]), spaces.Discrete(27), spaces.Box(-1, 1, (9,))):
        with pytest.raises(UnsupportedSpaceError, match="promptpo optimize"):
            actions_of(space, "")
    with pytest.raises(UnsupportedSpaceError, match="as text"):
        check_observations(spaces.Dict({"camera": spaces.Box(0, 255, (20, 20, 3), np.uint8)}), "it")


def test_observations_are_written_with_few_digits() -> None:
    """Numbers, arrays, text and containers."""
    observation = {"where": np.array([0.123456, -2.0]), "word": 'a "b"', "pair": (3, np.int64(4))}
    assert format_observation(observation) == '{where: [0.123, -2], word: "a \\"b\\"", pair: [3, 4]}'


def test_probability_of_a_label_sums_over_its_tokens() -> None:
    """Tokens may have a space or a bracket; a missing label gets the probability of the least likely token."""
    chances = label_logprobs(
        {" A": math.log(0.2), "A": math.log(0.3), "(B": math.log(0.4), "x": math.log(0.01)}, "ABC"
    )
    assert chances is not None
    assert np.exp(chances).tolist() == pytest.approx([0.5, 0.4, 0.01])
    assert label_logprobs({"x": -1.0}, "ABC") is None
    assert label_logprobs({}, "ABC") is None


def test_values_come_from_near_states() -> None:
    """An action that was never taken has the mean of all."""
    places = [[x] for x in np.linspace(-1, 1, 40)] * 2
    actions = [0] * 40 + [1] * 40
    returns = [-x for (x,) in places[:40]] + [x for (x,) in places[40:]]
    space = spaces.Box(-1, 1, (1,))
    values = StepValues(space, 3, [np.array(p, np.float32) for p in places], actions, returns)
    at_right = values.of(np.array([0.9], np.float32))
    assert at_right[1] > 0.8
    assert at_right[0] < 0.2
    assert at_right[2] == pytest.approx(0.5, abs=0.05)
    assert values.of(np.array([-0.9], np.float32))[0] > 0.8
    assert min(at_right) >= FLOOR
