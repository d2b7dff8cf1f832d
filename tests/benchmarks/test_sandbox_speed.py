"""The sandbox's benchmark ends in time and prints what it has."""

import math
import time
from typing import Any

from promptpo_benchmarks.sandbox_speed import CASES, measure_all, measure_ratios


def test_what_fails_or_takes_too_long_is_named_beside_what_was_measured() -> None:
    """A part that fails costs its own entry alone; when time is over, the rest is left out."""

    def failing() -> Any:
        raise ValueError("no such environment")

    began = time.monotonic()
    parts = {"one": lambda: 1, "two": failing, "three": lambda: time.sleep(60), "four": lambda: 4}
    result = measure_all(parts, 0.3, {"cores": 2})
    assert time.monotonic() - began < 10
    assert result == {
        "cores": 2,
        "one": 1,
        "problems": {
            "two": "ValueError: no such environment",
            "three": "no time was left",
            "four": "no time was left",
        },
    }


def test_ratios_stop_when_their_time_is_over() -> None:
    """No pair begins after that; without a limit every number of lanes has all of them."""
    case = CASES[3]
    assert list(measure_ratios(case, (1, 2), 2, 0.001, until=-math.inf)) == []
    rows = list(measure_ratios(case, (1, 2), 2, 0.001))
    assert [(row.k, row.pairs) for row in rows] == [(1, 2), (2, 2)]
    assert all(row.ratio > 0 for row in rows)
