"""The CartPole study: what its numbers mean, and that it runs."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptpo_baselines.cartpole_study import block_means, first_window, run_study, table
from promptpo_baselines.progress import Display


def test_blocks_are_complete() -> None:
    """Means of whole blocks; a started one is left out."""
    assert block_means([1.0] * 25 + [3.0] * 25 + [9.0] * 24) == [1.0, 3.0]


@given(st.lists(st.sampled_from([0.0, 500.0]), max_size=60))
def test_the_first_window_is_the_first(returns: Any) -> None:
    """It reaches the level, and no earlier one does."""
    end = first_window(returns, 300.0, size=5)
    means = [sum(returns[i - 5 : i]) / 5 for i in range(5, len(returns) + 1)]
    assert end == next((i + 5 for i, mean in enumerate(means) if mean >= 300.0), None)


@pytest.mark.slow
def test_a_small_study_runs_and_goes_on(tmp_path: Path) -> None:
    """One seed, one rollout: files are written, and the second call trains nothing."""
    first = run_study(tmp_path, seeds=1, steps=2048, display=Display())
    assert json.loads((tmp_path / "study.json").read_text()) == first
    assert (tmp_path / "curve.svg").read_text().startswith("<?xml")
    assert first["claim_met_by"] == 0
    assert first["runs"][0]["episodes"] > 25
    assert "in 0 of 1 runs" in table(first)
    assert run_study(tmp_path, seeds=1, steps=2048, display=Display())["runs"] == first["runs"]
