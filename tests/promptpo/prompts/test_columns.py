"""Column names of an episode's table."""

import pytest

from promptpo.prompts.columns import component_name
from promptpo.spec.reading import names_of

SPEC = """
class State:
    def __init__(self, obs):
        self.height = obs[0]
        self.joints = obs[2:5]
        self.goal = obs["goal"]


class Action:
    def __init__(self, action):
        self.torque = action[0]
"""


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("obs[0]", "height"),
        ("obs[1]", "obs[1]"),
        ("obs[2]", "joints[0]"),
        ("obs[4]", "joints[2]"),
        ("obs[5]", "obs[5]"),
        ("obs['goal'][1]", "goal[1]"),
        ("action[0]", "torque"),
        ("obs", "obs"),
    ],
)
def test_components_are_named_after_the_spec(label: str, name: str) -> None:
    """Components of a vector get an index; those without a name keep their place."""
    assert component_name(label, names_of(SPEC)) == name


def test_spec_that_is_no_python_has_no_names() -> None:
    """An edited spec may be anything."""
    assert names_of("class State(:") == {}
