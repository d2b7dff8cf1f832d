"""Values that the search in a simulator keeps in the journal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from promptpo.simulator.data import STEPS_AHEAD
from promptpo.simulator.errors import ErrorTable
from promptpo.simulator.fit import FittedNumber


@dataclass(frozen=True, slots=True)
class Version:
    """A simulator and what is known of it.

    Attributes:
        source: The module.
        key: Its name in the journal.
        call: Journal key of the answer that it came with.
        vectors: Its fitted numbers; several where its form is in doubt.
        problems: Why it cannot be used; empty where it can.
        detail: The traceback of a problem.
        remarks: What was seen of it that is no problem.
        numbers: Its numbers with their errors.
        errors: Of its predictions on steps that it was not fitted to.
        worlds: What the same policies return in both worlds, in words.
        steps: Simulated ones that this took.
        speed: Steps a second of a processor that it simulates.
    """

    source: str
    key: str
    call: str
    vectors: tuple[dict[str, float], ...] = ()
    problems: tuple[str, ...] = ()
    detail: str = ""
    remarks: tuple[str, ...] = ()
    numbers: tuple[FittedNumber, ...] = ()
    errors: ErrorTable | None = None
    worlds: tuple[str, ...] = ()
    steps: int = 0
    speed: float = float("inf")

    @property
    def quality(self) -> float:
        """Sort key, larger is better: what it explains 1, 5 and 25 steps ahead, in the mean."""
        if self.problems or self.errors is None:
            return -float("inf")
        shares = [self.errors.explained_share(ahead) for ahead in STEPS_AHEAD]
        return sum(max(-1.0, share) for share in shares) / len(shares)

    def with_worlds(self, lines: Sequence[str]) -> Version:
        """The same with more that is known of policies in both worlds."""
        return replace(self, worlds=(*self.worlds, *lines))
