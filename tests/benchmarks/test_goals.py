"""PPO on a written reward beside PPO on the environment's own: the rewards, and the table."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.goals.__main__ import OWN, row
from benchmarks.goals.rewards import ANSWERS, GOALS, program_for
from promptpo.errors import UsageError


@pytest.mark.parametrize("env_id", GOALS)
def test_prompt_and_answer_lie_beside_the_results(env_id: str) -> None:
    """The answer holds a program that the gate lets pass, for the sentence that the prompt asks about."""
    goal, steps = GOALS[env_id]
    written = program_for(env_id, goal, ANSWERS)
    assert written.goal == goal
    assert written.says_success
    assert steps > 0
    prompt = (ANSWERS / f"{env_id}.prompt.md").read_text()
    assert goal in prompt
    assert "Write the reward program for the goal" in prompt


def test_a_model_is_asked_once_where_there_is_no_answer(tmp_path: Path) -> None:
    """Prompt and answer are kept; without a model it is one sentence."""
    with pytest.raises(UsageError, match="--model"):
        program_for("CartPole-v1", "stand on the left", tmp_path)
    answer = tmp_path / "said.txt"
    answer.write_text((ANSWERS / "Pendulum-v1.md").read_text())
    model = f"exec:{sys.executable} -c \"print(open('{answer}').read())\""
    first = program_for("CartPole-v1", "stand on the left", tmp_path / "kept", model)
    answer.unlink()
    assert program_for("CartPole-v1", "stand on the left", tmp_path / "kept").digest == first.digest
    assert "stand on the left" in (tmp_path / "kept" / "CartPole-v1.prompt.md").read_text()


def test_runs_are_judged_by_what_the_environment_gives() -> None:
    """Whatever they were trained on; the mean over seeds, and how many episodes succeed."""
    runs = [
        (
            {"steps": {"train": 1000}, "steps_per_second": 500.0},
            {"env_returns": [value, value + 2.0], "success_rate": share},
        )
        for value, share in ((10.0, 0.5), (20.0, 1.0))
    ]
    line = row("Pendulum-v1", OWN, runs)
    assert line.returns == (11.0, 21.0)
    assert line.success == 0.75
    assert line.cells()[3:6] == ("16.0 [11.0, 21.0]", "11.0, 21.0", "75%")
