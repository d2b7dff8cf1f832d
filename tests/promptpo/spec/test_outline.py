"""The outline of a task: the facts of a spec without the text that only a model reads."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from promptpo.envs.task import RewardProgram, Task
from promptpo.spec.describe import describe
from promptpo.spec.outline import outline
from promptpo.spec.reading import names_of

OUTLINE_OMITS = {"text", "gaps", "info", "first_frames", "evidence", "sample_rate", "firsts"}
"""Fields for the model only, and those that depend on timing."""


@pytest.mark.parametrize("env_id", ["CartPole-v1", "Pendulum-v1", "FrozenLake-v1"])
def test_outline_has_the_facts_and_names_of_the_spec(env_id: str) -> None:
    """Reward and prose are omitted."""
    task = Task(env_id)
    short, whole = outline(task), describe(task)
    for name in {field.name for field in fields(short)} - OUTLINE_OMITS:
        np.testing.assert_equal(getattr(short, name), getattr(whole, name), err_msg=name)
    assert names_of(short.text) == names_of(whole.text)
    assert f'"max_steps": {whole.horizon}' in short.text
    assert "def reward" not in short.text


def test_outline_of_a_reward_program_has_its_success_and_no_threshold() -> None:
    source = "class Reward:\n    def step(self, obs, action, next_obs, env_reward):\n        return 1.0\n"
    task = Task("CartPole-v1", reward=RewardProgram(source, "d1", says_success=True))
    short: Any = outline(task)
    whole = describe(task)
    assert (short.reward_threshold, short.reports_success) == (whole.reward_threshold, whole.reports_success)
