"""Runs whose policy failed in the final test: counted, named, and never left out of a mean."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from promptpo_benchmarks.benchmark import Benchmark, report
from promptpo_benchmarks.runner.methods import CellBudget, choose
from promptpo_benchmarks.runner.suite import Score, Suite, SuiteTask
from promptpo_benchmarks.statistics.anchors import Anchors
from promptpo_benchmarks.statistics.rows import read_rows
from promptpo_benchmarks.statistics.summary import Summary, summarise

ANCHORS = {"CartPole-v1": Anchors(20.0, 500.0, "low", "high")}
FINE = {
    "outcome": "ok",
    "mean_return": 500.0,
    "ci95": [500.0, 500.0],
    "episodes": 4,
    "success_rate": None,
    "returns": [500.0] * 4,
}
NOTHING = {**FINE, "outcome": "crashed", "mean_return": None, "episodes": 0, "returns": []}
SAID = "ZeroDivisionError in the policy at step 7"


def finished(root: Path, tests: list[Mapping[str, Any] | None], score: Score = "return") -> Benchmark:
    """A benchmark of program search on CartPole whose runs, one for each seed, ended in these tests."""
    suite = Suite("mine", "Mine", (SuiteTask("CartPole-v1"),), steps=10, score=score)
    asked = Benchmark(suite, choose(["search"]), [], len(tests), CellBudget(), root, ["mine.toml"])
    for cell, test in zip(asked.cells(), tests, strict=True):
        cell.directory.mkdir(parents=True)
        content = {"method": "search", "test": test, "steps": {"total": 9}, "wall_seconds": 1.0}
        (cell.directory / "result.json").write_text(json.dumps(content))
    return asked


def summary_of(asked: Benchmark, anchors: Mapping[str, Anchors] = ANCHORS) -> Summary:
    """Its numbers."""
    return summarise(read_rows(asked.suite, asked.cells()), anchors, ["CartPole-v1"])


KEY = ("CartPole-v1", "search")


@pytest.mark.parametrize(
    "crashed",
    [
        {**NOTHING, "failed_episodes": 4, "failure": SAID},
        NOTHING,
        None,
    ],
)
def test_a_run_without_any_score_counts_as_the_floor(
    tmp_path: Path, crashed: Mapping[str, Any] | None
) -> None:
    """One perfect run and one that crashed at once: a mean of one half, not of one."""
    found = summary_of(finished(tmp_path, [FINE, crashed]))
    assert (found.runs[KEY], found.failed[KEY]) == (2, 1)
    assert found.cells[KEY].value == (500 + 20) / 2
    assert found.overall.aggregates["search"].scores.ravel().tolist() == [1.0, 0.0]


@pytest.mark.parametrize("listed", [[500.0] * 3, [500.0, 500.0, 500.0, 100.0]])
def test_a_run_with_failed_episodes_counts_as_a_failure(tmp_path: Path, listed: list[float]) -> None:
    """Its mean is that of all episodes, whether the list has the failed ones or not; normalised it is 0."""
    mean = math.fsum([*listed, min(listed)][:4]) / 4
    crashed = {
        **FINE,
        "outcome": "crashed",
        "returns": listed,
        "mean_return": mean,
        "failed_episodes": 1,
        "failure": SAID,
    }
    asked = finished(tmp_path, [crashed])
    (row,) = read_rows(asked.suite, asked.cells())
    assert row.score == mean
    assert row.failure == f"1 held-out episodes failed: {SAID}"
    assert summary_of(asked).overall.aggregates["search"].scores.tolist() == [[0.0]]


def test_a_failure_is_never_better_than_a_bad_run(tmp_path: Path) -> None:
    """What finished below the low anchor stays there."""
    crashed = {**FINE, "outcome": "crashed", "returns": [10.0], "mean_return": 10.0, "failed_episodes": 3}
    scores = summary_of(finished(tmp_path, [crashed])).overall.aggregates["search"].scores
    assert scores.tolist() == [[pytest.approx(-10 / 480)]]


def test_without_anchors_there_is_no_mean_of_the_others(tmp_path: Path) -> None:
    """Nothing can stand for the run that failed, so the entry says only that it did."""
    found = summary_of(finished(tmp_path, [FINE, None]), {})
    assert KEY not in found.cells
    assert (found.runs[KEY], found.failed[KEY]) == (2, 1)


def test_where_success_counts_a_failed_episode_is_none(tmp_path: Path) -> None:
    """Zero, without any anchor."""
    asked = finished(tmp_path, [{**NOTHING, "failed_episodes": 4}], "success")
    (row,) = read_rows(asked.suite, asked.cells())
    assert row.values == (0.0,) * 4


@pytest.mark.usefixtures("undrawn")
def test_the_report_says_it_loudly(tmp_path: Path) -> None:
    """In the table of scores, above it, in the list of failed runs, and in the CSV."""
    asked = finished(tmp_path, [FINE, {**NOTHING, "failed_episodes": 4, "failure": SAID}])
    report(asked)
    text = (tmp_path / "report.md").read_text()
    assert "1 RUNS FAILED" in text
    assert "(2, 1 failed)" in text
    assert f"| CartPole-v1 · search · seed 1 | 0 | 4 held-out episodes failed: {SAID} |" in text
    assert f"4 held-out episodes failed: {SAID}" in (tmp_path / "results.csv").read_text().splitlines()[2]


@pytest.mark.usefixtures("undrawn")
def test_columns_that_play_some_tasks_only_leave_the_others_whole(tmp_path: Path) -> None:
    """They are compared on their own tasks, and all tasks stay in the comparison of those that play all."""
    tasks = (SuiteTask("CartPole-v1"), SuiteTask("Acrobot-v1"))
    suite = Suite("mine", "Mine", tasks, steps=10, only={"search-untuned": ("Acrobot-v1",)})
    asked = Benchmark(
        suite, choose(["search", "search-untuned", "random"]), [], 1, CellBudget(), tmp_path, ["mine.toml"]
    )
    for cell in asked.cells():
        cell.directory.mkdir(parents=True)
        content = {"method": cell.method.name, "test": FINE, "steps": {"total": 9}, "wall_seconds": 1.0}
        (cell.directory / "result.json").write_text(json.dumps(content))
    report(asked)
    text = (tmp_path / "report.md").read_text()
    overall, _, partial = text.partition("## On the tasks of search-untuned")
    assert "Normalised scores on 2 tasks: CartPole-v1, Acrobot-v1." in overall
    assert "Normalised scores on 1 task: Acrobot-v1." in partial
    assert "the intervals are points" in overall
    lines = (tmp_path / "results.csv").read_text().splitlines()
    assert lines[0].count("score_low") == 1
    assert sum("500,500,500" in line for line in lines) == 5
