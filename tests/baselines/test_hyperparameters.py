"""Hyperparameters: the row for a task, and its use."""

from pathlib import Path
from typing import Any

import pytest

from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo_baselines.algorithms import ALGORITHMS
from promptpo_baselines.hyperparameters import ROWS, read_rows, resolve, row_for


@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if (ROWS / f"{name}.yml").exists()])
def test_every_shipped_row_can_be_used(algorithm: Any) -> None:
    """Each has only arguments of its algorithm, with schedules and activations as objects."""
    for env_id in read_rows(ROWS / f"{algorithm}.yml"):
        row = resolve(algorithm, Task(env_id), "zoo")
        arguments = row.arguments()
        assert f"row {env_id}" in row.source
        assert not any(isinstance(v, str) and v.startswith("lin_") for v in arguments.values())


def test_newer_version_uses_the_row_of_an_older_one() -> None:
    """The source names the row's version."""
    row = resolve("trpo", Task("HalfCheetah-v5"), "zoo")
    assert row.source.endswith("row HalfCheetah-v4")
    assert row.values["target_kl"] == 0.04
    assert row.n_envs == 2
    assert row.normalize == {"gamma": 0.99}


def test_older_version_does_not_use_a_newer_row() -> None:
    assert row_for(Task("HalfCheetah-v3"), {"HalfCheetah-v4": {}}) is None
    assert row_for(Task("my:Thing"), {"Thing-v0": {}}) is None


def test_keyword_arguments_select_the_row_of_the_variant() -> None:
    """LunarLander with continuous=True is LunarLanderContinuous."""
    rows = read_rows(ROWS / "ppo.yml")
    assert row_for(Task("LunarLander-v3", {"continuous": True}), rows) == "LunarLanderContinuous-v3"
    assert row_for(Task("LunarLander-v3"), rows) == "LunarLander-v3"


def test_without_a_row_the_librarys_defaults_apply() -> None:
    """The source says so."""
    row = resolve("ppo", Task("Taxi-v4"), "zoo")
    assert "no row for Taxi-v4" in row.source
    assert row.values == {}
    assert resolve("ppo", Task("CartPole-v1"), "default").values == {}


def test_own_row_for_halfcheetah_changes_the_zoos_in_two_values() -> None:
    """A higher learning rate and fewer epochs."""
    ours, zoo = (resolve("ppo", Task("HalfCheetah-v5"), choice) for choice in ("ours", "zoo"))
    assert {**zoo.values, "learning_rate": 1e-4, "n_epochs": 10} == ours.values
    assert (ours.n_envs, ours.normalize) == (zoo.n_envs, zoo.normalize) == (1, {"gamma": 0.98})
    assert ours.source == "rows of our own, row HalfCheetah-v4"


@pytest.mark.parametrize("task", ["Hopper-v5", "Taxi-v4"])
@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
def test_without_an_own_row_the_zoos_is_used(algorithm: Any, task: Any) -> None:
    """The source names both."""
    ours, zoo = (resolve(algorithm, Task(task), choice) for choice in ("ours", "zoo"))
    assert ours.values == zoo.values
    assert ours.source == f"{zoo.source}; there is no row of our own for {algorithm} on {task}"


def test_linear_schedule_falls_to_zero() -> None:
    rate = resolve("ppo", Task("CartPole-v1"), "zoo").arguments()["learning_rate"]
    assert rate(1.0) == pytest.approx(0.001)
    assert rate(0.5) == pytest.approx(0.0005)
    assert rate(0.0) == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CartPole-v1: {n_envs: 0}", "n_envs"),
        ("CartPole-v1: {normalize: 7}", "normalize"),
        ("Acrobot-v1: {n_steps: 8}", "no row for CartPole-v1"),
        ("[1, 2]", "must map"),
        ("{", "not YAML"),
    ],
)
def test_unusable_file_gets_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "mine.yml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        resolve("ppo", Task("CartPole-v1"), str(path))


def test_file_may_have_a_default_row_and_numbers_as_text(tmp_path: Path) -> None:
    """YAML reads 1e-3 as text."""
    path = tmp_path / "mine.yml"
    path.write_text("default: {learning_rate: 1e-3, normalize: \"{'norm_reward': False}\", n_timesteps: 5}")
    row = resolve("ppo", Task("CartPole-v1"), str(path))
    assert row.values == {"learning_rate": 0.001}
    assert row.normalize == {"gamma": 0.99, "norm_reward": False}


def test_unknown_schedule_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.yml"
    path.write_text("default: {learning_rate: cos_0.1}")
    with pytest.raises(UsageError, match=r"cos_0\.1"):
        resolve("ppo", Task("CartPole-v1"), str(path)).arguments()


def test_unbounded_observations_are_normalised_without_a_row() -> None:
    """The source says so; bounded and discrete observations are not."""
    pusher = Task("Pusher-v5")
    for choice in ("zoo", "ours"):
        row = resolve("ppo", pusher, choice)
        assert row.normalize == {"gamma": 0.99}
        assert row.values == {}
        assert "our row for unbounded observations" in row.source
        assert "no row for Pusher-v5" in row.source
    assert resolve("ppo", pusher, "default").normalize is None
    assert resolve("sac", pusher, "zoo").normalize is None
    assert resolve("ppo", Task("Taxi-v4"), "zoo").normalize is None
    assert (
        resolve("ppo", Task("promptpo_benchmarks.environments:promptpo/Glucose-v0"), "zoo").normalize is None
    )
