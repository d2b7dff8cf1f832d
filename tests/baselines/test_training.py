"""Training runs learn, repeat, resume and report their results."""

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
from tests.baselines.test_pausing import RecordingDisplay
from tests.waiting import wait_until

checkpoints = Late("promptpo_baselines.checkpoints")

SHORT_ROLLOUTS = """
default: {n_steps: 64, batch_size: 64, n_envs: 2, n_epochs: 2, normalize: true}
"""


SHORT = Task("Pendulum-v1", max_episode_steps=20)


@pytest.fixture(scope="module")
def hyperparameters(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A file of hyperparameters with short rollouts and normalisation."""
    path = tmp_path_factory.mktemp("rows") / "small.yml"
    path.write_text(SHORT_ROLLOUTS)
    return str(path)


def run(settings: Any, directory: Any, *, resume: bool = False) -> Any:
    """Train without a display."""
    return train(settings, directory, resume=resume, display=Display())


def tiny_settings(hyperparameters: Any, **changes: Any) -> Any:
    """Return the settings of a run of a second."""
    settings = {
        "algorithm": "ppo",
        "task": SHORT,
        "steps": total(256),
        "hyperparameters": hyperparameters,
        "eval_every": 128,
        "validation_episodes": 2,
        "test_episodes": 3,
    }
    return TrainingSettings(**{**settings, **changes})


@pytest.fixture(scope="module")
def trained(hyperparameters: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """Folder and result of a run; tests that change the folder copy it."""
    directory = tmp_path_factory.mktemp("trained") / "run"
    return directory, run(tiny_settings(hyperparameters), directory)


def test_result_counts_every_step_by_purpose(trained: tuple[Path, Any]) -> None:
    """The curve starts before training."""
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


def test_saved_agent_plays_as_tested(trained: tuple[Path, Any]) -> None:
    """Loaded with its statistics, one observation at a time."""
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


def test_evaluations_do_not_change_the_network(
    trained: tuple[Path, Any], hyperparameters: Any, tmp_path: Path
) -> None:
    """More frequent ones give the same weights."""
    run(tiny_settings(hyperparameters, eval_every=64), tmp_path / "often")
    weights = []
    for directory in (trained[0], tmp_path / "often"):
        latest = checkpoints.Checkpoints(directory).latest()
        assert latest is not None
        policy = load_agent(latest / "model.zip").model.policy
        weights.append(np.concatenate([p.detach().numpy().ravel() for p in policy.parameters()]))
    assert np.array_equal(*weights)


def test_complete_run_is_read_or_extended(
    trained: tuple[Path, Any], hyperparameters: Any, tmp_path: Path
) -> None:
    """More steps continue from the last checkpoint."""
    directory, first = tmp_path / "run", trained[1]
    shutil.copytree(trained[0], directory)
    assert run(tiny_settings(hyperparameters), directory, resume=True) == first
    longer = run(tiny_settings(hyperparameters, steps=total(384)), directory, resume=True)
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
def test_training_never_exceeds_its_steps(
    algorithm: Any, row: Any, steps: Any, trained: Any, tmp_path: Path
) -> None:
    """All rollouts have one length, as near to the row's as the steps allow."""
    path = tmp_path / "row.yml"
    path.write_text(f"default: {row}")
    display = RecordingDisplay()
    settings = TrainingSettings(
        algorithm,
        SHORT,
        steps=total(steps),
        hyperparameters=str(path),
        validation_episodes=1,
        test_episodes=1,
    )
    result = train(settings, tmp_path / "run", resume=False, display=display)
    assert result["steps"]["train"] == trained
    if steps > trained:
        assert (
            f"  of {total(steps):,} steps; the rest is for validation, each time with 1 episode"
            in display.lines
        )


def test_short_run_is_extended_by_whole_rollouts(tmp_path: Path) -> None:
    """They do not keep the length of the short run's last one."""
    path = tmp_path / "row.yml"
    path.write_text("default: {n_steps: 64, batch_size: 32, n_epochs: 2}")
    common: dict[str, Any] = {"hyperparameters": str(path), "validation_episodes": 1, "test_episodes": 1}
    task = Task("CartPole-v1", max_episode_steps=20)
    run(TrainingSettings("ppo", task, steps=total(40), **common), tmp_path / "run")
    longer = TrainingSettings("ppo", task, steps=total(40 + 2 * 64), eval_every=1, **common)
    result = run(longer, tmp_path / "run", resume=True)
    assert [point["steps"] for point in result["curve"]] == [0, 32, 96, 160]


@pytest.mark.parametrize(("algorithm", "length", "steps"), [("ppo", 20, 200), ("sac", 10, 150)])
def test_step_budget_limits_training_and_validation(
    algorithm: Any, length: int, steps: int, tmp_path: Path
) -> None:
    """Evaluations become fewer and shorter for long episodes, unless the user sets them."""
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
        return  # explicit settings are the same for all algorithms
    explicit = replace(settings, eval_every=steps // 4, validation_episodes=7)
    counts = run(explicit, tmp_path / "asked")
    assert [point["episodes"] for point in counts["curve"]] == [7] * len(counts["curve"])
    assert len(counts["curve"]) >= 4


def test_too_few_steps_are_refused(tmp_path: Path) -> None:
    """Eight environments cannot share three steps."""
    settings = TrainingSettings("ppo", Task("CartPole-v1"), steps=3)
    with pytest.raises(UsageError, match="3 training steps are too few to learn from with --n-envs 8"):
        run(settings, tmp_path / "run")


@pytest.mark.parametrize("wrong", ["frame_stack: 4", "seed: 3"])
def test_unknown_hyperparameter_is_refused_by_name(tmp_path: Path, wrong: str) -> None:
    """Nothing is left behind."""
    path = tmp_path / "mine.yml"
    path.write_text(f"CartPole-v1: {{n_steps: 8, batch_size: 8, {wrong}}}")
    settings = TrainingSettings("ppo", Task("CartPole-v1"), steps=8, hyperparameters=str(path))
    with pytest.raises(UsageError, match=wrong.partition(":")[0]):
        run(settings, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_directory_is_never_overwritten(
    trained: tuple[Path, Any], hyperparameters: Any, tmp_path: Path
) -> None:
    """An existing run requires --resume and equal settings; another directory is refused."""
    directory, _ = trained
    with pytest.raises(UsageError, match="--resume"):
        run(tiny_settings(hyperparameters), directory)
    with pytest.raises(UsageError, match="other settings"):
        run(tiny_settings(hyperparameters, seed=1), directory, resume=True)
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").touch()
    with pytest.raises(UsageError, match="holds no run"):
        run(tiny_settings(hyperparameters), other)


@pytest.mark.parametrize(
    ("algorithm", "env", "instead"), [("sac", "CartPole-v1", "dqn"), ("qrdqn", "Pendulum-v1", "crossq")]
)
def test_unsuitable_action_space_names_other_algorithms(
    algorithm: Any, env: str, instead: str, tmp_path: Path
) -> None:
    with pytest.raises(UnsupportedSpaceError, match=f"one of ppo, trpo.*{instead}"):
        run(TrainingSettings(algorithm, Task(env), steps=100, hyperparameters="default"), tmp_path / "run")


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["dqn", "qrdqn"])
def test_value_based_algorithms_train_and_play(algorithm: Any, tmp_path: Path) -> None:
    """They use the Zoo's row and no extra step; the saved agent is deterministic."""
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


def test_resumed_sac_keeps_its_replay_buffer(tmp_path: Path) -> None:
    path = tmp_path / "row.yml"
    path.write_text("default: {learning_starts: 10, policy_kwargs: 'dict(net_arch=[8])'}")
    common: dict[str, Any] = {"hyperparameters": str(path), "validation_episodes": 1, "test_episodes": 1}
    task = Task("Pendulum-v1", max_episode_steps=20)
    run(TrainingSettings("sac", task, steps=total(20), **common), tmp_path / "run")
    result = run(TrainingSettings("sac", task, steps=total(40), **common), tmp_path / "run", resume=True)
    assert result["steps"]["train"] == 40
    latest = checkpoints.Checkpoints(tmp_path / "run").latest()
    assert latest is not None
    saved = latest / "replay_buffer.pkl"
    from stable_baselines3.common.save_util import load_from_pkl

    assert load_from_pkl(saved).size() == 40 - 2  # all but the last step of each part


@pytest.mark.slow
def test_killed_run_continues_from_its_checkpoint(
    hyperparameters: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its curve is kept."""
    directory = tmp_path / "run"
    few = f"--steps {total(768)} --eval-every 128 --validation-episodes 2 --test-episodes 2"
    words = [
        "ppo",
        "CartPole-v1",
        *few.split(),
        "--hyperparams",
        hyperparameters,
        "--out",
        str(directory),
        "--resume",
    ]
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


def test_ppo_learns_cartpole(tmp_path: Path) -> None:
    """Three thousand steps raise the return of sampled play far above that of the untrained agent."""
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
