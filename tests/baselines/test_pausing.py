"""A run in pieces equals one run: network, statistics, random numbers and the episodes under way."""

import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("stable_baselines3")

# ruff: noqa: E402 - what follows needs what was asked for above

from promptpo.envs.task import Task
from promptpo_baselines.checkpoints import Checkpoints
from promptpo_baselines.progress import Display
from promptpo_baselines.settings import TrainingSettings
from promptpo_baselines.training import PAUSED, train

ROWS = """
default: {n_steps: 48, batch_size: 32, n_envs: 2, normalize: true, learning_rate: lin_0.001}
"""


def settings(tmp_path: Path, algorithm: Any = "ppo", **changes: Any) -> Any:
    """A short run whose rollouts end in the middle of episodes."""
    rows = tmp_path / "rows.yml"
    rows.write_text(ROWS)
    base = TrainingSettings(
        algorithm, Task("Pendulum-v1", {}, 70), 480, hyperparameters=str(rows), eval_every=200,
        validation_episodes=1, test_episodes=2,
    )  # fmt: skip
    return replace(base, **changes)


def piece(chosen: Any, directory: Path, **options: Any) -> Any:
    """One process's work."""
    return train(chosen, directory, resume=True, display=Display(), command="test", **options)


def weights(directory: Path) -> Any:
    """The final network and its optimizer, as they lie in the file."""
    with zipfile.ZipFile(directory / "final" / "model.zip") as archive:
        names = [name for name in archive.namelist() if name.endswith(".pth")]
        return {name: torch.load(archive.open(name), weights_only=False) for name in names}


def equal(one: Any, other: Any) -> bool:
    """Whether two trees of tensors are the same to the last bit."""
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)


def assert_pieces_equal_one(chosen: Any, tmp_path: Path, pauses: int = 4) -> None:
    """Pauses after every rollout, then compares all that a run leaves."""
    whole = piece(chosen, tmp_path / "whole")
    pieces = 0
    while (parts := piece(chosen, tmp_path / "parts", max_seconds=0))["stop_reason"] == PAUSED:
        pieces += 1
    assert pieces == pauses
    assert equal(weights(tmp_path / "parts"), weights(tmp_path / "whole"))
    assert parts["test"] == whole["test"]
    assert [point["mean_return"] for point in parts["curve"]] == [p["mean_return"] for p in whole["curve"]]
    read = [Checkpoints(tmp_path / name) for name in ("parts", "whole")]
    one, other = (folder.read(folder.latest()) for folder in read)
    assert one.episodes == other.episodes
    assert one.episodes


@pytest.mark.parametrize("algorithm", ["ppo", pytest.param("trpo", marks=pytest.mark.slow)])
def test_a_run_in_pieces_is_one_run(tmp_path: Path, algorithm: str) -> None:
    """To the last bit, with normalised observations and rewards, a falling learning rate and cut episodes."""
    assert_pieces_equal_one(settings(tmp_path, algorithm), tmp_path)


def test_an_episode_that_does_not_repeat_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said, and the run goes on."""
    chosen = settings(tmp_path)
    assert piece(chosen, tmp_path / "run", max_seconds=0)["stop_reason"] == PAUSED
    monkeypatch.setattr(
        "promptpo_baselines.pausing._replayed", lambda env, player, standing: env.reset()[0] + 1
    )
    told: list[str] = []

    class Listening(Display):
        def line(self, text: str) -> None:
            told.append(text)

    result = train(chosen, tmp_path / "run", resume=True, display=Listening(), command="test")
    assert result["steps"]["train"] == 480
    assert any("new ones begin" in line for line in told)
