"""Whether what is better in short episodes is better in whole ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from promptpo.search.tuning.archive import mean_or_worst
from promptpo.search.tuning.batches import Batch, return_of, steps_of
from sandbox import Trial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo.search.tuning.batches import Episodes, SeedSource
    from promptpo.search.tuning.clock import Clock
    from promptpo.search.tuning.cma_search import CmaSearch

LOOKS = (0.15, 0.3, 0.45, 0.6)
"""Shares of the search budget after which the best vector plays whole episodes."""

EPISODES = 2
LOOK_SEED = 400_000
"""Looks use training seeds from here on."""


class Foresight:
    """Compares the best vector of short episodes with the last one that proved itself in whole episodes.

    A gait that is fast for 200 steps may turn aside or fall after 300. Ranking by short episodes then
    leads away from what is wanted, and more steps of the kind do not help. So now and then the best
    vector plays whole episodes beside the one that did so last, at first the original numbers. Where it
    is no better, episodes become longer and the search goes back. What is proven is so for one structure
    only: another one that takes the lead begins with its own original numbers.

    Args:
        clock: The budget.
        seeds: Source of training seeds.
    """

    def __init__(self, clock: Clock, seeds: SeedSource) -> None:
        self._clock, self._seeds = clock, seeds
        self._looks = 0
        self._proven: dict[CmaSearch, Mapping[str, float]] = {}
        self._tried: Mapping[str, float] = {}

    def due(self) -> bool:
        """Whether it is time to look."""
        clock = self._clock
        return (
            self._looks < len(LOOKS)
            and clock.stage == 0
            and clock.fraction >= LOOKS[self._looks]
            and clock.stage_horizon() != clock.horizon
            and clock.cost(2 * EPISODES, clock.horizon) <= clock.search_left // 8
        )

    def asks(self, arm: CmaSearch) -> list[Batch]:
        """Whole episodes of the best vector and of the last proven one, on the same seeds."""
        seeds = self._seeds(LOOK_SEED + EPISODES * self._looks, EPISODES)
        self._looks += 1
        self._tried = arm.finalists(1)[0].params
        proven = self._proven.setdefault(arm, arm.space.defaults)
        return [
            Batch(arm.start.program, tuple(Trial(seed, params, self._clock.horizon) for seed in seeds))
            for params in (self._tried, proven)
        ]

    def tell(self, arm: CmaSearch, batches: Sequence[Episodes]) -> None:
        """Learn from the look: go on, or back to what is proven with longer episodes."""
        arm.steps += sum(map(steps_of, batches))
        tried, proven = (mean_or_worst([return_of(episode) for episode in batch]) for batch in batches)
        if tried > proven:
            self._proven[arm] = self._tried
        elif self._proven[arm] != self._tried:
            self._clock.lengthen()
            arm.begin_at(self._proven[arm])
