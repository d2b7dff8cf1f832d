"""What a request of a later round may tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

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
        reports_success: Whether episodes of this task succeed or not; in others nothing is said of success.
        pictures: Whether observations are pictures, so that trajectories hold what was perceived.
        since: The same to the round from which on a class that replaced another is in force.
    """

    history: History
    where: Where
    legends: Mapping[str, str] = field(default_factory=dict)
    since: Mapping[str, int] = field(default_factory=dict)
    reports_success: bool = False
    pictures: bool = False

    @property
    def leader(self) -> Attempt | None:
        """The best of the run so far."""
        return self.history.best()
