"""Whether a target is reached: asked in whole episodes as soon as it may be so, and with few of them."""

from __future__ import annotations

import math
import statistics
from itertools import accumulate
from typing import TYPE_CHECKING

from promptpo.search.tuning.batches import Batch, return_of, steps_of
from sandbox import Trial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo.search.tuning.batches import Episodes, Finalist, SeedSource
    from promptpo.search.tuning.clock import Clock
    from promptpo.search.tuning.cma_search import CmaSearch

LOOKS = (1, 2, 3, 4, 5)
"""Whole episodes of one vector, look by look: the first tells most that fail."""

FEWEST = 15
"""With so many at the least the target may count as reached."""

MARGIN = 2.0
"""By so many standard errors the mean has to be above it."""

SHARE = 0.1
"""Share of the steps that asking may take in all."""

PROOF_SEED = 450_000
"""Uses training seeds from here on."""


class Proof:
    """Plays whole episodes with vectors that may have reached the target; ends with the first that has.

    Search cuts episodes where endings are failures, and stops at the end of its budget; a target may be reached
    long before. So whenever the best vector of a generation would reach it at the rate of its cut episodes, it
    plays one whole episode, and while it stays at the target more of them.

    Args:
        clock: The budget.
        seeds: Source of training seeds.
        target: Mean return to reach.

    Attributes:
        reached: Whose vector reached it, the vector and its returns; None before.
    """

    def __init__(self, clock: Clock, seeds: SeedSource, target: float) -> None:
        self._clock, self._seeds, self._target = clock, seeds, target
        self._tried: list[Finalist] = []
        self._now: tuple[CmaSearch, Finalist, list[float]] | None = None
        self._used = self._spent = 0
        self.reached: tuple[CmaSearch, Finalist, list[float]] | None = None

    def ask(self, arm: CmaSearch) -> Batch | None:
        """The next look at an arm's best vector; None where there is nothing to ask."""
        if self._now is None:
            hopeful = arm.may_reach(self._target, self._clock)
            finalist = next((one for one in hopeful if one not in self._tried), None)
            if finalist is None:
                return None
            self._tried.append(finalist)
            self._now = (arm, finalist, [])
        _, finalist, returns = self._now
        n = next(
            (n for n, seen in zip(LOOKS, (0, *accumulate(LOOKS)), strict=False) if seen == len(returns)), 0
        )
        cost = self._clock.cost(n, self._clock.horizon)
        if not n or self._spent > SHARE * self._clock.steps or cost > self._clock.left:
            self._now = None
            return None
        seeds = self._seeds(PROOF_SEED + self._used, n)
        self._used += n
        return Batch(finalist.program, tuple(Trial(s, finalist.params, self._clock.horizon) for s in seeds))

    def tell(self, episodes: Episodes) -> None:
        """Learn from a look."""
        if self._now is None:
            raise RuntimeError("ask first")
        arm, finalist, returns = self._now
        returns += map(return_of, episodes)
        arm.steps += steps_of(episodes)
        arm.evaluations += len(episodes)
        self._spent += steps_of(episodes)
        if not all(map(math.isfinite, returns)):
            self._now = None
            return
        mean, n = statistics.fmean(returns), len(returns)
        error = statistics.stdev(returns) / math.sqrt(n) if n > 1 else 0.0
        if n >= FEWEST and mean - MARGIN * error >= self._target:
            self.reached, self._now = (arm, finalist, returns), None
        elif mean + MARGIN * error < self._target or self._cannot(returns):
            self._now = None
            if self._clock.stage_horizon() != self._clock.horizon:
                self._clock.lengthen()  # what can be told apart in episodes of this length has been

    def _cannot(self, returns: Sequence[float]) -> bool:
        """Whether the looks that are left cannot reach the target any more, where the most that an episode earns is known."""
        horizon, clock = self._clock.horizon, self._clock
        if not clock.lasting or horizon is None:
            return False
        most = min(clock.rates) * horizon
        hoped = [*returns, *[most] * (sum(LOOKS) - len(returns))]
        error = statistics.stdev(hoped) / math.sqrt(len(hoped))
        return statistics.fmean(hoped) - MARGIN * error < self._target
