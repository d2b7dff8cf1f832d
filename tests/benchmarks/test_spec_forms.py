"""The inventions, and the table of the four forms."""

from typing import Any

import gymnasium
import pytest

from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo_benchmarks.environments.inventions import INVENTIONS
from promptpo_benchmarks.spec_forms import FORMS, first_prompt, table


@pytest.mark.parametrize("name", INVENTIONS)
def test_an_invention_repeats_and_ends(name: str) -> None:
    """Equal seeds give equal episodes, whose observations lie in their space."""

    def episode() -> list[float]:
        env: gymnasium.Env[Any, Any] = make_env(Task(INVENTIONS[name]))
        observation, _ = env.reset(seed=3)
        env.action_space.seed(3)
        rewards, over = [], False
        while not over:
            assert env.observation_space.contains(observation)
            observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
            rewards.append(float(reward))
            over = terminated or truncated
        return rewards

    first = episode()
    assert episode() == first
    assert len(first) <= 200


def test_forms_tell_more_or_less_of_the_same() -> None:
    """Only the source has how the state moves; only shapes keep the names of the fields to themselves."""
    prompts = {form: first_prompt(INVENTIONS["Greenhouse"], form) for form in FORMS}
    assert [form for form, text in prompts.items() if "exchange" in text] == ["source"]
    assert [form for form, text in prompts.items() if "inside_temperature" not in text] == ["shapes"]
    assert "def _growth(" in prompts["checked"]
    assert "def _growth(" not in prompts["words"]


def test_the_table_has_each_form_beside_checked_code() -> None:
    """What fails loses."""
    rows = [
        {"env": "Kiln", "form": form, "earned": value, "characters": 3000}
        for form, value in (("checked", 2.0), ("source", 3.0), ("words", None))
    ]
    lines = table(rows)
    assert any(line.startswith("Kiln") and "fails" in line for line in lines)
    assert any("source: 1 answers, 0 fail" in line and "beats checked code in 100%" in line for line in lines)
    assert any("words: 1 answers, 1 fail" in line and "beats checked code in 0%" in line for line in lines)
