"""Training of a language model in pieces, and the study that is the report's setting."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("transformers")
pytest.importorskip("stable_baselines3")

from promptpo.cli.app import run
from promptpo.envs.task import Task
from promptpo_baselines.llm_policy.design import Design
from tests.baselines.test_pausing import assert_pieces_equal_one, piece, settings


@pytest.mark.slow
def test_a_language_model_that_is_trained_in_pieces_is_the_same(tiny_gpt2: Any, tmp_path: Path) -> None:
    """All of a tiny network, its input all digits of the raw state."""
    design = Design(tiny_gpt2, tune="full", numbers="raw", state="raw", layers=1)
    rows = tmp_path / "few.yml"
    rows.write_text("default: {n_steps: 24, batch_size: 24, n_epochs: 1, normalize: true}")
    chosen = settings(
        tmp_path, "ppo", language=design.as_data(), steps=48, eval_every=48, hyperparameters=str(rows)
    )
    short = replace(chosen, task=Task("Pendulum-v1", {}, 10), test_episodes=1)
    assert_pieces_equal_one(short, tmp_path, pauses=1)


def test_an_update_may_take_a_part_of_the_rollout(tiny_gpt2: Any, tmp_path: Path) -> None:
    """TRPO on a network that is trained whole, with every fourth observation, as the report's rows have it."""
    design = Design(tiny_gpt2, tune="full", numbers="raw", state="raw", layers=1)
    rows = tmp_path / "thin.yml"
    rows.write_text("default: {n_envs: 1, n_steps: 16, sub_sampling_factor: 4, cg_max_steps: 2}")
    chosen = settings(
        tmp_path, "trpo", language=design.as_data(), steps=16, eval_every=16, hyperparameters=str(rows)
    )
    short = replace(chosen, task=Task("Pendulum-v1", {}, 8), test_episodes=1)
    assert piece(short, tmp_path / "run")["steps"]["train"] == 16


def test_the_study_goes_on_piece_by_piece(
    tiny_gpt2: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same command again until it is done; seeds by name, and each network's curve by episode."""
    rows = tmp_path / "rows.yml"
    rows.write_text("default: {n_steps: 16, batch_size: 16, n_epochs: 1, normalize: true}")
    words = [
        "lab", "llm-study", "Pendulum-v1", "--backbone", tiny_gpt2, "--tune", "full", "--numbers", "raw",
        "--layers", "1", "--networks", "pretrained,mlp", "--seeds", "543,100", "--steps", "32", "--max-episode-steps",
        "10", "--hyperparams", str(rows), "--validation-episodes", "1", "--test-episodes", "1", "--eval-every", "32", "--algorithm", "ppo",
        "--max-seconds", "0", "--out", str(tmp_path / "study"), "--device", "cpu",
    ]  # fmt: skip
    said = []
    for _ in range(20):
        assert run(words) == 0
        said.append(capsys.readouterr().out)
        if "paused" not in said[-1]:
            break
    assert len(said) == 5, "one pause for each of four runs"
    assert "the same command goes on" in said[0]
    study = json.loads((tmp_path / "study" / "study.json").read_text())
    assert [(one["network"], one["seed"]) for one in study["runs"]] == [
        ("pretrained", 543), ("mlp", 543), ("pretrained", 100), ("mlp", 100),
    ]  # fmt: skip
    assert all(len(one["episodes"]) == 3 for one in study["runs"])
    lines = (tmp_path / "study" / "episodes.csv").read_text().splitlines()
    assert lines[0] == "network,seed,episode,steps,return"
    assert len(lines) == 1 + 4 * 3
    assert (tmp_path / "study" / "episodes.png").read_bytes().startswith(b"\x89PNG")
    assert run([*words[:13], "543,543", *words[14:]]) == 2


def test_products_of_matrices_are_computed_as_asked(tmp_path: Path) -> None:
    """Before the network is built, by every run anew; a design without the choice reads as it did before there was one."""
    import torch

    from promptpo_baselines.progress import Display
    from promptpo_baselines.training import train

    seen = []

    def kind(*_: Any) -> Any:
        seen.append(torch.get_float32_matmul_precision())
        raise InterruptedError

    before = torch.get_float32_matmul_precision()
    try:
        for n, matmul in enumerate(("bfloat16", "tf32", "float32")):
            language = Design(matmul=matmul).as_data()
            assert ("matmul" in language) == (matmul != "float32")
            assert Design.from_data(language).matmul == matmul
            chosen = settings(tmp_path, "ppo", language=language)
            with pytest.raises(InterruptedError):
                train(chosen, tmp_path / str(n), resume=False, display=Display(), command="", kind=kind)
    finally:
        torch.set_float32_matmul_precision(before)
    assert seen == ["medium", "high", "highest"]
