"""Specs of large environments stay within their size."""

import pytest

from promptpo.envs.task import Task
from promptpo.spec import check_spec, describe
from promptpo.spec.fit import fitted
from promptpo.spec.parts import Field, Parts
from promptpo.telling.prompting import tokens
from tests.promptpo.envs.test_building import needs
from tests.promptpo.spec.envs import HERE


@pytest.mark.slow
@needs("gymnasium_robotics")
@pytest.mark.parametrize("env_id", ["FrankaKitchen-v1", "HandReach-v3"])
def test_the_largest_stay_below_the_limit(env_id: str) -> None:
    """The longest specs of all have at most 2,000 tokens, say more on demand, and are still right."""
    normal, full = (describe(Task(env_id), detail=detail).text for detail in ("normal", "full"))
    assert tokens(normal) <= 2000 < tokens(full)
    assert check_spec(normal, Task(env_id)) == []


def test_numbers_of_a_kind_share_a_line() -> None:
    """A run of like numbers becomes one field with their names in order; what differs stays apart."""
    angles = [Field(f"angle_of_joint_{i}", f"obs[{i}]", unit="rad") for i in range(40)]
    other = Field("height", "obs[40]", unit="m")
    short = fitted(Parts(observation=[*angles, other]), tokens=400)
    joints, height = short.observation
    assert (joints.name, joints.path, joints.form) == ("angle_of_joint", "obs[0:40]", "40 numbers")
    assert joints.meaning.startswith("in this order: 0, 1, 2,")
    assert height == other


def test_what_fits_is_left_alone() -> None:
    """Nothing is grouped or cut while there is room."""
    parts = Parts(observation=[Field(f"angle_{i}", f"obs[{i}]") for i in range(10)])
    assert fitted(parts, tokens=2000) == parts


def test_arrays_inside_dictionaries_are_read_whole() -> None:
    """Nested goals keep their owners' names apart, and like numbers are not listed one by one."""
    text = describe(Task(f"{HERE}:Mine/Chores-v0")).text
    for line in (
        'self.achieved_door = obs["achieved_goal"]["door"][0]',
        'self.achieved_pot = obs["achieved_goal"]["pot"]',
        'self.desired_pot = obs["desired_goal"]["pot"]',
    ):
        assert line in text


@needs("mujoco")
@pytest.mark.parametrize("env_id", ["HalfCheetah-v5", "Walker2d-v5", "Hopper-v5"])
def test_ranges_and_ends_of_a_robot_are_told(env_id: str) -> None:
    """Within the aim, with no sentence cut off."""
    text = describe(Task(env_id)).text
    assert tokens(text) <= 1600
    assert "# seen " in text
    assert '"end": ' in text or "def terminated():" in text
    assert " ..." not in text.replace("    ...  #", "")
    assert check_spec(text, Task(env_id)) == []
