"""Spaces in words, as prompts and specs describe them."""

import enum
import re
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from promptpo.envs.contract import ContractEnv
from promptpo.envs.spaces import form_of, leaves
from promptpo.errors import EnvironmentFaultError, UnsupportedSpaceError


@pytest.mark.parametrize(
    ("space", "words"),
    [
        (spaces.Discrete(4, start=-1), "int, -1 .. 2"),
        (spaces.Box(0, 1, (2, 3)), "np.ndarray, shape (2, 3), float32"),
        (spaces.MultiBinary(3), "zeros and ones"),
        (spaces.MultiDiscrete([2, 3]), "np.ndarray of ints, shape (2,)"),
        (spaces.Text(5), "str"),
        (spaces.Dict({"a": spaces.Discrete(2)}), 'dict with "a": int, 0 .. 1'),
        (spaces.Tuple((spaces.Discrete(2), spaces.Discrete(3))), "tuple of (int, 0 .. 1; int, 0 .. 2)"),
    ],
)
def test_spaces_are_described_by_shape_type_and_range(space: Any, words: str) -> None:
    assert words in form_of(space)


def test_unwritable_key_of_a_dict_space_is_refused() -> None:
    """Enumeration members that are neither strings nor numbers cannot be written in a policy."""
    key = enum.Enum("Colour", ["RED"]).RED
    with pytest.raises(UnsupportedSpaceError, match="RED"):
        list(leaves(spaces.Dict({"a": spaces.Dict({key: spaces.Discrete(2)})})))


@pytest.mark.parametrize(
    ("observation", "lacks"),
    [
        ({"t": "word"}, 'obs["a"]'),
        ({"a": 1}, 'obs["t"]'),
        ("word", 'obs["a"]'),
        ({"a": 1, "t": "word", "x": np.zeros(2)}, r'obs["x"] has shape (2,)'),
    ],
)
@pytest.mark.parametrize("late", [False, True])
def test_incomplete_observation_gets_one_sentence(observation: Any, lacks: str, late: bool) -> None:
    """It may be incomplete at reset or later; lists may stand for arrays."""
    whole = {"a": 1, "t": "word", "x": [0.0, 1.0, 2.0]}

    class Partial(gymnasium.Env[Any, Any]):
        observation_space = spaces.Dict(
            {"a": spaces.Discrete(3), "t": spaces.Text(8), "x": spaces.Box(0, 9, (3,))}
        )
        action_space = spaces.Discrete(2)

        def reset(self, **_: Any) -> Any:
            return whole if late else observation, {}

        def step(self, action: Any) -> Any:
            return observation, 0.0, True, False, {}

    env = ContractEnv(Partial(), "Partial")
    with pytest.raises(EnvironmentFaultError, match=re.escape(lacks)):
        env.step(env.reset()[0]["a"])
