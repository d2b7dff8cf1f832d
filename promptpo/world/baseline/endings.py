"""What ends an episode, found in recorded steps: thresholds on single numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]

MOST_RULES = 6


@dataclass(frozen=True, slots=True)
class EndingRule:
    """A threshold beyond which episodes end: values of one column above or below a level."""

    place: int
    above: bool
    level: float

    def code(self, names: Sequence[str]) -> str:
        """The condition as an expression."""
        return f"{names[self.place]} {'>' if self.above else '<'} {self.level:.9g}"


def find_ending(numbers: Floats, ended: Any) -> list[EndingRule]:
    """Thresholds that no other step passes, each the one that explains most of the endings that are left.

    Args:
        numbers: What was observed after each step, one row each.
        ended: Whether the step ended its episode.
    """
    rules: list[EndingRule] = []
    others, left = numbers[~ended], ended.copy()
    while left.any() and len(others) and len(rules) < MOST_RULES:
        found = [_rule(numbers[left], others, sign) for sign in (1.0, -1.0)]
        count, place, level = max(found)
        if not count:
            break
        above = found[0] == max(found)
        rules.append(EndingRule(place, above, level if above else -level))
        left &= ~(numbers[:, place] > level) if above else ~(-numbers[:, place] > level)
    return rules


def _rule(ends: Floats, others: Floats, sign: float) -> tuple[int, int, float]:
    """(endings that it explains, column, level) of the best threshold, for the columns times a sign."""
    most = (sign * others).max(axis=0)
    beyond = sign * ends > most
    place = int(beyond.sum(axis=0).argmax())
    column = sign * ends[beyond[:, place], place]
    return len(column), place, float((most[place] + column.min()) / 2) if len(column) else 0.0
