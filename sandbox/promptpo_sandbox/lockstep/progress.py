"""Progress of a rollout, and the errors that end the episodes of one guest early."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from promptpo_sandbox.lockstep.lane import Lane
from promptpo_sandbox.pipes import MAX_BYTES_PER_CHARACTER, GuestGoneError
from promptpo_sandbox.results import Episode, Trial


@dataclass
class Progress:
    """Progress of a rollout over all its guests.

    Attributes:
        trials: All trials, in order.
        stop_on_failure: Whether a failure cancels the trials after it.
        step_limit: Maximum number of environment steps.
        output_bytes: Maximum output kept of an episode.
        episodes: Episodes by index of the trial.
        outputs: Captured prints by index of the trial.
        taken: The actions that the environment received in an episode that was cut short because its guest was given
            up, by index of the trial: its repetition takes them again, whatever the policy returns.
        steps: Environment steps taken.
        policy_seconds: Time spent waiting for guests.
        first_failure: Index of the first failing trial so far.
    """

    trials: Sequence[Trial]
    stop_on_failure: bool
    step_limit: int | None = None
    output_bytes: int = 0
    episodes: dict[int, Episode] = field(default_factory=dict)
    outputs: dict[int, str] = field(default_factory=dict)
    taken: dict[int, list[Any]] = field(default_factory=dict)
    steps: int = 0
    policy_seconds: float = 0.0
    first_failure: int | None = None

    def add(self, position: int, episode: Episode) -> None:
        """Record a finished or failed episode."""
        self.episodes[position] = episode
        self.taken.pop(position, None)
        if episode.failure is not None and (self.first_failure is None or position < self.first_failure):
            self.first_failure = position

    def is_cancelled(self, position: int) -> bool:
        """Whether an earlier failure makes this trial pointless."""
        return self.stop_on_failure and self.first_failure is not None and position > self.first_failure

    @property
    def exhausted(self) -> bool:
        """Whether no environment step is left."""
        return self.step_limit is not None and self.steps >= self.step_limit

    def note_output(self, lane: Lane, payload: bytes) -> None:
        """Keep what a lane printed, up to the limit.

        Raises:
            GuestGoneError: The guest sent more than it may keep itself.
        """
        lane.output_bytes += len(payload)
        if lane.output_bytes > MAX_BYTES_PER_CHARACTER * self.output_bytes:
            raise GuestGoneError("the guest sent more output than it may")
        before = self.outputs.get(lane.position, "")
        room = max(0, self.output_bytes - len(before))
        self.outputs[lane.position] = before + payload.decode("utf-8", "replace")[:room]


class LaneTimeoutError(Exception):
    """A policy took too long.

    Args:
        lane: Its lane; None if unknown.
        text: What took too long.
    """

    def __init__(self, lane: Lane | None, text: str) -> None:
        super().__init__(text)
        self.lane = lane


class MemoryShortError(Exception):
    """A policy ran out of the memory that it shares with the other lanes."""
