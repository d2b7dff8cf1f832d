"""The table of the baselines."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.baselines import HEADER, main, summarise


def result(mean: Any, seed: int) -> Any:
    """What a run of one seed reports, as far as the table reads it."""
    return {
        "env_id": "X-v0",
        "method": "ppo",
        "seed": seed,
        "test": {"mean_return": mean, "returns": [mean - 1, mean + 1]},
        "steps": {"train": 100 + seed},
        "wall_seconds": 2.0 + seed,
        "steps_per_second": 50.0,
    }


def test_intervals_are_over_seeds_where_there_are_three() -> None:
    """With fewer seeds the interval is over episodes."""
    three = summarise(
        "zoo", [result(mean, seed) for seed, mean in enumerate((1.0, 2.0, 3.0))], result(-5.0, 0)
    )
    assert three.mean == 2.0
    assert 1.0 <= three.interval[0] < three.interval[1] <= 3.0
    assert three.random == -5.0
    assert (three.steps, three.seconds) == (102, 3.0)
    one = summarise("zoo", [result(7.0, 0)], result(-5.0, 0))
    assert one.interval[0] == 6.0
    assert one.interval[1] == 8.0


def test_the_command_trains_prints_and_reads_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A tiny table: all columns, one line for each cell; the second call reads the same results."""
    words = ["--envs", "CartPole-v1", "--algorithms", "ppo", "--hyperparams", "zoo,default", "--steps", "256"]
    words += ["--test-episodes", "3", "--out", str(tmp_path), "--quiet"]
    main([*words, "--json"])
    rows = json.loads(capsys.readouterr().out)
    assert [(row["algorithm"], row["hyperparameters"], row["steps"]) for row in rows] == [
        ("ppo", "zoo", 256),
        ("ppo", "default", 256),
    ]
    main(words)
    lines = capsys.readouterr().out.splitlines()
    assert all(title in lines[0] for title in HEADER)
    assert len(lines) == 3
    assert f"{rows[0]['mean']:.1f}" in lines[1]
