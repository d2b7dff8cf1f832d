"""The rows of the tuning benchmark: kept on disk, never measured twice, shown as means over seeds."""

import csv
import time
from pathlib import Path
from typing import Any

import pytest

from benchmarks.measuring.cpu import cpu_seconds
from benchmarks.tuning.__main__ import main
from benchmarks.tuning.rows import Measurement, RowStore, as_markdown, as_text

COMMAND = "python -m benchmarks.tuning"


def row(seed: int = 0, after: float = 100.0, method: str = "search", **changes: Any) -> Any:
    """A row of a run that never was."""
    values = {
        "env": "Pendulum-v1",
        "method": method,
        "budget": 5000,
        "seed": seed,
        "before": None,
        "after": after,
        "episodes": 20,
        "steps": 4900,
        "seconds": 3.0,
        "cpu_seconds": 2.0,
        "winner": "r1c1",
        "date": "2026-01-01T00:00:00+00:00",
        "versions": {"python": "3.11"},
    }
    return Measurement(**{**values, **changes})


def test_rows_come_back(tmp_path: Path) -> None:
    """Another process finds what this one kept, and nothing else."""
    store = RowStore(tmp_path / "rows")
    store.add(row(0))
    store.add(row(1, before=-5.0))
    again = RowStore(tmp_path / "rows")
    assert again.rows == store.rows
    assert again.find("Pendulum-v1", "search", 5000, 1) == row(1, before=-5.0)
    assert again.find("Pendulum-v1", "ppo", 5000, 1) is None


def test_tables_show_means_over_seeds(tmp_path: Path) -> None:
    """One line per environment, budget and method; the CSV has every run."""
    store = RowStore(tmp_path)
    for one in (row(0, 100.0), row(0, 50.0, "ppo"), row(1, 300.0)):
        store.add(one)
    store.write_tables(COMMAND)
    assert "| Pendulum-v1 | 5,000 | search |  | 200 | 100, 300 | 20 | 3 | 2 |\n" in as_markdown(store.rows)
    assert len(as_text(store.rows).splitlines()) == 3
    text = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert text.startswith(f"{COMMAND}, 2026-01-01\npython 3.11\n")
    with (tmp_path / "rows.csv").open(encoding="utf-8") as file:
        assert [line["after"] for line in csv.DictReader(file)] == ["50.0", "100.0", "300.0"]


def test_complete_rows_are_not_measured_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints what is there; measuring would take workers and much longer."""
    store = RowStore(tmp_path)
    store.add(row(0, 123.0))
    started = time.process_time()
    main(
        [
            "--envs",
            "Pendulum",
            "--steps",
            "5000",
            "--seeds",
            "1",
            "--methods",
            "search",
            "--out",
            str(tmp_path),
        ]
    )
    assert "123" in capsys.readouterr().out
    assert RowStore(tmp_path).rows == store.rows
    assert time.process_time() - started < 5


def test_cpu_seconds_count_this_process() -> None:
    """Work shows up, in ticks of a hundredth of a second."""
    before, started = cpu_seconds(), time.process_time()
    while time.process_time() - started < 0.1:
        pass
    assert 0.05 < cpu_seconds() - before < 2.0
