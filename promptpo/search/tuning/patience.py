"""How long a round's tuning may take, in seconds."""

from __future__ import annotations

LEAST_SECONDS = 60.0
"""A round's tuning may take so long in any case,"""

REST = 5.0
"""or so many times what the round's calls and rollouts took, whichever is longer,"""

GAINING = 3.0
"""and so many times that while it is clearly gaining."""

FASTER = 3.0
"""Tuning rolls out many episodes at once, and takes a step about so much faster than one candidate's few."""


class Patience:
    """The time limit of a round's tuning.

    Args:
        rest: Seconds that the round's calls and rollouts took.
    """

    def __init__(self, rest: float) -> None:
        self.seconds = max(LEAST_SECONDS, REST * rest)

    def over(self, taken: float, *, gaining: bool) -> bool:
        """Whether tuning that has taken so long ends now."""
        return taken >= self.seconds * (GAINING if gaining else 1.0)

    def steps(self, seconds: float, steps: int) -> int | None:
        """Steps that the time is likely to be enough for; a plan for more would never reach its end.

        Args:
            seconds: That the round's candidates took for their rollouts.
            steps: How many steps these were.

        Returns:
            None where nothing was measured.
        """
        if seconds <= 0 or steps <= 0:
            return None
        return int(self.seconds * FASTER * steps / seconds)
