"""Speed of image observations across the border."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

import pytest

SPEED = Path(__file__).parents[2] / "benchmarks" / "results" / "sandbox" / "speed.py"


@pytest.mark.slow
@pytest.mark.timeout(500)
def test_image_observations_keep_half_of_the_speed() -> None:
    """CarRacing's 96 x 96 x 3 bytes in lockstep, by CPU time relative to a plain loop."""
    pytest.importorskip("Box2D")
    speed = runpy.run_path(str(SPEED))
    [row] = speed["measure_ratios"](replace(speed["PICTURES"][0], horizon=40), (4,), 2, 0.1)
    assert row.ratio > 0.5
