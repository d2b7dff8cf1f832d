"""The step budget as a clock: how far tuning has come, and how long episodes are at this point."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sandbox import Rollout

STAGES = (0.8, 0.92)
"""Shares of the search budget after which episodes get longer: short, medium, full."""

UNKNOWN_LENGTH = 1000
"""What an episode is taken to last before one was seen, where there is no horizon."""

SHORTEST = 200
"""Episodes are never cut to fewer steps than this."""

ENDINGS = 0.02
"""Where at least this share of the cut episodes terminated by themselves, what matters comes at the end
of an episode, and episodes are not cut."""

GENERATIONS = 300
"""So many generations are wanted in the first stage; a horizon is shortened only where the budget
would pay for fewer."""

FINAL_SHARE = 0.12
"""Share of the budget kept for the final choice at the full horizon."""


@dataclass
class Clock:
    """What has been spent of a budget.

    Shortening pays because an evaluation of a fifth of the length ranks gaits nearly as well as the
    whole episode and buys five times as many of them. It misleads where the reward comes late. So it is
    used only as far as the budget forces it; it ends where episodes turn out to terminate by themselves,
    and is relaxed where all vectors look alike; and the last stage is always at the full horizon.

    Attributes:
        steps: The whole budget, in environment steps.
        horizon: The full episode length; None where episodes end by themselves.
        population: Episodes in a typical generation of all structures together.
        spent: Steps taken so far.
        longest: Steps of the longest episode seen.
        typical: The largest mean length of a rollout's episodes seen.
        stretch: Factor on the shortest horizon.
        episodes: Episodes seen so far.
        endings: How many of them terminated by themselves.
    """

    steps: int
    horizon: int | None
    population: int
    spent: int = 0
    longest: int = 0
    typical: float = 0.0
    stretch: int = 1
    episodes: int = 0
    endings: int = 0

    def add(self, rollout: Rollout) -> None:
        """Count what a rollout took."""
        self.spent += rollout.steps
        self.longest = max([self.longest, *(episode.steps for episode in rollout.episodes)])
        self.typical = max(self.typical, rollout.steps / max(1, len(rollout.episodes)))
        self.episodes += len(rollout.episodes)
        self.endings += sum(episode.terminated for episode in rollout.episodes)

    def lengthen(self) -> None:
        """Double the shortest horizon: at the present one all vectors look alike."""
        self.stretch *= 2

    @property
    def fraction(self) -> float:
        """How much of the search budget (the budget without the final choice) is spent."""
        return self.spent / max(1.0, self.steps * (1 - FINAL_SHARE))

    @property
    def left(self) -> int:
        """Steps left, those for the final choice included."""
        return max(0, self.steps - self.spent)

    @property
    def search_left(self) -> int:
        """Steps left before the final choice."""
        return max(0, int(self.steps * (1 - FINAL_SHARE)) - self.spent)

    @property
    def stage(self) -> int:
        """0, 1, 2: short, medium and full episodes."""
        return sum(self.fraction >= share for share in STAGES)

    def stage_horizon(self) -> int | None:
        """Episode length to use now."""
        if self.horizon is None or self.endings > ENDINGS * self.episodes:
            return self.horizon
        affordable = self.steps * STAGES[0] / (self.population * GENERATIONS)
        shortest = min(self.horizon, self.stretch * max(SHORTEST, math.ceil(affordable)))
        middle = math.ceil(math.sqrt(shortest * self.horizon))
        return (shortest, middle, self.horizon)[self.stage]

    def cost(self, episodes: int, horizon: int | None) -> int:
        """Steps that some episodes will take at most, by the horizon and by what has been seen.

        One episode may be twice as long as any before; many together are taken to be on average at most
        twice as long as those of any rollout before.
        """
        if not self.longest:
            return episodes * (horizon or UNKNOWN_LENGTH)
        longest = min(2 * self.longest, horizon or math.inf)
        return math.ceil(min(episodes * longest, 2 * episodes * self.typical + longest))
