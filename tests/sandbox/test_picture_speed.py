"""How fast observations that are pictures cross the border."""

from __future__ import annotations

import pytest

from benchmarks.sandbox_speed import PICTURES, measure_ratios


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_pictures_leave_more_than_half_of_the_speed() -> None:
    """CarRacing's 96 by 96 by 3 bytes through host and guest, alone and in lockstep, over a plain loop."""
    pytest.importorskip("Box2D")
    rows = list(measure_ratios(PICTURES[0], (1, 8), 3, 0.5))
    assert [row.k for row in rows] == [1, 8]
    assert min(row.ratio for row in rows) > 0.5
