"""Training of a language model: subsampled updates and matrix precision."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from promptpo.envs.task import Task
from promptpo_baselines.llm_policy.design import Design
from tests.baselines.test_pausing import piece, settings


def test_update_may_use_part_of_the_rollout(tiny_gpt2: Any, tmp_path: Path) -> None:
    """TRPO on a fully tuned network with every fourth observation."""
    design = Design(tiny_gpt2, tune="full", numbers="raw", state="raw", layers=1)
    rows = tmp_path / "thin.yml"
    rows.write_text("default: {n_envs: 1, n_steps: 16, sub_sampling_factor: 4, cg_max_steps: 2}")
    base = settings(
        tmp_path, "trpo", language=asdict(design), steps=20, eval_every=16, hyperparameters=str(rows)
    )
    short = replace(base, task=Task("Pendulum-v1", {}, 8), test_episodes=1)
    assert piece(short, tmp_path / "run")["steps"]["train"] == 16


def test_matrix_precision_is_set_before_the_network_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every run sets it."""
    import torch

    from promptpo_baselines.progress import Display
    from promptpo_baselines.training import train

    precisions = []

    def kind(*_: Any) -> Any:
        precisions.append(torch.get_float32_matmul_precision())
        raise InterruptedError

    monkeypatch.setattr("promptpo_baselines.training_run.TrainingRun", kind)
    before = torch.get_float32_matmul_precision()
    try:
        for n, matmul in enumerate(("bfloat16", "tf32", "float32")):
            language = asdict(Design(matmul=matmul))
            chosen = settings(tmp_path, "ppo", language=language)
            with pytest.raises(InterruptedError):
                train(chosen, tmp_path / str(n), resume=False, display=Display())
    finally:
        torch.set_float32_matmul_precision(before)
    assert precisions == ["medium", "high", "highest"]
