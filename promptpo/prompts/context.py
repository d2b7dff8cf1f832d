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
    """The facts that a request may tell.

    Attributes:
        history: All attempts and their evidence.
        where: What is left.
        legend: What the labels in summaries mean; empty where no feedback class speaks.
        start: What a policy sees first, in words; empty where that is not known.
        one_start: Whether all episodes begin with the same observation.
        decisions: States in which the leader and the runner-up decide differently, as `differing_decisions` has them.
        horizon: Longest episode in steps; 0 where nothing bounds it.
        pictures: Whether observations are pictures, so that trajectories hold what was perceived.
        lasting: What features tell in every request of the round, by name: from how many characters there are to a text.
        remarks: What features say of candidates, by id: a sentence without a full stop.
    """

    history: History
    where: RunStatus
    legend: str = ""
    start: str = ""
    one_start: bool = False
    decisions: Sequence[Any] = ()
    horizon: int = 0
    pictures: bool = False
    lasting: Mapping[str, Callable[[int], str]] = field(default_factory=dict)
    remarks: Mapping[str, str] = field(default_factory=dict)

    def tell_lasting(self, room: int) -> str:
        """Join what features tell, in so many characters; later ones get the room that earlier ones leave."""
        texts: list[str] = []
        for tell in self.lasting.values():
            texts.append(tell(room - sum(map(len, texts))).strip())
        return "\n\n".join(filter(None, texts))

    @property
    def leader(self) -> Attempt | None:
        """The best of the run so far."""
        return self.history.best()
