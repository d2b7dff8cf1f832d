"""What a request may tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from promptpo.spec.promises import Promise
from promptpo.telling.promises import in_words
from promptpo.telling.standing import Where

if TYPE_CHECKING:
    from promptpo.run.records import Attempt
    from promptpo.search.history import History


@dataclass(frozen=True, slots=True)
class Known:
    """What a request may tell.

    Attributes:
        history: All attempts and their evidence.
        where: What is left.
        legends: Journal key of the call that wrote a feedback class to what its labels mean.
        since: The same to the round from which on a class that replaced another is in force.
        reports_success: Whether episodes of this task succeed or not; in others nothing is said of success.
        promises: What the task's text promises for single steps.
        start: What a policy sees first, in words; empty where that is not known.
        one_start: Whether all episodes begin with the same observation.
        probe: What an experiment may take, in words, where requests of this round offer one; else empty.
        pictures: Whether observations are pictures, so that trajectories hold what was perceived.
    """

    history: History
    where: Where
    legends: Mapping[str, str] = field(default_factory=dict)
    since: Mapping[str, int] = field(default_factory=dict)
    reports_success: bool = False
    promises: tuple[Promise, ...] = ()
    start: str = ""
    one_start: bool = False
    probe: str = ""
    pictures: bool = False

    def earned(self) -> str:
        """What single steps have earned, and which promises nobody has seen kept; empty where it is not known."""
        return in_words(self.promises, self.history)

    @property
    def leader(self) -> Attempt | None:
        """The best of the run so far."""
        return self.history.best()
