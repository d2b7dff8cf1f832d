"""How fast observations that are pictures cross the border."""

from __future__ import annotations

from dataclasses import replace

import pytest

from promptpo_benchmarks.sandbox_speed import PICTURES, measure_ratios


@pytest.mark.slow
@pytest.mark.timeout(500)
def test_pictures_leave_more_than_half_of_the_speed() -> None:
    """CarRacing's 96 by 96 by 3 bytes through host and guest in lockstep, in CPU time over that of a plain loop."""
    pytest.importorskip("Box2D")
    [row] = measure_ratios(replace(PICTURES[0], horizon=40), (8,), 2, 0.5)
    assert row.ratio > 0.5
