"""A run in pieces pauses after a rollout and continues from its checkpoint."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from promptpo.envs.task import Task
from promptpo_baselines.progress import Display
from promptpo_baselines.settings import TrainingSettings
from tests.baselines.budgets import total
from tests.baselines.late import Late, train

checkpoints, training = Late("promptpo_baselines.checkpoints"), Late("promptpo_baselines.training")

ROWS = """
default: {n_steps: 48, batch_size: 32, n_envs: 2, n_epochs: 2, normalize: true, learning_rate: lin_0.001}
"""


class RecordingDisplay(Display):
    """Records its lines, and raises at a step as Ctrl-C does."""

    def __init__(self, stop_at: int = 0) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._stop_at = stop_at

    def line(self, text: str) -> None:
        """Record the line."""
        self.lines.append(text)

    def on_step(self, steps: int) -> None:
        """Raise at the given step."""
        if self._stop_at and steps >= self._stop_at:
            raise KeyboardInterrupt


def settings(tmp_path: Path, algorithm: Any = "ppo", **changes: Any) -> Any:
    """Return settings of a short run whose rollouts end in the middle of episodes."""
    rows = tmp_path / "rows.yml"
    rows.write_text(ROWS)
    base = TrainingSettings(
        algorithm, Task("Pendulum-v1", {}, 70), steps=total(288), hyperparameters=str(rows), eval_every=200,
        validation_episodes=1, test_episodes=2,
    )  # fmt: skip
    return replace(base, **changes)


def piece(chosen: Any, directory: Path, display: Display | None = None, **options: Any) -> Any:
    """Do the work of one process."""
    return train(chosen, directory, resume=True, display=display or Display(), **options)


@pytest.mark.parametrize(
    ("algorithm", "pieces"), [("ppo", 3), pytest.param("sac", 6, marks=pytest.mark.slow)]
)
def test_run_in_pieces_takes_every_step_once(tmp_path: Path, algorithm: str, pieces: int) -> None:
    """Each piece continues after the last rollout, and the episodes of all pieces are recorded."""
    rows = {} if algorithm == "ppo" else {"hyperparameters": str(tmp_path / "sac.yml")}
    (tmp_path / "sac.yml").write_text("default: {train_freq: 48, gradient_steps: 1, learning_starts: 20}")
    chosen, taken = settings(tmp_path, algorithm, **rows), [0]
    while (result := piece(chosen, tmp_path / "run", max_seconds=0))["stop_reason"] == training.PAUSED:
        taken.append(result["steps"]["train"])
    assert result["steps"]["train"] == 288
    assert len(taken) == pieces
    assert taken == sorted(set(taken))
    latest = checkpoints.Checkpoints(tmp_path / "run").latest()
    assert latest is not None
    ends = [steps for steps, _, _ in checkpoints.Checkpoints(tmp_path / "run").read(latest).episodes]
    assert ends == sorted(ends)
    assert [point["steps"] for point in result["curve"]][-1] == 288


@pytest.mark.slow
def test_ctrl_c_keeps_the_last_checkpoint(tmp_path: Path) -> None:
    """The message says how many steps are kept, and the same command continues."""
    chosen, display = settings(tmp_path, eval_every=96), RecordingDisplay(stop_at=250)
    with pytest.raises(KeyboardInterrupt):
        piece(chosen, tmp_path / "run", display)
    assert any("keeps what was learned in 192 steps" in line for line in display.lines)
    result = piece(chosen, tmp_path / "run")
    assert result["steps"]["train"] == 288
    assert [point["steps"] for point in result["curve"]] == [0, 96, 192, 288]
