"""Random directions, each tried both ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from promptpo.features.tuning.batches import Start, StepBudget
from promptpo.features.tuning.directions import MIN_GENERATION, MirroredDirections
from promptpo.features.tuning.numbers import MAX_COVARIANCE_NUMBERS, CmaSearch
from promptpo.program import Program


def searched(cost: Any, size: int, generations: int, seed: int = 0) -> MirroredDirections:
    """A search from the middle."""
    search = MirroredDirections(np.full(size, 0.5), 1.0, 18, np.random.default_rng(seed))
    for _ in range(generations):
        vectors = search.ask()
        search.tell(vectors, [cost(vector) for vector in vectors])
    return search


@pytest.mark.parametrize("seed", range(3))
def test_it_goes_down_where_hundreds_of_numbers_matter(seed: int) -> None:
    """On a bowl in 120 dimensions, with noise, and whatever the scale of the costs."""
    goal, rng = np.random.default_rng(7).uniform(0.3, 0.7, 120), np.random.default_rng(seed)

    def cost(vector: Any) -> float:
        return 1e6 * float(np.sum((vector - goal) ** 2) + 0.01 * rng.standard_normal())

    before = float(np.sum((0.5 - goal) ** 2))
    after = float(np.sum((searched(cost, 120, 100, seed).result.xfavorite - goal) ** 2))
    assert after < 0.4 * before


def test_vectors_come_in_pairs_around_the_middle() -> None:
    """And stay in the unit cube; an odd population has one more, a small one as many as it takes."""
    search = MirroredDirections(np.full(120, 0.5), 1.0, 19, np.random.default_rng(0))
    vectors = search.ask()
    assert len(vectors) == search.popsize == 20
    np.testing.assert_allclose(vectors[0] + vectors[1], 1.0)
    edge = MirroredDirections(np.ones(120), 1.0, 4, np.random.default_rng(0))
    assert edge.popsize == MIN_GENERATION
    assert all(vector.max() <= 1.0 for vector in edge.ask())


def test_where_all_cost_the_same_it_stays() -> None:
    """No direction is better than another."""
    assert np.all(searched(lambda vector: 3.0, 120, 5).result.xfavorite == 0.5)


@pytest.mark.parametrize("size", [MAX_COVARIANCE_NUMBERS, MAX_COVARIANCE_NUMBERS + 1])
def test_only_many_numbers_are_searched_so(size: int) -> None:
    """What CMA-ES can learn a covariance for is left to it."""
    source = (
        f'import numpy as np\nPARAMS = {{"W": (np.zeros(({size},)), -1.0, 1.0)}}\n\n\nclass Policy:\n'
        "    def __init__(self, params):\n        self.w = params['W']\n\n    def act(self, obs):\n        return self.w[:1]\n"
    )
    start, budget = Start("a", Program.from_source(source)), StepBudget(100_000, 100)
    search = CmaSearch(start, 0, lambda first, n: tuple(range(first, first + n)), budget)
    assert search.size == size
    assert isinstance(search._es, MirroredDirections) == (size > MAX_COVARIANCE_NUMBERS)
