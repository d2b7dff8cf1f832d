"""Lifting numbers out of code, and putting them back."""

import ast
from typing import Any

import pytest

from promptpo.program import Program

WITHOUT_INIT = '''"""A balancer."""
import numpy as np

LIMIT = 2.5


class Policy:
    """Holds a pole up."""

    def act(self, obs):
        x, v = obs[0], obs[1]
        push = 1.5 * x + 0.25 * v ** 2.0 - 0.1  # lean
        if push > 1.0 or obs[int(0.5)] < -0.05:
            return np.clip(push, -1.0, 1.0, dtype=np.float32)
        return 0
'''

WITH_INIT = """class Policy:
    def __init__(self):
        self.gain = 0.75
        self.n = 3

    def act(self, obs):
        return self.gain * obs[0]
"""


def test_gains_and_thresholds_are_lifted_and_structure_is_not() -> None:
    """Floats become parameters with bounds of their size; 0.0, 1.0, exponents and indices stay."""
    program = Program(WITHOUT_INIT).lifted()
    lifted = program.source
    assert [value for value, _, _ in program.params.values()] == [1.5, 0.25, 0.1, 0.05]
    assert program.params["act_0"] == (1.5, 0.375, 6.0)
    assert "** 2.0" in lifted
    assert "int(0.5)" in lifted
    assert "LIMIT = 2.5" in lifted


@pytest.mark.parametrize("source", [WITHOUT_INIT, WITH_INIT])
def test_unlifting_gives_the_source_back(source: Any) -> None:
    """Lifting and unlifting changes nothing."""
    lifted = Program(source).lifted()
    assert lifted.source != source
    ast.parse(lifted.source)
    assert lifted.unlifted().source == source


def test_tuned_values_come_back_as_literals() -> None:
    """The tuned number stands where the original stood."""
    tuned = Program(WITH_INIT).lifted().with_values({"init_0": 1.25})
    assert tuned.unlifted().source == WITH_INIT.replace("0.75", "1.25")


def test_an_init_without_params_gets_them() -> None:
    """The sandbox hands parameters to `__init__`, so it must take them."""
    lifted = Program(WITH_INIT).lifted().source
    assert "def __init__(self, params):" in lifted
    assert "self.lifted = params" in lifted


@pytest.mark.parametrize(
    "source",
    [
        "PARAMS = {'a': (1.0, 0.0, 2.0)}\n" + WITH_INIT,
        "def act(obs):\n    return 0.3 * obs\n",
        "class Policy:\n    def act(self, obs):\n        return 1\n",
        "class Policy(",
    ],
)
def test_sources_with_nothing_to_lift_stay(source: Any) -> None:
    """Declared parameters, no class, no floats, no Python: nothing to do."""
    assert Program(source).lifted().source == source
    assert Program(source).unlifted().source == source


INHERITING = """class Base:
    def __init__(self):
        self.bias = 2


class Policy(Base):
    def act(self, obs):
        return 0.75 * obs[0] + self.bias
"""

TAKING = INHERITING.replace("(self):", "(self, params):").replace("2\n", "params.get('bias', 2)\n")


@pytest.mark.parametrize("source", [INHERITING, TAKING])
def test_an_inherited_constructor_is_still_called(source: Any) -> None:
    """Lifting adds a constructor, which must not hide the one of the base class."""
    import gymnasium

    from sandbox import Sandbox, Trial

    lifted = Program(source).lifted()
    assert lifted.values == {"act_0": 0.75}
    assert lifted.unlifted().source == source

    class One(gymnasium.Env):
        observation_space = gymnasium.spaces.Box(0.0, 9.0, (1,))
        action_space = gymnasium.spaces.Box(-9.0, 9.0, ())

        def reset(self, *, seed: Any = None, options: Any = None) -> Any:
            return self.observation_space.high, {}

        def step(self, action: Any) -> Any:
            return self.observation_space.high, float(action), True, False, {}

    with Sandbox(allow_weaker=True) as box:
        plain = box.rollout(source, [One()], [Trial(0)])
        tuned = box.rollout(lifted.source, [One()], [Trial(0, lifted.values)])
    assert plain.failure is None, plain.failure
    assert tuned.failure is None, tuned.failure
    assert plain.episodes[0].return_ == tuned.episodes[0].return_ == 8.75


@pytest.mark.parametrize(
    "source",
    [
        "class Policy:\n    __slots__ = ('a',)\n    def act(self, obs):\n        return 0.3\n",
        "@wrapped\nclass Policy:\n    def act(self, obs):\n        return 0.3\n",
        "class Policy:\n    def __init__(\n        self,\n    ):\n        self.a = 0.3\n",
        "class Policy:\n    def act(self, obs):\n        self.lifted = 0.3\n        return self.lifted\n",
    ],
)
def test_what_cannot_be_lifted_faithfully_stays(source: str) -> None:
    """Rather no parameters than a policy that no longer does the same."""
    assert Program(source).lifted().source == source


def test_a_constructor_that_takes_an_argument_keeps_it() -> None:
    """Its own name for the parameters is used, and still there afterwards."""
    source = (
        "class Policy:\n    def __init__(self, p):\n        self.a = 0.3\n\n"
        "    def act(self, obs):\n        return self.a\n"
    )
    lifted = Program(source).lifted()
    assert lifted.values == {"init_0": 0.3}
    assert "__init__(self, p):" in lifted.source
    assert lifted.unlifted().source == source


def test_patterns_are_structure() -> None:
    """A float in a ``case`` stays; a parameter cannot stand there."""
    source = "class Policy:\n    def act(self, obs):\n        match obs:\n            case 0.3:\n                return 0.4\n"
    assert Program(source).lifted().values == {"act_0": 0.4}
