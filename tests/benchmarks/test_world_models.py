"""The measures of world models: accuracy and planning score by their definition, and planning in the true environment."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from benchmarks.world_models.cwmb import accuracy, planning_score
from benchmarks.world_models.steps import WorldRow, table
from benchmarks.world_models.true_world import TruePlanner
from sandbox import Predictions, Recorded

SPACE = spaces.Box(-10.0, 10.0, (2,), np.float32)


def test_accuracy_is_the_mean_of_three_matches() -> None:
    """Numbers of the next observation count by share, reward and ending wholly; after the end these two alone."""
    episode = Recorded(
        np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]),
        np.zeros(2, np.int64),
        np.array([1.0, 5.0]),
        terminated=True,
    )
    perfect = Predictions(np.array([[1.0, 1.0], [9.0, 9.0]]), np.array([1.0, 5.0]), np.array([False, True]))
    assert accuracy([episode], SPACE, perfect) == 1.0
    half = Predictions(
        np.array([[1.0, 1.1], [2.0, 2.0]]), np.array([1.0 + 5e-6, 4.0]), np.array([False, True])
    )
    assert accuracy([episode], SPACE, half) == pytest.approx(((0.5 + 1 + 1) / 3 + (0 + 1) / 2) / 2)


def test_the_planning_score_is_relative() -> None:
    """1 where the model serves as well as the truth, 0 where it is as good as chance, none where planning is no use."""
    assert planning_score(50.0, 100.0, 0.0) == 0.5
    assert planning_score(-20.0, 100.0, -20.0) == 0.0
    assert math.isnan(planning_score(0.0, -200.0, -200.0))


@pytest.mark.parametrize(
    "env_id", ["Blackjack-v1", "CliffWalking-v1", "Taxi-v4", "MountainCar-v0", "Pendulum-v1"]
)
def test_planning_in_the_true_environment_leaves_it_as_it_is(env_id: str) -> None:
    """What is tried out in copies changes nothing in the environment that is played."""
    env: Any = gymnasium.make(env_id)
    kind = "tree" if isinstance(env.action_space, spaces.Discrete) else "shooting"
    obs, _ = env.reset(seed=3)
    planner = TruePlanner(env, kind)
    action = planner.act(obs)
    assert env.action_space.contains(action)
    twin = gymnasium.make(env_id)
    twin.reset(seed=3)
    for one, other in zip(env.step(action)[:3], twin.step(action)[:3], strict=True):
        np.testing.assert_array_equal(one, other)


def test_steps_saved_are_told_by_environment_and_recipe() -> None:
    """A row says how many seeds reached the target and after how many steps."""
    rows = [
        WorldRow("A-v0", 10.0, "model", seed, reached, 900, 9.5, 1.0, "solved: at last")
        for seed, reached in ((1, 300), (2, None))
    ]
    [line] = table(rows)
    assert line == ("A-v0", "10", "model", "1 of 2", "300, -", "9.5, 9.5", "solved, solved", "1, 1")
