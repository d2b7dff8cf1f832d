"""Structures of the tuning benchmark that were written by hand."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.tuning.run import measure, supplied
from promptpo.envs.task import Task
from promptpo.program import Program

FOLDER = Path(__file__).parents[2] / "benchmarks" / "structures"


def test_every_folder_is_found() -> None:
    """A folder bears an environment's id, and what lies in it has parameters."""
    for folder in FOLDER.iterdir():
        assert set(supplied(Task(folder.name), "hand")) == {path.stem for path in folder.glob("*.py")}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*/*.py")), ids=lambda path: path.stem)
def test_it_is_played_and_tuned(path: Any) -> None:
    """A few short generations in the sandbox, inside the budget and with a finite held-out return."""
    pytest.importorskip("mujoco")
    row = measure(Task(path.parent.name, max_episode_steps=50), "hand", 4000, seed=0, jobs=1)
    assert 2000 <= row.steps <= 4000
    assert row.winner == path.stem
    assert abs(row.after) < 1e4
    assert Program(path.read_text()).params


def test_search_is_a_run_of_three_rounds() -> None:
    """Within the budget, with a winner of one of them, and with time that it took."""
    row = measure(Task("CartPole-v1", max_episode_steps=50), "search", 4000, seed=0, jobs=1)
    assert 1000 <= row.steps <= 4000
    assert row.winner[:2] in {"r1", "r2", "r3"}
    assert row.before is None
    assert row.after > 30
    assert row.cpu_seconds > 0
    assert row.seconds > 0
