"""Whether what is better in short episodes is better in whole ones."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from typing import TYPE_CHECKING

from promptpo.run.evidence import SMALL
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

EARNING_LOOKS = (0.1, 0.2, 0.35, 0.5, 0.75)
"""The same where tuning has to earn its steps: from early on, whatever the length of the episodes."""

IDLE_LOOKS = 2
"""So many looks in a row without a gain end a tuning that has to earn its steps."""

EPISODES = 2
MOST_EPISODES, LOOK_SHARE = 10, 0.03
"""Where it has to, a look has more episodes if they take no more than this share of the steps."""

LOOK_SEED = 400_000
"""Looks use training seeds from here on."""


FIRST_SHARE, MOST_FIRST = 0.15, 5
"""The first look at whole episodes, of one vector of each structure, may take about this share of the steps."""


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
        earning: Also judge whether tuning still gains, and therefore look where episodes are whole as well.

    Attributes:
        idle: Looks in a row that showed no gain beyond noise.
        gains: Looks that showed one.
        seen: The latest comparison of lengths: (steps of a short episode, mean return in these, mean return in
            whole ones) of the best vector; None before the first.
        leader: Whose vector that was.
    """

    def __init__(self, clock: Clock, seeds: SeedSource, *, earning: bool = False) -> None:
        self._clock, self._seeds, self._earning = clock, seeds, earning
        self._at = EARNING_LOOKS if earning else LOOKS
        self.idle = self.gains = 0
        self.seen: tuple[int, float, float] | None = None
        self.leader: CmaSearch | None = None
        self._looks = self._used = 0
        self._proven: dict[CmaSearch, Mapping[str, float]] = {}
        self._promise: dict[CmaSearch, float] = {}
        self._tried: Mapping[str, float] = {}

    def promise(self, arm: CmaSearch) -> float:
        """The most that a structure is known to earn in whole episodes, with its own numbers or with tuned ones."""
        score = arm.start.score
        return max(score if math.isfinite(score) else -math.inf, self._promise.get(arm, -math.inf))

    def first_asks(self, arms: Sequence[CmaSearch]) -> list[Batch]:
        """Whole episodes of each structure's best vector so far, on shared seeds; nothing where these cost too much.

        What short episodes say of a structure must not decide alone which ones go on.
        """
        cost = len(arms) * (self._clock.horizon or self._clock.longest)
        if cost > self._clock.search_left // 3:
            return []
        n = min(MOST_FIRST, max(1, int(FIRST_SHARE * self._clock.steps / cost)))
        seeds = self._seeds(LOOK_SEED + self._used, n)
        self._used += n
        return [
            Batch(
                arm.start.program,
                tuple(Trial(s, arm.finalists(1)[0].params, self._clock.horizon) for s in seeds),
            )
            for arm in arms
        ]

    def first_tell(self, arms: Sequence[CmaSearch], batches: Sequence[Episodes]) -> None:
        """Learn from that."""
        for arm, batch in zip(arms, batches, strict=True):
            arm.steps += steps_of(batch)
            arm.evaluations += len(batch)
            returns = [return_of(episode) for episode in batch]
            arm.whole_episodes.add(arm.finalists(1)[0].params, returns)
            self._promise[arm] = mean_or_worst(returns)

    def begin_leg(self) -> None:
        """Look as often again: another leg of the search has begun."""
        self._looks = self.idle = 0

    def proven(self, arm: CmaSearch) -> Mapping[str, float]:
        """The vector that proved itself last, at first the original numbers."""
        return self._proven.setdefault(arm, arm.space.defaults)

    def due(self) -> bool:
        """Whether it is time to look."""
        clock = self._clock
        if self._looks >= len(self._at) or clock.fraction < self._at[self._looks]:
            return False
        if self._earning:
            return clock.cost(2 * EPISODES, clock.horizon) <= clock.search_left // 3
        return (
            clock.stage == 0
            and clock.stage_horizon() != clock.horizon
            and clock.cost(2 * EPISODES, clock.horizon) <= clock.search_left // 8
        )

    def asks(self, arm: CmaSearch) -> list[Batch]:
        """Whole episodes of the best vector and of the last proven one, on the same seeds."""
        n = self._episodes()
        seeds = self._seeds(LOOK_SEED + self._used, n)
        self._looks += 1
        while self._earning and self._looks < len(self._at) and self._clock.fraction >= self._at[self._looks]:
            self._looks += 1  # a costly generation passed several; between looks there is always some search
        self._used += n
        self._tried = arm.finalists(1)[0].params
        proven = self.proven(arm)
        if self._earning and self._tried == proven:
            return []
        return [
            Batch(arm.start.program, tuple(Trial(seed, params, self._clock.horizon) for seed in seeds))
            for params in (self._tried, proven)
        ]

    def tell(self, arm: CmaSearch, batches: Sequence[Episodes]) -> None:
        """Learn from the look: go on, or back to what is proven with longer episodes."""
        if not batches:
            self.idle += 1
            return
        arm.steps += sum(map(steps_of, batches))
        arm.evaluations += sum(map(len, batches))
        returns = [[return_of(episode) for episode in batch] for batch in batches]
        for params, row in zip((self._tried, self.proven(arm)), returns, strict=True):
            arm.whole_episodes.add(params, row)
        self._count(*returns)
        tried, proven = map(mean_or_worst, returns)
        self._remember(arm, tried)
        self._promise[arm] = max(tried, proven)
        if tried > proven:
            self._proven[arm] = self._tried
        elif self._proven[arm] != self._tried and not (self._earning and self._whole()):
            self._clock.lengthen()
            arm.begin_at(self._proven[arm])

    def _whole(self) -> bool:
        return self._clock.stage_horizon() == self._clock.horizon

    def _episodes(self) -> int:
        if not self._earning:
            return EPISODES
        affordable = int(LOOK_SHARE * self._clock.steps / max(1.0, 2 * self._clock.typical))
        return min(MOST_EPISODES, max(EPISODES, affordable))

    def _count(self, tried: Sequence[float], proven: Sequence[float]) -> None:
        """A gain is one beyond a standard error of the paired differences, and worth having."""
        gained = mean_or_worst(tried) > mean_or_worst(proven)
        if gained and math.isfinite(mean_or_worst(proven)):
            differences = [one - other for one, other in zip(tried, proven, strict=True)]
            error = statistics.stdev(differences) / math.sqrt(len(differences))
            size = max(map(abs, [*tried, *proven]))
            gained = statistics.fmean(differences) > max(error, SMALL * size)
        self.gains += gained
        self.idle = 0 if gained else self.idle + 1

    def _remember(self, arm: CmaSearch, whole: float) -> None:
        """What the best vector earned in short episodes and in whole ones."""
        horizon, best = self._clock.stage_horizon(), arm.archive.best()
        if best is not None and horizon is not None and horizon != self._clock.horizon:
            self.seen, self.leader = (horizon, best.mean, whole), arm
