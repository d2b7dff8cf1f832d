"""Mirrored random directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from promptpo.features.tuning.batches import Start, StepBudget
from promptpo.features.tuning.directions import MIN_GENERATION, MirroredDirections
from promptpo.features.tuning.numbers import MAX_COVARIANCE_NUMBERS, CmaSearch
from promptpo.program import Program


def search_from_the_middle(cost: Any, size: int, generations: int, seed: int = 0) -> MirroredDirections:
    """Return a search after these generations, started in the middle of the cube."""
    search = MirroredDirections(np.full(size, 0.5), 1.0, 18, np.random.default_rng(seed))
    for _ in range(generations):
        vectors = search.ask()
        search.tell(vectors, [cost(vector) for vector in vectors])
    return search


@pytest.mark.parametrize("seed", range(3))
def test_cost_decreases_in_many_dimensions(seed: int) -> None:
    """The cost is a noisy bowl in 120 dimensions at an arbitrary scale."""
    goal, rng = np.random.default_rng(7).uniform(0.3, 0.7, 120), np.random.default_rng(seed)

    def cost(vector: Any) -> float:
        return 1e6 * float(np.sum((vector - goal) ** 2) + 0.01 * rng.standard_normal())

    before = float(np.sum((0.5 - goal) ** 2))
    after = float(np.sum((search_from_the_middle(cost, 120, 100, seed).result.xfavorite - goal) ** 2))
    assert after < 0.4 * before


def test_vectors_are_mirrored_within_the_cube() -> None:
    """The size of a generation is rounded up to an even number."""
    search = MirroredDirections(np.full(120, 0.5), 1.0, 19, np.random.default_rng(0))
    vectors = search.ask()
    assert len(vectors) == search.popsize == 20
    np.testing.assert_allclose(vectors[0] + vectors[1], 1.0)
    edge = MirroredDirections(np.ones(120), 1.0, 4, np.random.default_rng(0))
    assert edge.popsize == MIN_GENERATION
    assert all(vector.max() <= 1.0 for vector in edge.ask())


def test_equal_costs_leave_the_mean_unchanged() -> None:
    assert np.all(search_from_the_middle(lambda vector: 3.0, 120, 5).result.xfavorite == 0.5)


@pytest.mark.parametrize("size", [MAX_COVARIANCE_NUMBERS, MAX_COVARIANCE_NUMBERS + 1])
def test_mirrored_directions_replace_cma_es_for_many_parameters(size: int) -> None:
    source = (
        f'import numpy as np\nPARAMS = {{"W": (np.zeros(({size},)), -1.0, 1.0)}}\n\n\nclass Policy:\n'
        "    def __init__(self, params):\n        self.w = params['W']\n\n    def act(self, obs):\n        return self.w[:1]\n"
    )
    start, budget = Start("a", Program.from_source(source)), StepBudget(100_000, 100)
    search = CmaSearch(start, 0, lambda first, n: tuple(range(first, first + n)), budget)
    assert search.size == size
    assert isinstance(search._es, MirroredDirections) == (size > MAX_COVARIANCE_NUMBERS)
