"""Facts that a request may include."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptpo.core.feature import RunStatus

if TYPE_CHECKING:
    from promptpo.core.candidate import Attempt
    from promptpo.core.history import History


@dataclass(frozen=True, slots=True)
class PromptContext:
    """What a request may tell.

    Attributes:
        history: All attempts and their evidence.
        where: What is left.
        legend: What the labels in summaries mean; empty where no feedback class speaks.
        reports_success: Whether episodes of this task succeed or not; in others nothing is said of success.
        start: What a policy sees first, in words; empty where that is not known.
        one_start: Whether all episodes begin with the same observation.
        pictures: Whether observations are pictures, so that trajectories hold what was perceived.
    """

    history: History
    where: RunStatus
    legend: str = ""
    reports_success: bool = False
    start: str = ""
    one_start: bool = False
    pictures: bool = False

    @property
    def leader(self) -> Attempt | None:
        """The best of the run so far."""
        return self.history.best()
