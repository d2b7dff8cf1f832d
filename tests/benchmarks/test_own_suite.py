"""A user's own suites, whose tasks have no anchors, are compared all the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptpo.errors import UsageError
from promptpo_benchmarks.benchmark import Benchmark, report
from promptpo_benchmarks.runner.methods import CellBudget, choose
from promptpo_benchmarks.runner.suite import Suite, SuiteTask, load_suite
from promptpo_benchmarks.statistics.rows import read_rows
from promptpo_benchmarks.statistics.summary import relative_anchors, summarise

METHODS = ("search", "ppo", "random")


def finished_benchmark(root: Path, means: dict[tuple[str, str], float], **changes: Any) -> Benchmark:
    """Return a benchmark whose runs have these means, by task and method."""
    tasks = tuple(SuiteTask(f"{name}-v0", **changes) for name in dict.fromkeys(task for task, _ in means))
    suite = Suite("mine", "Mine", tasks, steps=10)
    methods = [name for name in METHODS if any(name == method for _, method in means)]
    benchmark = Benchmark(suite, choose(methods), [], 1, CellBudget(), root, ["mine.toml"])
    for cell in benchmark.cells():
        mean = means[cell.task.label.removesuffix("-v0"), cell.method.name]
        test = {
            "outcome": "ok",
            "mean_return": mean,
            "ci95": [mean, mean],
            "episodes": 2,
            "returns": [mean] * 2,
        }
        cell.directory.mkdir(parents=True, exist_ok=True)
        content = {"method": cell.method.name, "test": test, "steps": {"total": 9}, "wall_seconds": 1.0}
        (cell.directory / "result.json").write_text(json.dumps(content))
    return benchmark


@settings(max_examples=5, deadline=None)
@given(
    st.lists(
        st.tuples(*[st.integers(-500, 500)] * 3).filter(lambda row: len(set(row)) > 1), min_size=1, max_size=4
    )
)
def test_scores_are_relative_to_random_actions_and_the_best(
    tmp_path_factory: pytest.TempPathFactory, table: list[tuple[int, ...]]
) -> None:
    """0 and 1 on every task, whatever its scale, also if nothing beats random actions."""
    means = {(f"T{n}", m): float(row[i]) for n, row in enumerate(table) for i, m in enumerate(METHODS)}
    benchmark = finished_benchmark(tmp_path_factory.mktemp("own"), means)
    rows = read_rows(benchmark.suite, benchmark.cells())
    labels = [task.label for task in benchmark.suite.tasks]
    overall = summarise(rows, relative_anchors(rows, {}), labels).overall
    assert overall.shared == tuple(labels)
    for n in range(len(table)):
        low = "random" if max(table[n]) > table[n][2] else METHODS[int(np.argmin(table[n]))]
        assert overall.aggregates[low].scores[0, n] == pytest.approx(0.0)
        assert max(a.scores[0, n] for a in overall.aggregates.values()) == pytest.approx(1.0)
    assert sum(a.rank for a in overall.aggregates.values()) == pytest.approx(6)


@pytest.mark.usefixtures("without_figures")
def test_report_names_the_anchors_of_its_aggregate(tmp_path: Path) -> None:
    """Columns of the benchmark, or the suite's own anchors."""
    means = {
        ("Dryer", "search"): -14.7,
        ("Dryer", "ppo"): -23.8,
        ("Depot", "search"): 7.0,
        ("Depot", "ppo"): 2.0,
    }
    report(finished_benchmark(tmp_path, means))
    text = (tmp_path / "report.md").read_text()
    assert "Normalised scores on 2 tasks" in text
    assert "the worst column here, ppo" in text
    assert "| search | 1 | 1 | 1 |" in text
    report(finished_benchmark(tmp_path, means, anchors=(-100.0, 100.0)))
    text = (tmp_path / "report.md").read_text()
    assert "given by the suite" in text
    assert "column here" not in text


def test_reversed_anchors_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('title = "t"\nsteps = 10\ntasks = [{env = "CartPole-v1", anchors = [500, 20]}]\n')
    with pytest.raises(UsageError, match="low score first"):
        load_suite(str(path))


def test_search_is_tuned_as_in_optimize() -> None:
    """Its old name is accepted."""
    (method,) = choose(["tune", "search"])
    assert (method.name, method.options) == ("search", ("--model", "search"))
