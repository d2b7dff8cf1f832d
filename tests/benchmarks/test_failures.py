"""Runs whose policy failed in the final test are counted, named and never left out of a mean."""

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
NO_RETURNS = {**FINE, "outcome": "crashed", "mean_return": None, "episodes": 0, "returns": []}
FAILURE_MESSAGE = "ZeroDivisionError in the policy at step 7"


def finished_benchmark(
    root: Path, tests: list[Mapping[str, Any] | None], score: Score = "return"
) -> Benchmark:
    """Return a benchmark of program search on CartPole with one run per seed that ended in these tests."""
    suite = Suite("mine", "Mine", (SuiteTask("CartPole-v1"),), steps=10, score=score)
    benchmark = Benchmark(suite, choose(["search"]), [], len(tests), CellBudget(), root, ["mine.toml"])
    for cell, test in zip(benchmark.cells(), tests, strict=True):
        cell.directory.mkdir(parents=True)
        content = {"method": "search", "test": test, "steps": {"total": 9}, "wall_seconds": 1.0}
        (cell.directory / "result.json").write_text(json.dumps(content))
    return benchmark


def summary_of(benchmark: Benchmark, anchors: Mapping[str, Anchors] = ANCHORS) -> Summary:
    """Return the summary of a benchmark."""
    return summarise(read_rows(benchmark.suite, benchmark.cells()), anchors, ["CartPole-v1"])


KEY = ("CartPole-v1", "search")


@pytest.mark.parametrize(
    "crashed",
    [
        {**NO_RETURNS, "failed_episodes": 4, "failure": FAILURE_MESSAGE},
        NO_RETURNS,
        None,
    ],
)
def test_run_without_a_score_counts_as_the_low_anchor(
    tmp_path: Path, crashed: Mapping[str, Any] | None
) -> None:
    """One perfect and one crashed run have a mean of one half, not of one."""
    summary = summary_of(finished_benchmark(tmp_path, [FINE, crashed]))
    assert (summary.runs[KEY], summary.failed[KEY]) == (2, 1)
    assert summary.cells[KEY].value == (500 + 20) / 2
    assert summary.overall.aggregates["search"].scores.ravel().tolist() == [1.0, 0.0]


@pytest.mark.parametrize("listed", [[500.0] * 3, [500.0, 500.0, 500.0, 100.0]])
def test_run_with_failed_episodes_counts_as_a_failure(tmp_path: Path, listed: list[float]) -> None:
    """Its mean includes the failed episodes, listed or not; its normalised score is 0."""
    mean = math.fsum([*listed, min(listed)][:4]) / 4
    crashed = {
        **FINE,
        "outcome": "crashed",
        "returns": listed,
        "mean_return": mean,
        "failed_episodes": 1,
        "failure": FAILURE_MESSAGE,
    }
    benchmark = finished_benchmark(tmp_path, [crashed])
    (row,) = read_rows(benchmark.suite, benchmark.cells())
    assert row.score == mean
    assert row.failure == f"1 held-out episodes failed: {FAILURE_MESSAGE}"
    assert summary_of(benchmark).overall.aggregates["search"].scores.tolist() == [[0.0]]


def test_a_failure_is_never_better_than_a_bad_run(tmp_path: Path) -> None:
    """A failed run below the low anchor stays there."""
    crashed = {**FINE, "outcome": "crashed", "returns": [10.0], "mean_return": 10.0, "failed_episodes": 3}
    scores = summary_of(finished_benchmark(tmp_path, [crashed])).overall.aggregates["search"].scores
    assert scores.tolist() == [[pytest.approx(-10 / 480)]]


def test_without_anchors_a_failed_run_leaves_no_mean(tmp_path: Path) -> None:
    """Nothing can stand for it, so the entry only states the failure."""
    summary = summary_of(finished_benchmark(tmp_path, [FINE, None]), {})
    assert KEY not in summary.cells
    assert (summary.runs[KEY], summary.failed[KEY]) == (2, 1)


def test_failed_episodes_count_as_no_success(tmp_path: Path) -> None:
    """Shares of successes need no anchors."""
    benchmark = finished_benchmark(tmp_path, [{**NO_RETURNS, "failed_episodes": 4}], "success")
    (row,) = read_rows(benchmark.suite, benchmark.cells())
    assert row.values == (0.0,) * 4


@pytest.mark.usefixtures("without_figures")
def test_report_states_failures_prominently(tmp_path: Path) -> None:
    """They are in the table of scores, above it, in the list of failed runs and in the CSV."""
    benchmark = finished_benchmark(
        tmp_path, [FINE, {**NO_RETURNS, "failed_episodes": 4, "failure": FAILURE_MESSAGE}]
    )
    report(benchmark)
    text = (tmp_path / "report.md").read_text()
    assert "1 RUNS FAILED" in text
    assert "(2, 1 failed)" in text
    assert f"| CartPole-v1 · search · seed 1 | 0 | 4 held-out episodes failed: {FAILURE_MESSAGE} |" in text
    assert (
        f"4 held-out episodes failed: {FAILURE_MESSAGE}"
        in (tmp_path / "results.csv").read_text().splitlines()[2]
    )


@pytest.mark.usefixtures("without_figures")
def test_columns_with_fewer_tasks_are_compared_separately(tmp_path: Path) -> None:
    """All tasks stay in the comparison of the columns that have them."""
    tasks = (SuiteTask("CartPole-v1"), SuiteTask("Acrobot-v1"))
    suite = Suite("mine", "Mine", tasks, steps=10, only={"search-untuned": ("Acrobot-v1",)})
    benchmark = Benchmark(
        suite, choose(["search", "search-untuned", "random"]), [], 1, CellBudget(), tmp_path, ["mine.toml"]
    )
    for cell in benchmark.cells():
        cell.directory.mkdir(parents=True)
        content = {"method": cell.method.name, "test": FINE, "steps": {"total": 9}, "wall_seconds": 1.0}
        (cell.directory / "result.json").write_text(json.dumps(content))
    report(benchmark)
    text = (tmp_path / "report.md").read_text()
    overall, _, partial = text.partition("## On the tasks of search-untuned")
    assert "Normalised scores on 2 tasks: CartPole-v1, Acrobot-v1." in overall
    assert "Normalised scores on 1 task: Acrobot-v1." in partial
    assert "the intervals are points" in overall
    lines = (tmp_path / "results.csv").read_text().splitlines()
    assert lines[0].count("score_low") == 1
    assert sum("500,500,500" in line for line in lines) == 5
