"""Lifting numbers out of code, and putting them back."""

import ast

import pytest

from promptpo.search.tuning import lift_constants, read_params, unlift_constants, write_params

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


def test_gains_and_thresholds_are_lifted_and_structure_is_not():
    """Floats become parameters with bounds of their size; 0.0, 1.0, exponents and indices stay."""
    lifted = lift_constants(WITHOUT_INIT)
    assert [value for value, _, _ in read_params(lifted).values()] == [1.5, 0.25, 0.1, 0.05]
    assert read_params(lifted)["act_0"] == (1.5, 0.375, 6.0)
    assert "** 2.0" in lifted
    assert "int(0.5)" in lifted
    assert "LIMIT = 2.5" in lifted


@pytest.mark.parametrize("source", [WITHOUT_INIT, WITH_INIT])
def test_unlifting_gives_the_source_back(source):
    """Lifting and unlifting changes nothing."""
    lifted = lift_constants(source)
    assert lifted != source
    ast.parse(lifted)
    assert unlift_constants(lifted) == source


def test_tuned_values_come_back_as_literals():
    """The tuned number stands where the original stood."""
    tuned = write_params(lift_constants(WITH_INIT), {"init_0": 1.25})
    assert unlift_constants(tuned) == WITH_INIT.replace("0.75", "1.25")


def test_an_init_without_params_gets_them():
    """The sandbox hands parameters to `__init__`, so it must take them."""
    lifted = lift_constants(WITH_INIT)
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
def test_sources_with_nothing_to_lift_stay(source):
    """Declared parameters, no class, no floats, no Python: nothing to do."""
    assert lift_constants(source) == source
    assert unlift_constants(source) == source
