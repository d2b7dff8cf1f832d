"""The measures of world models: accuracy and planning score by their definition, and planning in the true environment."""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from benchmarks.world_models import steps
from benchmarks.world_models.cost import WorldCost, in_words
from benchmarks.world_models.cwmb import ENVIRONMENTS, accuracy, planning_score
from benchmarks.world_models.rows import read_rows, write_rows
from benchmarks.world_models.steps import SavingTask, WorldRow, chosen, known_tasks, table
from benchmarks.world_models.true_world import TruePlanner
from sandbox import Predictions, Recorded

SPACE = spaces.Box(-10.0, 10.0, (2,), np.float32)


def test_accuracy_is_the_mean_of_three_matches() -> None:
    """Numbers of the next observation count by share, reward and ending wholly; after the end these two alone."""
    episode = Recorded(
        np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]),
        np.zeros(2, np.int64),
        np.array([1.0, 5.0]),
        terminated=True,
    )
    perfect = Predictions(np.array([[1.0, 1.0], [9.0, 9.0]]), np.array([1.0, 5.0]), np.array([False, True]))
    assert accuracy([episode], SPACE, perfect) == 1.0
    half = Predictions(
        np.array([[1.0, 1.1], [2.0, 2.0]]), np.array([1.0 + 5e-6, 4.0]), np.array([False, True])
    )
    assert accuracy([episode], SPACE, half) == pytest.approx(((0.5 + 1 + 1) / 3 + (0 + 1) / 2) / 2)


def test_the_planning_score_is_relative() -> None:
    """1 where the model serves as well as the truth, 0 where it is as good as chance, none where planning is no use."""
    assert planning_score(50.0, 100.0, 0.0) == 0.5
    assert planning_score(-20.0, 100.0, -20.0) == 0.0
    assert math.isnan(planning_score(0.0, -200.0, -200.0))


@pytest.mark.parametrize(
    "env_id", ["Blackjack-v1", "CliffWalking-v1", "Taxi-v4", "MountainCar-v0", "Pendulum-v1"]
)
def test_planning_in_the_true_environment_leaves_it_as_it_is(env_id: str) -> None:
    """What is tried out in copies changes nothing in the environment that is played."""
    env: Any = gymnasium.make(env_id)
    kind = "tree" if isinstance(env.action_space, spaces.Discrete) else "shooting"
    obs, _ = env.reset(seed=3)
    planner = TruePlanner(env, kind)
    action = planner.act(obs)
    assert env.action_space.contains(action)
    twin = gymnasium.make(env_id)
    twin.reset(seed=3)
    for one, other in zip(env.step(action)[:3], twin.step(action)[:3], strict=True):
        np.testing.assert_array_equal(one, other)


def test_all_of_the_benchmark_is_there() -> None:
    """Its eighteen environments exist in the installed Gymnasium, each with a planner that suits its actions."""
    assert len(ENVIRONMENTS) == 18
    for name, kind in ENVIRONMENTS.items():
        assert gymnasium.spec(name).id == name
        assert (kind == "tree") == (name.split("-")[0] in DISCRETE)


DISCRETE = {"Blackjack", "CliffWalking", "Taxi", "CartPole", "MountainCar", "Acrobot"}


def test_the_cost_is_told_beside_its_limits() -> None:
    """What scoring 10,000 transitions and planning one action take, and what one action may take."""
    told = in_words(WorldCost(10_063, 0.024, 0.01, 0.0171, 1.0))
    assert "10,063 transitions: 0.02 s of own CPU" in told
    assert "25 simulations of depth 100 on CartPole: 0.017 s an action; 1 s are allowed" in told


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
