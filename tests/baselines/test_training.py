"""Training runs: they learn, repeat, resume, and report what they did."""

import json
import math
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from promptpo.core.candidate import Seeds
from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.errors import UnsupportedSpaceError, UsageError
from promptpo_baselines.cli import main
from promptpo_baselines.play import load_agent
from promptpo_baselines.progress import Display
from promptpo_baselines.settings import TrainingSettings
from tests.baselines.budgets import total
from tests.baselines.late import Late, train
from tests.baselines.test_pausing import Telling
from tests.waiting import wait_until

checkpoints = Late("promptpo_baselines.checkpoints")

SMALL = """
default: {n_steps: 64, batch_size: 64, n_envs: 2, n_epochs: 2, normalize: true}
"""


SHORT = Task("Pendulum-v1", max_episode_steps=20)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A file of hyperparameters with short rollouts and normalisation."""
    path = tmp_path_factory.mktemp("rows") / "small.yml"
    path.write_text(SMALL)
    return str(path)


def run(settings: Any, directory: Any, *, resume: bool = False) -> Any:
    """Train without a display."""
    return train(settings, directory, resume=resume, display=Display())


def tiny(small: Any, **changes: Any) -> Any:
    """TrainingSettings of a run of a second."""
    given = {
        "algorithm": "ppo",
        "task": SHORT,
        "steps": total(256),
        "hyperparameters": small,
        "eval_every": 128,
        "validation_episodes": 2,
        "test_episodes": 3,
    }
    return TrainingSettings(**{**given, **changes})


@pytest.fixture(scope="module")
def trained(small: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """The folder and the result of a run; who changes the folder copies it."""
    directory = tmp_path_factory.mktemp("trained") / "run"
    return directory, run(tiny(small), directory)


def test_the_result_counts_every_step_by_purpose(trained: tuple[Path, Any]) -> None:
    """Training, validation and test steps are what was played; the curve starts before training."""
    directory, result = trained
    assert json.loads((directory / "result.json").read_text()) == result
    assert [point["steps"] for point in result["curve"]] == [0, 128, 256]
    tests = 3 if result["best"]["steps"] == 256 else 6
    assert result["steps"] == {
        "train": 256,
        "validation": 3 * 2 * 20,
        "test": tests * 20,
        "tune": 0,
        "total": 256 + 120 + tests * 20,
    }
    assert result["test"]["episodes"] == 3
    assert result["test"]["ci95"][0] <= result["test"]["mean_return"] <= result["test"]["ci95"][1]
    assert result["hyperparameters"]["normalize"] == {"gamma": 0.99}
    assert result["llm"]["calls"] == 0
    assert {"torch", "stable-baselines3", "gymnasium"} <= set(result["versions"])


def test_the_saved_agent_plays_as_it_was_tested(trained: tuple[Path, Any]) -> None:
    """Loaded with its statistics, one observation at a time, it gets the reported returns."""
    directory, result = trained
    agent = load_agent(directory / "best_model.zip")
    env = make_env(SHORT)
    for seed, expected in zip(Seeds().test(3), result["test"]["returns"], strict=True):
        observation, _ = env.reset(seed=seed)
        total, over, state = 0.0, False, None
        while not over:
            action, state = agent.predict(observation, state)
            observation, reward, terminated, truncated, _ = env.step(action)
            total, over = total + float(reward), terminated or truncated
        assert total == pytest.approx(expected, rel=1e-3)


def test_evaluations_do_not_change_what_is_learned(
    trained: tuple[Path, Any], small: Any, tmp_path: Path
) -> None:
    """Looking more often gives the same network in the end."""
    run(tiny(small, eval_every=64), tmp_path / "often")
    weights = []
    for directory in (trained[0], tmp_path / "often"):
        latest = checkpoints.Checkpoints(directory).latest()
        assert latest is not None
        policy = load_agent(latest / "model.zip").model.policy
        weights.append(np.concatenate([p.detach().numpy().ravel() for p in policy.parameters()]))
    assert np.array_equal(*weights)


def test_a_complete_run_is_not_run_again_but_can_be_extended(
    trained: tuple[Path, Any], small: Any, tmp_path: Path
) -> None:
    """--resume of the same settings reads the result; more steps go on from the last checkpoint."""
    directory, first = tmp_path / "run", trained[1]
    shutil.copytree(trained[0], directory)
    assert run(tiny(small), directory, resume=True) == first
    longer = run(tiny(small, steps=total(384)), directory, resume=True)
    assert longer["steps"]["train"] == 384
    assert longer["curve"][:3] == first["curve"]


@pytest.mark.parametrize(
    ("algorithm", "row", "steps", "trained"),
    [
        ("ppo", "{n_steps: 64, batch_size: 64, n_envs: 2, n_epochs: 1}", 200, 192),
        ("ppo", "{n_steps: 64, batch_size: 64, n_envs: 2, n_epochs: 1}", 151, 128),
        ("ppo", "{n_steps: 64, batch_size: 64, n_envs: 2, n_epochs: 1}", 21, 20),
        ("ppo", "{}", 64, 64),
        ("sac", "{train_freq: 64, gradient_steps: 2, learning_starts: 10}", 100, 100),
    ],
)
def test_training_takes_no_more_steps_than_it_may(
    algorithm: Any, row: Any, steps: Any, trained: Any, tmp_path: Path
) -> None:
    """Rollouts have one length, as near to the row's as the steps allow."""
    path = tmp_path / "row.yml"
    path.write_text(f"default: {row}")
    told = Telling()
    settings = TrainingSettings(
        algorithm,
        SHORT,
        steps=total(steps),
        hyperparameters=str(path),
        validation_episodes=1,
        test_episodes=1,
    )
    result = train(settings, tmp_path / "run", resume=False, display=told)
    assert result["steps"]["train"] == trained
    if steps > trained:
        assert (
            f"  of {total(steps):,} steps; the rest is for validation, each time with 1 episode" in told.lines
        )


