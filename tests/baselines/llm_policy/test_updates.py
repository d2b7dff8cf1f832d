"""Training of a language model: thinned updates, and what products are computed in."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from promptpo.envs.task import Task
from promptpo_baselines.llm_policy.design import Design
from tests.baselines.test_pausing import piece, settings


def test_an_update_may_take_a_part_of_the_rollout(tiny_gpt2: Any, tmp_path: Path) -> None:
    """TRPO on a network that is trained whole, with every fourth observation, as the report's rows have it."""
    design = Design(tiny_gpt2, tune="full", numbers="raw", state="raw", layers=1)
    rows = tmp_path / "thin.yml"
    rows.write_text("default: {n_envs: 1, n_steps: 16, sub_sampling_factor: 4, cg_max_steps: 2}")
    chosen = settings(
        tmp_path, "trpo", language=asdict(design), steps=20, eval_every=16, hyperparameters=str(rows)
    )
    short = replace(chosen, task=Task("Pendulum-v1", {}, 8), test_episodes=1)
    assert piece(short, tmp_path / "run")["steps"]["train"] == 16


def test_products_of_matrices_are_computed_as_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the network is built, by every run anew."""
    import torch

    from promptpo_baselines.progress import Display
    from promptpo_baselines.training import train

    seen = []

    def kind(*_: Any) -> Any:
        seen.append(torch.get_float32_matmul_precision())
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
    assert seen == ["medium", "high", "highest"]
