"""What a rollout has so far, and how a session with one guest can end early."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sandbox.lockstep.lane import Lane
from sandbox.results import Episode, Trial


@dataclass
class Ledger:
    """What a rollout has so far, over all the guests it took.

    Attributes:
        trials: All of them, in order.
        stop_on_failure: Whether a failure cancels the trials after it.
        episodes: By index of the trial.
        outputs: Captured prints by index of the trial.
        steps: Environment steps taken.
        step_limit: How many may be taken.
        policy_seconds: Time spent waiting for guests.
        first_failure: Index of the first failing trial so far.
    """

    trials: Sequence[Trial]
    stop_on_failure: bool
    step_limit: int | None = None
    episodes: dict[int, Episode] = field(default_factory=dict)
    outputs: dict[int, str] = field(default_factory=dict)
    steps: int = 0
    policy_seconds: float = 0.0
    first_failure: int | None = None

    def add(self, position: int, episode: Episode) -> None:
        """Note a finished or failed episode."""
        self.episodes[position] = episode
        if episode.failure is not None and (self.first_failure is None or position < self.first_failure):
            self.first_failure = position

    def cancelled(self, position: int) -> bool:
        """Whether a failure before it makes this trial pointless."""
        return self.stop_on_failure and self.first_failure is not None and position > self.first_failure

    @property
    def exhausted(self) -> bool:
        """Whether no environment step is left."""
        return self.step_limit is not None and self.steps >= self.step_limit


class LaneTimeoutError(Exception):
    """A policy took too long.

    Args:
        lane: Whose it is; None if that cannot be told.
        text: What took too long.
    """

    def __init__(self, lane: Lane | None, text: str) -> None:
        super().__init__(text)
        self.lane = lane


class MemoryShortError(Exception):
    """A policy ran out of the memory that it shares with the other lanes."""
