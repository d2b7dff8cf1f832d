"""Learning curves of baselines count steps as those of searches do, and tell when a policy was sufficient."""

import json
from pathlib import Path
from typing import Any

import pytest

from promptpo_benchmarks.benchmark import Benchmark, report, run
from promptpo_benchmarks.runner.methods import CellBudget, choose
from promptpo_benchmarks.runner.suite import Score, Suite, SuiteTask
from promptpo_benchmarks.statistics.rows import read_csv, read_rows

TEST = {"outcome": "ok", "mean_return": 500.0, "ci95": [500.0, 500.0], "episodes": 2, "success_rate": 1.0, "returns": [500.0] * 2}  # fmt: skip


def finished_ppo(root: Path, curve: list[dict[str, Any]], score: Score, tune: int = 0) -> Benchmark:
    """Return a benchmark of PPO whose only run has this curve; anchors are 0 and 500, or 0 and 1 for success."""
    top = 500 if score == "return" else 1
    suite = Suite("mine", "Mine", (SuiteTask("CartPole-v1", anchors=(0, top)),), steps=100, score=score)
    benchmark = Benchmark(suite, choose(["ppo"]), [], 1, CellBudget(), root, ["mine.toml"])
    (cell,) = benchmark.cells()
    cell.directory.mkdir(parents=True)
    steps = {"train": 60, "validation": 20, "tune": tune, "test": 9}
    content = {"method": "ppo", "test": TEST, "steps": steps, "curve": curve, "wall_seconds": 9.0}
    (cell.directory / "result.json").write_text(json.dumps(content))
    return benchmark


def test_steps_to_a_sufficient_score_include_validation_and_search(tmp_path: Path) -> None:
    """60 training steps after 40 of a search, with 20 of validation, are 120, as for a search of programs."""
    curve = [
        {"steps": 0, "validation_steps": 10, "wall_seconds": 1.0, "mean_return": 20.0, "success_rate": None},
        {"steps": 60, "validation_steps": 20, "wall_seconds": 3.0, "mean_return": 490.0, "success_rate": None},
    ]  # fmt: skip
    report(finished_ppo(tmp_path, curve, "return", tune=40))
    (row,) = read_csv(tmp_path)
    assert (row["steps_to_95"], row["seconds_to_95"]) == (120, 3.0)


@pytest.mark.parametrize("rates", [(0.0, 1.0), (None, 1.0)])
def test_a_higher_success_rate_is_better_even_with_a_lower_return(tmp_path: Path, rates: Any) -> None:
    """Agents are chosen by success rate first, so the curve has the first successful one."""
    curve = [
        {"steps": n, "validation_steps": 0, "wall_seconds": 1.0, "mean_return": value, "success_rate": rate}
        for n, value, rate in zip((10, 20, 30), (50.0, 40.0, 45.0), (*rates, 0.5), strict=True)
    ]
    benchmark = finished_ppo(tmp_path, curve, "success")
    (row,) = read_rows(benchmark.suite, benchmark.cells())
    assert [point.steps for point in row.curve] == [10, 20]
    report(benchmark)
    assert read_csv(tmp_path)[0]["steps_to_95"] == 20


@pytest.mark.slow
def test_report_of_icpi_has_its_curve_without_times(tmp_path: Path) -> None:
    """ICPI records no times of its training episodes."""
    suite = Suite("mine", "Mine", (SuiteTask("promptpo_baselines.icpi:promptpo/Chain-v0"),), steps=150)
    budget = CellBudget(test_episodes=2)
    benchmark = Benchmark(suite, choose(["icpi"]), [], 1, budget, tmp_path, ["mine.toml"])
    assert run(benchmark, 1, lambda line: None) == []
    (row,) = read_rows(suite, benchmark.cells())
    assert row.curve
    assert "learning-steps" in (tmp_path / "report.md").read_text()
    assert "learning-seconds" not in (tmp_path / "report.md").read_text()
    assert read_csv(tmp_path)[0]["seconds_to_95"] is None
