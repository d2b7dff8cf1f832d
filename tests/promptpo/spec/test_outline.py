"""The outline of a task where no model reads it."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from promptpo.envs.task import RewardProgram, Task
from promptpo.spec.describe import describe
from promptpo.spec.outline import outline
from promptpo.spec.reading import names_of

WORDS = {"text", "gaps", "info", "first_frames", "evidence", "sample_rate", "firsts"}
"""What only a model reads, and what a clock decides."""


@pytest.mark.parametrize("env_id", ["CartPole-v1", "Pendulum-v1", "FrozenLake-v1"])
def test_facts_and_names_are_those_of_a_whole_spec(env_id: str) -> None:
    """Spaces, length, threshold, starts and what things are called; no reward and no prose."""
    task = Task(env_id)
    found, whole = outline(task), describe(task)
    for name in {field.name for field in fields(found)} - WORDS:
        np.testing.assert_equal(getattr(found, name), getattr(whole, name), err_msg=name)
    assert names_of(found.text) == names_of(whole.text)
    assert f'"max_steps": {whole.horizon}' in found.text
    assert "def reward" not in found.text


def test_a_reward_program_has_its_own_success_and_no_threshold() -> None:
    """As in a whole spec."""
    source = "class Reward:\n    def step(self, obs, action, next_obs, env_reward):\n        return 1.0\n"
    task = Task("CartPole-v1", reward=RewardProgram(source, "d1", says_success=True))
    found: Any = outline(task)
    whole = describe(task)
    assert (found.reward_threshold, found.reports_success) == (whole.reward_threshold, whole.reports_success)
