"""The parts of a prompt, and how they are made to fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

NEEDED = 70
"""Worth from which a part is shortened only where the model could not read the prompt otherwise."""


@dataclass(slots=True)
class Part:
    """One part of a prompt.

    Attributes:
        forms: Its texts, the fullest first.
        worths: What it takes to go from each form to the next.
    """

    forms: list[str]
    worths: list[int] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The form in force."""
        return self.forms[0]

    def shorten(self) -> None:
        """Go on to the next form."""
        self.forms, self.worths = self.forms[1:], self.worths[1:]


def fitted(parts: Sequence[Part], aim: int, bound: int) -> list[str]:
    """The parts' texts, shortened to fit into `bound`, and into `aim` as far as they are not needed."""
    while True:
        size = sum(len(part.text) + 2 for part in parts if part.text)
        open_ = [part for part in parts if part.worths]
        if not open_ or size <= min(aim, bound):
            break
        least = min(open_, key=lambda part: part.worths[0])
        if least.worths[0] >= NEEDED and size <= bound:
            break
        least.shorten()
    return [part.text.strip() for part in parts if part.text.strip()]
