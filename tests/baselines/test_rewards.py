"""Training on a reward program: the same returns as in the sandbox, and results that name it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from promptpo.cli.app import run as command
from promptpo.envs import rewarded
from promptpo.envs.task import Task
from promptpo.errors import RewardFaultError
from promptpo.program.reward_program import reward_program
from promptpo_baselines.agents import ZeroAgent
from promptpo_baselines.environments import make_flat_env
from promptpo_baselines.evaluation import Evaluator
from promptpo_sandbox import Sandbox, Trial
from tests.promptpo.rewards import LATE_CRASH, LEFT

TASK = Task("CartPole-v1", reward=reward_program(LEFT, file="left.py"))
ZERO = "class Policy:\n    def act(self, obs):\n        return 0\n"


def test_training_and_sandbox_give_the_same_rewards() -> None:
    """Step by step in the wrapper, in blocks in the sandbox."""
    import gymnasium

    evaluator = Evaluator(TASK)
    env = make_flat_env(TASK)
    evaluation = evaluator.evaluate(ZeroAgent(env.action_space), range(5))
    evaluator.close()
    env.close()
    assert rewarded._share_program.cache_info().currsize == 1  # one process has served both
    with Sandbox() as box:
        envs = [gymnasium.make("CartPole-v1")]
        played = box.rollout(ZERO, envs, [Trial(seed) for seed in range(5)], reward=LEFT)
    for one, other in zip(evaluation.episodes, played.episodes, strict=True):
        assert (one.return_, one.env_return, one.success) == (other.return_, other.env_return, other.success)
        assert dict(one.parts) == dict(other.parts)


def test_reward_that_fails_in_training_gets_one_sentence() -> None:
    """It has the step and blames the reward."""
    env = make_flat_env(Task("Pendulum-v1", reward=reward_program(LATE_CRASH, file="late.py")))
    env.reset(seed=0)
    for _ in range(149):
        env.step(env.action_space.sample())
    with pytest.raises(RewardFaultError, match=r"late.py failed: at step 149: .*ZeroDivisionError"):
        env.step(env.action_space.sample())
    env.close()


@pytest.fixture
def hyperparameters(tmp_path: Path) -> str:
    """A file of hyperparameters with short rollouts."""
    path = tmp_path / "small.yml"
    path.write_text("default: {n_steps: 32, batch_size: 32}")
    return str(path)


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """A reward program in a file."""
    path = tmp_path / "left.py"
    path.write_text(LEFT)
    return path


def _command(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert command([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_ppo_trains_on_a_reward_program(
    left: Path, hyperparameters: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The result has both returns; resuming requires the same program."""
    common = [
        "--reward",
        str(left),
        "--validation-episodes",
        "2",
        "--test-episodes",
        "3",
        "--hyperparams",
        hyperparameters,
        "--eval-every",
        "1000",
        "--max-episode-steps",
        "30",
    ]
    out = ["--out", str(tmp_path / "run")]
    result = _command(capsys, "baseline", "ppo", "CartPole-v1", "--steps", "128", *common, *out)
    assert result["test"]["env_mean_return"] > 0
    assert set(result["test"]["reward_parts"]) == {"left", "right"}
    assert result["reward"]["file"] == "left.py"
    assert (tmp_path / "run" / "reward.py").read_text() == LEFT
    left.write_text(LEFT.replace("2 * left", "3 * left"))
    assert command(["baseline", "ppo", "CartPole-v1", "--steps", "256", *common, *out, "--resume"]) == 2
    assert "other settings" in capsys.readouterr().err


def test_refining_trains_on_the_named_reward(
    left: Path, hyperparameters: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "zero.py").write_text(ZERO)
    arguments = [
        "--env", "CartPole-v1", "--reward", str(left), "--steps", "64", "--validation-episodes", "2",
        "--test-episodes", "2", "--hyperparams", hyperparameters, "--eval-every", "1000", "--max-episode-steps", "30", "--out", str(tmp_path / "refined"),
    ]  # fmt: skip
    result = _command(capsys, "refine", str(tmp_path / "zero.py"), *arguments)
    assert result["reward"]["file"] == "left.py"
    assert result["test"]["env_mean_return"] > 0
    assert set(result["test"]["reward_parts"]) == {"left", "right"}
