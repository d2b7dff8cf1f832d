"""Image-like observations as small maps."""

from typing import Any

import numpy as np
import pytest
from promptpo.telling.maps import maps

from sandbox import Episode, Trajectory


def episode(observations: Any) -> Any:
    """An episode that sees these."""
    n = len(observations) - 1
    return Episode(0, 1.0, n, True, False, None, 0, 0.0, Trajectory(observations, [0] * n, [0.0] * n), None)


def room(at: int) -> Any:
    """A room of five by five with something in it, its colour in a second layer."""
    grid = np.zeros((5, 5, 3), dtype=np.uint8)
    grid[[0, -1], :, 0] = grid[:, [0, -1], 0] = 2
    grid[2, at] = (8, 1, 0)
    return grid


def test_a_grid_is_drawn_with_what_changed() -> None:
    """The first map, the cells that changed, the last map; layers that never differ are left out."""
    told = maps(episode([{"image": room(at), "direction": 0} for at in (1, 2, 3)]), {"obs['image']": "view"})
    lines = told.splitlines()
    assert lines[0].startswith("view as a map ([..., 0], [..., 1] side by side)")
    assert lines[3] == "28002  01000"
    assert "step 0 changed [2, 1, 0] 8 -> 0, [2, 1, 1] 1 -> 0, [2, 2, 0] 0 -> 8, [2, 2, 1] 0 -> 1" in told
    assert lines[-3] == "20082  00010"


@pytest.mark.parametrize(
    "observation",
    [np.zeros((5, 5)), np.zeros((84, 84, 3), np.uint8), np.full((5, 5), 200), np.zeros(9, int), "a wall", 3],
)
def test_what_is_no_small_grid_has_no_map(observation: Any) -> None:
    """Measurements, pixels, large numbers, rows, texts."""
    assert maps(episode([observation] * 3), {}) == ""


def test_a_grid_that_changes_wholly_is_drawn_twice() -> None:
    """Without a list of its cells."""
    told = maps(episode([np.full((4, 4), n) for n in range(4)]), {})
    assert "changed" not in told
    assert told.count("\n") == 9
    assert told.splitlines()[0].startswith("obs as a map")
