"""Loading agents, our own and those that stable-baselines3 saved elsewhere."""

import json
from pathlib import Path
from typing import Any

import pytest

from promptpo.cli.app import run
from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo_baselines.algorithms import ALGORITHMS, DISCRETE_ONLY, algorithm_class, algorithm_of
from promptpo_baselines.play import load_agent


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_algorithm_of_a_foreign_agent_is_recognised(algorithm: Any, tmp_path: Path) -> None:
    """The zip file alone is enough."""
    env = make_env(Task("CartPole-v1" if algorithm in DISCRETE_ONLY else "Pendulum-v1"))
    algorithm_type: Any = algorithm_class(algorithm)
    algorithm_type("MlpPolicy", env).save(tmp_path / "agent.zip")
    assert algorithm_of(tmp_path / "agent.zip") == algorithm
    observation, _ = env.reset(seed=0)
    action, state = load_agent(tmp_path / "agent.zip").predict(observation)
    assert env.action_space.contains(action)
    assert state is None


def test_discrete_action_is_an_int(tmp_path: Path) -> None:
    env = make_env(Task("CartPole-v1"))
    make: Any = algorithm_class("ppo")
    make("MlpPolicy", env).save(tmp_path / "agent.zip")
    action, _ = load_agent(tmp_path / "agent.zip").predict(env.reset(seed=0)[0])
    assert isinstance(action, int)
    assert action in {0, 1}


def test_missing_or_other_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no agent"):
        load_agent(tmp_path / "none.zip")
    (tmp_path / "text.zip").write_text("no zip")
    with pytest.raises(UsageError, match="not an agent"):
        load_agent(tmp_path / "text.zip")


def test_promptpo_evaluate_plays_a_saved_agent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It prints the same JSON as for a policy file; another environment is refused."""
    agent = tmp_path / "agent.zip"
    env = make_env(Task("CartPole-v1"))
    make: Any = algorithm_class("ppo")
    make("MlpPolicy", env, seed=0).save(agent)
    assert (
        run(["evaluate", str(agent), "--env", "CartPole-v1", "--episodes", "3", "--seed", "5", "--json"]) == 0
    )
    report = json.loads(capsys.readouterr().out)
    assert (report["env"], report["episodes"], report["outcome"]) == ("CartPole-v1", 3, "ok")
    assert report["steps"] == sum(report["returns"])
    assert run(["evaluate", str(agent), "--env", "Pendulum-v1"]) == 2
    assert "was it trained on it?" in capsys.readouterr().err
