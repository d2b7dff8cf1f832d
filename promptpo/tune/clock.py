"""The step budget as a clock: how far tuning has come, and how long episodes are at this point."""

from __future__ import annotations

import math
from dataclasses import dataclass

STAGES = (0.55, 0.85)
"""Shares of the search budget after which episodes get longer: short, medium, full."""

UNKNOWN_LENGTH = 1000
"""What an episode is taken to last before one was seen, where there is no horizon."""

SHORTEST = 100
"""Episodes are never cut to fewer steps than this."""

GENERATIONS = 40
"""So many generations are wanted in the first stage; a horizon is shortened only where the budget
would pay for fewer."""

FINAL_SHARE = 0.12
"""Share of the budget kept for the final choice at the full horizon."""


@dataclass
class Clock:
    """What has been spent of a budget.

    Shortening pays because an evaluation of a fifth of the length ranks gaits nearly as well as the
    whole episode and buys five times as many of them. It misleads where the reward comes late, so it is
    used only as far as the budget forces it, and the last stage is always at the full horizon.

    Attributes:
        steps: The whole budget, in environment steps.
        horizon: The full episode length; None where episodes end by themselves.
        population: Episodes in a typical generation of all structures together.
        spent: Steps taken so far.
        longest: Steps of the longest episode seen, the first guess being the horizon.
    """

    steps: int
    horizon: int | None
    population: int
    spent: int = 0
    longest: int = 0

    def add(self, steps: int, longest: int) -> None:
        """Count the steps of a batch."""
        self.spent += steps
        self.longest = max(self.longest, longest)

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
        if self.horizon is None:
            return None
        affordable = self.steps * STAGES[0] / (self.population * GENERATIONS)
        shortest = min(self.horizon, max(SHORTEST, math.ceil(affordable)))
        middle = math.ceil(math.sqrt(shortest * self.horizon))
        return (shortest, middle, self.horizon)[self.stage]

    def cost(self, episodes: int, horizon: int | None) -> int:
        """Steps that some episodes will take at most, by the horizon and by what has been seen."""
        seen = 2 * self.longest or UNKNOWN_LENGTH
        if horizon is None:
            return episodes * seen
        return episodes * (min(seen, horizon) if self.longest else horizon)
