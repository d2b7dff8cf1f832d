"""Policy time: how much each lane has used of its episode's, as far as the host can tell."""

from __future__ import annotations

from collections.abc import Sequence

from promptpo_sandbox.lockstep.lane import Lane
from promptpo_sandbox.lockstep.progress import Progress
from promptpo_sandbox.pipes import Guest
from promptpo_sandbox.results import Limits


class Meter:
    """Charges the lanes of one guest for the wall time that the host waited.

    Wall time costs nothing to read, so it is what is charged; only when it says that a lane has used up its episode's
    time is the guest's CPU time read, which a busy machine does not inflate.

    Args:
        guest: The guest.
        progress: Progress of the rollout.
        limits: Limits of the policies.

    Attributes:
        share: Time charged to every lane alike since the guest started.
        overdue: Whether a lane that was charged alone may have used up its time.
    """

    def __init__(self, guest: Guest, progress: Progress, limits: Limits) -> None:
        self._guest = guest
        self._progress = progress
        self._limit = limits.episode_seconds
        self._wall_limit = limits.episode_seconds * limits.wall_factor
        self._cpu_before = guest.cpu_seconds()
        self._charged = 0.0
        self.share = 0.0
        self.overdue = False

    def charge(self, lanes: Sequence[Lane], seconds: float) -> None:
        """Charge some of the lanes, in equal shares."""
        self._progress.policy_seconds += seconds
        self._charged += seconds
        for lane in lanes:
            lane.seconds += seconds / len(lanes)
            self.overdue |= self.seconds(lane) > self._limit

    def charge_all(self, seconds: float, lanes: int) -> None:
        """Charge all lanes, in equal shares."""
        self._progress.policy_seconds += seconds
        self._charged += seconds
        self.share += seconds / lanes

    def seconds(self, lane: Lane) -> float:
        """Wall time charged to a lane's episode so far."""
        return lane.seconds + self.share - lane.share_before

    def late(self, lanes: Sequence[Lane]) -> list[Lane]:
        """Return the lanes that have used up their episode's time."""
        self.overdue = False
        worked = self._processor_share()
        return [
            lane
            for lane in lanes
            if (seconds := self.seconds(lane)) * worked > self._limit or seconds > self._wall_limit
        ]

    def _processor_share(self) -> float:
        """Return the fraction of the charged time in which the guest had a processor."""
        cpu = self._guest.cpu_seconds()
        if cpu is None or self._cpu_before is None or self._charged <= 0:
            return 1.0
        return min(1.0, (cpu - self._cpu_before) / self._charged)
