"""The study of refined programs: steps of the program count, and what is measured is not measured again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.refine import ROWS, main, table
from promptpo.errors import UsageError

SWING = """class Policy:
    def act(self, obs):
        return [2.0 if obs[2] > 0 else -2.0]
"""


def row(kind: str, seed: int, value: float | None, **more: Any) -> dict[str, Any]:
    """A measured cell."""
    cell = {"env_id": "X-v0", "algorithm": "ppo", "budget": 1000, "seed": seed, "kind": kind, "return": value}
    return {**cell, **({"program_steps": 600, "program": 5.0} if kind != "scratch" else {}), **more}


def test_a_line_has_both_sides_with_their_spread_over_seeds() -> None:
    """Means and intervals over seeds; a single seed is called so."""
    rows = [row("refined", 0, 10.0), row("refined", 1, 20.0), row("alone", 0, 9.0), row("scratch", 0, 7.0)]
    (line,) = table(rows)
    assert line[:5] == ("X-v0", "1,000", "ppo", "600", "5")
    assert line[5].startswith("15 [")
    assert line[6:] == ("9 (1 seed)", "7 (1 seed)")


def test_a_budget_that_the_program_has_used_up_says_so() -> None:
    """There is no number where nothing was trained."""
    (line,) = table([row("refined", 0, None, program_alone=True, program=None)])
    assert line[5] == "no step left for a network"


@pytest.mark.slow
def test_the_study_trains_once_and_counts_the_program_s_steps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a budget, the network gets what the program has left; a second call reads what is there."""
    run = tmp_path / "programs" / "Pendulum-v1"
    run.mkdir(parents=True)
    (run / "best.py").write_text(SWING)
    (run / "result.json").write_text(json.dumps({"steps": {"train": 128, "test": 9999, "total": 10127}}))
    rows = tmp_path / "small.yml"
    rows.write_text("default: {n_steps: 64, batch_size: 64}")
    words = ["--programs", str(tmp_path / "programs"), "--envs", "Pendulum-v1", "--seeds", "1", "--quiet"]
    words += [
        "--algorithm",
        "ppo",
        "--hyperparams",
        str(rows),
        "--out",
        str(tmp_path / "out"),
        "--test-episodes",
        "1",
    ]
    main([*words, "--budgets", "64,256"])
    first = (tmp_path / "out" / ROWS).read_text()
    found = [json.loads(line) for line in first.splitlines()]
    assert [(r["kind"], r["budget"]) for r in found] == [
        ("refined", 64), ("scratch", 64), ("refined", 256), ("scratch", 256),
    ]  # fmt: skip
    folder = tmp_path / "out" / "Pendulum-v1" / "refine-ppo" / "seed-0"
    assert json.loads((folder / "result.json").read_text())["steps"]["train"] == 128
    assert found[0]["program_alone"]
    assert "no step left" in capsys.readouterr().out
    main([*words, "--budgets", "64,256"])
    assert (tmp_path / "out" / ROWS).read_text() == first
    with pytest.raises(UsageError, match="more than 64 steps"):
        main([*words, "--budgets", "192"])
