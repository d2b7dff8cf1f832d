"""When an environment counts an episode as a success, as its own source computes it."""

from typing import Any

import gymnasium
import numpy as np
import pytest

from promptpo.envs.task import Task
from promptpo.spec import describe
from promptpo.spec.success import success_condition
from tests.promptpo.envs.test_building import needs


def near(a: Any, b: Any) -> Any:
    """Distance of two places."""
    return np.linalg.norm(a - b)


class Reach(gymnasium.Env[Any, Any]):
    """Reach the target."""

    tolerance = 0.05
    x: Any
    target: Any

    def step(self, action: Any) -> Any:
        self.x = self.x + action
        reward, distance = self.compute(action)
        info = {"success": float(distance <= self.tolerance), "steps": 1}
        return self.x, reward, False, False, info

    def compute(self, action: Any) -> Any:
        off = near(self.x, self.target)
        return -off, off


class Lucky(Reach):
    """Succeeds by chance."""

    def step(self, action: Any) -> Any:
        info = {"success": self.np_random.random() < 0.5}
        return self.x, 0.0, False, False, info


class Knotty(Reach):
    """Succeeds by a count that is kept on the way."""

    def step(self, action: Any) -> Any:
        done = False
        for x in self.x:
            done = done or x > 0
        return self.x, 0.0, False, False, {"success": done}


def test_the_condition_is_traced_to_what_it_is_computed_from() -> None:
    """Through the results of another method, constants resolved."""
    assert success_condition(Reach(), "success") == "np.linalg.norm(env.x - env.target) <= 0.05"
    assert success_condition(Reach(), "is_success") == ""


@pytest.mark.parametrize("cls", [Lucky, Knotty])
def test_what_is_chance_or_a_story_is_not_told(cls: Any) -> None:
    """No random numbers, and no name that a reader cannot know."""
    assert success_condition(cls(), "success") == ""


@needs("metaworld")
def test_a_tolerance_in_the_source_is_told() -> None:
    """The distance within which a puck is in its place."""
    assert (
        "np.linalg.norm(obs[4:7] - env._target_pos) <= 0.07"
        in describe(Task("Meta-World/pick-place-v3")).text
    )


@pytest.mark.slow
@needs("metaworld")
def test_an_anonymous_spec_has_no_condition() -> None:
    """One over the simulator's parts would give the environment away."""
    text = describe(Task("Meta-World/hammer-v3"), reveal="anonymous").text
    assert """"success": 'info["success"] at any step of the episode',""" in text
