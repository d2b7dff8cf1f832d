"""What is known of packages' environments is said of these alone."""

import tomllib
from importlib import resources
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.classic_control import CartPoleEnv

from promptpo.spec.known import Supplement, supplement_of

ENTRIES = tomllib.loads(resources.files("promptpo.spec").joinpath("known.toml").read_text("utf-8"))["entries"]
CLASSES = sorted({entry["class"].rpartition(".")[2] for entry in ENTRIES})


class Private(gymnasium.Env[Any, Any]):
    """A class of one's own, under another's name."""

    observation_space = spaces.Box(-50, 50, (4,))
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return np.zeros(4, np.float32), {}


class Heavier(CartPoleEnv):
    """What is told of the original need not hold of a class that is made from it."""


@pytest.mark.parametrize("name", CLASSES)
def test_a_private_class_under_a_known_name_has_nothing_from_the_table(name: str) -> None:
    """Neither another environment's text nor an expression that fails on it."""
    assert supplement_of(type(name, (Private,), {"__module__": "my.package"})()) == Supplement(choices=())


def test_a_class_made_from_a_known_one_has_nothing_from_the_table() -> None:
    """Its dynamics, numbers and actions may be others."""
    assert supplement_of(Heavier()) == Supplement(choices=())
    assert supplement_of(gymnasium.make("CartPole-v1")).description


def test_an_expression_that_fails_leaves_its_entry_out() -> None:
    """As where another version of the package has renamed an attribute."""
    env = gymnasium.make("Pendulum-v1")
    del env.unwrapped.max_torque
    assert supplement_of(env) == Supplement(choices=())
