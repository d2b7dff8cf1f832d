"""The best single episode that tuning has seen."""

import pytest

from promptpo.program import Program
from promptpo.search.tuning.batches import NO_PEAK, Start
from promptpo.search.tuning.clock import Clock
from promptpo.search.tuning.cma_search import CmaSearch
from sandbox import Episode


@pytest.mark.parametrize(("steps", "whole"), [(20_000, False), (10_000_000, True)])
def test_a_cut_episode_is_no_peak(steps: int, whole: bool) -> None:
    """Where every step costs, an episode that was cut has lost less, and shows nothing that is possible."""
    start = Start("r1c1", Program('PARAMS = {"a": (1.0, 0.0, 2.0)}\n'), -1000.0)
    search = CmaSearch(start, 0, lambda first, n: tuple(range(first, first + n)))
    batch = search.ask(Clock(steps, 1000, search.population))
    assert (batch.trials[0].horizon == 1000) is whole
    search.tell([Episode(0, -1.0, 10, False, True, None, 0, 0.0, None, None) for _ in batch.trials])
    assert (search.peak[0] == -1.0) is whole
    assert (search.peak is NO_PEAK) is not whole
