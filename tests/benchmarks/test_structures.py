"""Structures of the tuning benchmark that were written by hand."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.tuning.run import ROUNDS_IN_THE_LOOP, measure, supplied
from promptpo.envs.task import Task
from promptpo.program import Program

FOLDER = Path(__file__).parents[2] / "benchmarks" / "structures"


def test_every_folder_is_found() -> None:
    """A folder bears an environment's id, and what lies in it has parameters."""
    for folder in FOLDER.iterdir():
        assert set(supplied(Task(folder.name), "hand")) == {path.stem for path in folder.glob("*.py")}


def test_rounds_of_recorded_runs_are_structures_too() -> None:
    """What a large model answered in each round of a whole run; nothing where none was recorded."""
    rounds = [supplied(Task("Walker2d-v5"), name) for name in ROUNDS_IN_THE_LOOP]
    assert [sorted(one) for one in rounds] == [[f"r{r}c{i}" for i in (1, 2, 3)] for r in (1, 2, 3, 4)]
    assert len({source for one in rounds for source in one.values()}) == 12
    later = supplied(Task("BipedalWalker-v3"), "round2")  # where the model was asked for experiments before
    assert sorted(later) == ["r2c1", "r2c2", "r2c3"]
    assert all("class Policy" in source and "class Probe" not in source for source in later.values())
    assert supplied(Task("CartPole-v1"), "round1") == {}


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[pytest.mark.slow] if i else [], id=path.stem)
        for i, path in enumerate(sorted(FOLDER.glob("*/*.py")))
    ],
)
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