def test_a_short_run_is_extended_by_whole_rollouts(tmp_path: Path) -> None:
    """What a short run ends with is not the length of the rollouts that follow."""
    path = tmp_path / "row.yml"
    path.write_text("default: {n_steps: 64, batch_size: 32, n_epochs: 2}")
    given: dict[str, Any] = {"hyperparameters": str(path), "validation_episodes": 1, "test_episodes": 1}
    task = Task("CartPole-v1", max_episode_steps=20)
    run(TrainingSettings("ppo", task, steps=total(40), **given), tmp_path / "run")
    longer = TrainingSettings("ppo", task, steps=total(40 + 2 * 64), eval_every=1, **given)
    result = run(longer, tmp_path / "run", resume=True)
    assert [point["steps"] for point in result["curve"]] == [0, 32, 96, 160]


@pytest.mark.parametrize(("algorithm", "length", "steps"), [("ppo", 20, 200), ("sac", 10, 150)])
def test_one_number_limits_training_and_validation(
    algorithm: Any, length: int, steps: int, tmp_path: Path
) -> None:
    """Unless more is asked for: evaluations become fewer and shorter where episodes are long; only the first is beside it."""
    path = tmp_path / "rows.yml"
    path.write_text(
        "default: {n_steps: 10, batch_size: 10, n_epochs: 1}"
        if algorithm == "ppo"
        else "default: {gradient_steps: 1, train_freq: 25}"
    )
    task = Task("Pendulum-v1", max_episode_steps=length)
    settings = TrainingSettings(algorithm, task, steps=steps, hyperparameters=str(path), test_episodes=1)
    result = run(settings, tmp_path / "run")
    taken = result["steps"]
    assert taken["train"] + taken["validation"] <= steps + settings.episodes_per_evaluation(length) * length
    assert 2 <= len(result["curve"]) <= 22
    assert taken["validation"] <= taken["train"]
    if algorithm == "sac":
        return  # what is asked for is the same for all
    asked = replace(settings, eval_every=steps // 4, validation_episodes=7)
    counts = run(asked, tmp_path / "asked")
    assert [point["episodes"] for point in counts["curve"]] == [7] * len(counts["curve"])
    assert len(counts["curve"]) >= 4


def test_too_few_steps_are_refused_in_a_sentence(tmp_path: Path) -> None:
    """Eight environments cannot share three steps; nothing is trained in secret."""
    settings = TrainingSettings("ppo", Task("CartPole-v1"), steps=3)
    with pytest.raises(UsageError, match="3 training steps are too few to learn from with --n-envs 8"):
        run(settings, tmp_path / "run")


@pytest.mark.parametrize("wrong", ["frame_stack: 4", "seed: 3"])
def test_what_a_learner_does_not_take_is_refused_in_a_sentence(tmp_path: Path, wrong: str) -> None:
    """By its name, and nothing is left behind."""
    path = tmp_path / "mine.yml"
    path.write_text(f"CartPole-v1: {{n_steps: 8, batch_size: 8, {wrong}}}")
    settings = TrainingSettings("ppo", Task("CartPole-v1"), steps=8, hyperparameters=str(path))
    with pytest.raises(UsageError, match=wrong.partition(":")[0]):
        run(settings, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_directory_is_never_overwritten(trained: tuple[Path, Any], small: Any, tmp_path: Path) -> None:
    """An existing run needs --resume and equal settings; a foreign directory is refused."""
    directory, _ = trained
    with pytest.raises(UsageError, match="--resume"):
        run(tiny(small), directory)
    with pytest.raises(UsageError, match="other settings"):
        run(tiny(small, seed=1), directory, resume=True)
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").touch()
    with pytest.raises(UsageError, match="holds no run"):
        run(tiny(small), other)


@pytest.mark.parametrize(
    ("algorithm", "env", "instead"), [("sac", "CartPole-v1", "dqn"), ("qrdqn", "Pendulum-v1", "crossq")]
)
def test_actions_of_another_kind_are_refused(algorithm: Any, env: str, instead: str, tmp_path: Path) -> None:
    """The sentence says what to take instead."""
    with pytest.raises(UnsupportedSpaceError, match=f"one of ppo, trpo.*{instead}"):
        run(TrainingSettings(algorithm, Task(env), steps=100, hyperparameters="default"), tmp_path / "run")


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["dqn", "qrdqn"])
def test_learners_of_values_train_and_are_played(algorithm: Any, tmp_path: Path) -> None:
    """With the Zoo's row, no step too many; the saved agent chooses an action of the space, always the same."""
    task = Task("CartPole-v1", max_episode_steps=50)
    settings = TrainingSettings(algorithm, task, steps=total(1100), validation_episodes=1, test_episodes=1)
    result = run(settings, tmp_path / "run")
    assert result["steps"]["train"] == 1100
    assert "CartPole-v1" in result["hyperparameters"]["source"]
    agent = load_agent(next((tmp_path / "run").glob("*.zip")))
    observation = make_env(task).reset(seed=0)[0]
    chosen = {int(agent.predict(observation)[0]) for _ in range(20)}
    assert len(chosen) == 1
    assert chosen <= {0, 1}


def test_sac_goes_on_with_its_replay_buffer(tmp_path: Path) -> None:
    """A resumed off-policy run has the experience of the first part."""
    path = tmp_path / "row.yml"
    path.write_text("default: {learning_starts: 10, policy_kwargs: 'dict(net_arch=[8])'}")
    given: dict[str, Any] = {"hyperparameters": str(path), "validation_episodes": 1, "test_episodes": 1}
    task = Task("Pendulum-v1", max_episode_steps=20)
    run(TrainingSettings("sac", task, steps=total(20), **given), tmp_path / "run")
    result = run(TrainingSettings("sac", task, steps=total(40), **given), tmp_path / "run", resume=True)
    assert result["steps"]["train"] == 40
    latest = checkpoints.Checkpoints(tmp_path / "run").latest()
    assert latest is not None
    saved = latest / "replay_buffer.pkl"
    from stable_baselines3.common.save_util import load_from_pkl

    assert load_from_pkl(saved).size() == 40 - 2  # all but the last step of each part


@pytest.mark.slow
def test_a_killed_run_goes_on_from_its_checkpoint(
    small: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Kill -9 in the middle: the rest of the steps is trained, the curve before it is kept."""
    directory = tmp_path / "run"
    few = f"--steps {total(768)} --eval-every 128 --validation-episodes 2 --test-episodes 2"
    words = ["ppo", "CartPole-v1", *few.split(), "--hyperparams", small, "--out", str(directory), "--resume"]
    process = subprocess.Popen(
        [sys.executable, "-m", "promptpo_baselines", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    kept = checkpoints.Checkpoints(directory)
    wait_until(lambda: (at := kept.latest()) and at.name >= "steps-000000000256", process)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (directory / "result.json").exists()
    latest = kept.latest()
    assert latest is not None
    before = kept.read(latest)
    assert main([*words, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert 256 <= before.steps < 768
    assert result["steps"]["train"] == 768
    assert result["curve"][: len(before.curve)] == [
        {k: v for k, v in point.items() if k != "returns"} for point in before.curve
    ]
    assert result["train_episodes"] > len(before.episodes)


def test_ppo_learns(tmp_path: Path) -> None:
    """Three thousand steps lift sampled play of CartPole far above that of the untrained agent."""
    path = tmp_path / "row.yml"
    path.write_text(
        "default: {n_steps: 64, n_envs: 8, batch_size: 256, n_epochs: 8, learning_rate: 0.005, gae_lambda: 0.9, gamma: 0.98}"
    )
    settings = TrainingSettings(
        "ppo",
        Task("CartPole-v1"),
        steps=total(3_000),
        hyperparameters=str(path),
        seed=1,
        eval_every=3_000,
        validation_episodes=1,
        test_episodes=1,
    )
    result = run(settings, tmp_path / "run")
    record = checkpoints.Checkpoints(tmp_path / "run")
    latest = record.latest()
    assert latest is not None
    episodes = [return_ for _, return_, _ in record.read(latest).episodes]
    assert np.mean(episodes[:20]) < 30
    assert np.mean(episodes[-20:]) > 45
    assert math.isfinite(result["test"]["mean_return"])
