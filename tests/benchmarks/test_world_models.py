"""How many steps world models save: the table, the tasks, and a benchmark that goes on where it stopped."""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import replace
from pathlib import Path

import pytest

from promptpo_benchmarks.world_models import steps
from promptpo_benchmarks.world_models.rows import read_rows, write_rows
from promptpo_benchmarks.world_models.steps import SavingTask, WorldRow, chosen, known_tasks, table


def row(recipe: str, seed: int, steps: int | None, seconds: float = 9.0) -> WorldRow:
    """A row of an invented run."""
    return WorldRow("CartPole-v1", 475.0, recipe, seed, steps, 900, 1.0, seconds, "solved: yes")


def test_steps_saved_are_told_by_environment_and_recipe() -> None:
    """A row says how many seeds reached the target, after how many steps, and why they ended."""
    found = list(table([row("model", 1, 300), row("model", 2, None)]))
    assert found == [("CartPole-v1", "475", "model", "1 of 2", "300, -", "1, 1", "solved, solved", "9, 9")]


def test_the_tasks_are_those_that_count() -> None:
    """Seventeen tasks with a target and where it is from; an id with a target of one's own joins them, a slip is told."""
    tasks = chosen([])
    assert len(tasks) == len({task.name for task in tasks}) == 17
    assert all(task.why and math.isfinite(task.target) for task in tasks)
    assert chosen(["Taxi-v4", "Pendulum-v1=-300", "Any-v0=1"])[1:] == [
        SavingTask("Pendulum-v1", -300.0, why=known_tasks()["Pendulum-v1"].why), SavingTask("Any-v0", 1.0)
    ]  # fmt: skip
    with pytest.raises(ValueError, match="there is no task Taxi"):
        chosen(["Taxi"])


def test_a_benchmark_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows on disk are not measured again, and further seeds only where the first was quick."""
    write_rows(tmp_path / steps.CSV, [row("default", 1, 300), row("model", 1, None, seconds=120.0)])
    assert read_rows(tmp_path / steps.CSV, WorldRow) == [
        row("default", 1, 300), row("model", 1, None, seconds=120.0)
    ]  # fmt: skip
    asked: list[tuple[str, str, int]] = []

    def apart(task: SavingTask, recipe: str, seed: int, _most: int, _seconds: float) -> WorldRow:
        asked.append((task.name, recipe, seed))
        return replace(row(recipe, seed, 100), task=task.name, target=task.target)

    monkeypatch.setattr(steps, "_apart", apart)
    parser = argparse.ArgumentParser()
    steps.add_arguments(parser)
    steps.run(parser.parse_args(["CartPole-v1", "Pendulum-v1", "--out", str(tmp_path)]))
    assert asked == [("Pendulum-v1", recipe, seed) for seed in (1, 2) for recipe in ("default", "model")]
    assert len(read_rows(tmp_path / steps.CSV, WorldRow)) == 6
    assert "| Pendulum-v1 | -203.6 | model | 2 of 2 | 100, 100 |" in (tmp_path / steps.TABLE).read_text()


def test_computing_time_ends_a_search() -> None:
    """Once it is spent, what runs is interrupted as by Ctrl-C, and only once."""

    def search() -> None:
        end = time.monotonic() + 30
        with steps._interrupted_after(0.05):
            while time.monotonic() < end:
                sum(range(1000))

    with pytest.raises(KeyboardInterrupt):
        search()
