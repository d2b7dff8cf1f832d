"""The first look of a tuning that has to earn its steps: do these numbers matter, and in which structure?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from promptpo.search.tuning.cma_search import CmaSearch

if TYPE_CHECKING:
    from promptpo.search.tuning.batches import Batch
    from promptpo.search.tuning.clock import Clock
    from promptpo.search.tuning.tabular import TableSearch

GENERATIONS = 3
"""Each structure is tuned for so many generations before one is dropped, where that takes no more than"""

SHARE = 0.15
"""this share of the steps; one generation in any case, where all of these together take no more than"""

MOST = 0.4
"""this share; else as many structures as it pays for are looked at, the most promising first."""

FLAT_GENERATIONS = 4
FLAT_SHARE = 0.25
"""Numbers that made no difference in so many generations, or for this share of the steps, do not matter. All
but the first of these generations are drawn from the whole ranges and play whole episodes."""


class FirstLook:
    """Tunes every structure briefly, before any is dropped for its untuned score.

    It does no rolling out itself: roll `asks` out, give the episodes to `CmaSearch.tell` and its like, and go
    on while `due`.

    Args:
        arms: The structures, the most promising first.
        clock: The budget.
    """

    def __init__(self, arms: Sequence[CmaSearch | TableSearch], clock: Clock) -> None:
        self.arms, self._clock = list(arms), clock
        self._generations = 0
        while len(self.arms) > 1 and self._cost() > MOST * clock.steps:
            self.arms.pop()

    def due(self) -> bool:
        """Whether another generation belongs to the look; prepares it."""
        clock, flat = self._clock, self.flat
        if self._cost() > clock.search_left:
            return False
        if self._generations and flat:
            if self._generations >= FLAT_GENERATIONS or clock.spent >= FLAT_SHARE * clock.steps:
                return False
            if not clock.lengthen_within(clock.search_left // self._episodes()):
                return False
            for arm in self.arms:
                if isinstance(arm, CmaSearch):
                    arm.widen()
        elif self._generations and (
            self._generations >= GENERATIONS or clock.spent + self._cost() > SHARE * clock.steps
        ):
            return False
        self._generations += 1
        return True

    @property
    def flat(self) -> bool:
        """Whether no number of any structure has made a difference yet."""
        return all(arm.flat for arm in self.arms)

    def asks(self) -> list[Batch]:
        """A generation of each structure."""
        return [arm.ask(self._clock) for arm in self.arms]

    def _cost(self) -> int:
        return self._clock.cost(self._episodes(), self._clock.stage_horizon())

    def _episodes(self) -> int:
        return sum(arm.population + 1 for arm in self.arms)
