"""Facts that a request may include."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from promptpo.core.feature import RunStatus

if TYPE_CHECKING:
    from promptpo.core.candidate import Attempt
    from promptpo.core.history import History


@dataclass(frozen=True, slots=True)
class PromptContext:
    """Facts that a request may include.

    Attributes:
        history: All attempts and their evidence.
        status: Status of the run.
        legend: Explanation of the labels in summaries; empty without a feedback class.
        start: A first observation in words; empty if unknown.
        one_start: Whether all episodes begin with the same observation.
        decisions: States in which leader and runner-up decide differently, from `differing_decisions`.
        horizon: Maximum episode length in steps; 0 if unbounded.
        pictures: Whether observations are images, so that trajectories contain perceptions.
        lasting: Features' sections for all requests of the round, by name: functions from a size limit in characters to the text.
        remarks: Features' remarks on candidates, by id: sentences without a full stop.
    """

    history: History
    status: RunStatus
    legend: str = ""
    start: str = ""
    one_start: bool = False
    decisions: Sequence[Any] = ()
    horizon: int = 0
    pictures: bool = False
    lasting: Mapping[str, Callable[[int], str]] = field(default_factory=dict)
    remarks: Mapping[str, str] = field(default_factory=dict)

    def tell_lasting(self, room: int) -> str:
        """Join features' sections within a size limit in characters; later ones get the room that earlier ones leave."""
        texts: list[str] = []
        for tell in self.lasting.values():
            texts.append(tell(room - sum(map(len, texts))).strip())
        return "\n\n".join(filter(None, texts))

    @property
    def leader(self) -> Attempt | None:
        """The best of the run so far."""
        return self.history.best()
