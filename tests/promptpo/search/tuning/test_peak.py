"""The best single episode that tuning has seen."""

from typing import Any

import pytest

from promptpo.program import Program
from promptpo.search.tuning.batches import NO_PEAK, Start
from promptpo.search.tuning.clock import Clock
from promptpo.search.tuning.cma_search import CmaSearch
from promptpo.search.tuning.foresight import LOOK_SEED
from promptpo.search.tuning.peaks import Peak, Peaks
from sandbox import Episode
from tests.promptpo.search.tuning.test_allocate import start


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
    assert (search.whole_episodes.best().return_ == -1.0) is whole


def test_what_the_values_of_a_peak_gave_again_is_known() -> None:
    """The best single episode, and all others with the same numbers, failed ones left out."""
    peaks = Peaks()
    assert peaks.best() == Peak()
    peaks.add({"a": 1.0}, [90.0, 410.0])
    peaks.add({"a": 2.0}, [300.0])
    peaks.add({"a": 1.0}, [float("-inf"), 80.0])
    assert peaks.best() == Peak(410.0, {"a": 1.0}, (90.0, 80.0))


def test_looks_and_the_final_choice_count_as_whole_episodes(drive: Any) -> None:
    """A vector's best episode may be one of these, where the search itself plays short ones."""

    def returns(trial: Any) -> float:
        return 410.0 if trial.seed == LOOK_SEED + 1 and trial.horizon == 1000 else -trial.params["a"]

    (tuned,), _ = drive([start()], returns, steps=60_000, length=1000, horizon=1000, earning=True)
    assert tuned.peak.return_ == 410.0
