"""CMA-ES in the unit cube; `test_modules_loaded` checks its imports."""

import numpy as np
import pytest

from promptpo.cma_es import evolution_strategy


@pytest.mark.parametrize("numbers", [1, 3])
def test_finds_a_minimum_inside_the_cube(numbers: int) -> None:
    goal = np.linspace(0.2, 0.9, numbers)
    search = evolution_strategy([0.5] * numbers, 0.25, np.random.default_rng(1))
    for _ in range(60):
        points = [np.asarray(point) for point in search.ask()]
        assert all(((point >= 0) & (point <= 1)).all() for point in points)
        search.tell(points, [float(((point[:numbers] - goal) ** 2).sum()) for point in points])
    assert search.result.xbest[:numbers] == pytest.approx(goal, abs=0.01)


def test_randomness_comes_from_the_given_generator() -> None:
    first, again = (evolution_strategy([0.5, 0.5], 0.2, np.random.default_rng(3)).ask() for _ in range(2))
    assert np.array_equal(first, again)
