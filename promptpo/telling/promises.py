"""Rewards that a task's text promises, held against what single steps have earned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptpo.telling import scores
from promptpo.telling.shortening import between_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo.search.history import History
    from promptpo.spec.promises import Promise

EARN = "earn the reward that the task text promises and no step has earned: do before it what no program has done"
"""The strategy that is asked for first while a promised reward has never been seen."""

CLEARLY = 1.5
"""A promised amount is one that nobody has earned where it is so many times the most that a step has brought."""

LONGEST = 200
"""Characters of a sentence that is quoted."""


def unseen(found: Sequence[Promise], most: float) -> list[Promise]:
    """Promises that no step has kept, if none has earned more than `most`."""
    high = max(most, 0.0)
    return [one for one in found if one.amount > CLEARLY * high or (not one.amount and most <= 0)]


def to_earn(found: Sequence[Promise], history: History) -> str:
    """The respect in which programs are to be improved where a promised reward was never earned; empty where none is."""
    earned = scores.steps_earned(history)
    open_ = unseen(found, earned[-1]) if earned else []
    if not open_:
        return ""
    return (
        f'Promised reward: the task text says "{between_words(open_[0].words, LONGEST)}", and no step has earned it. Find out '
        "what has to happen before it is paid: what no program has done, or not together, or not in that order. Try that, "
        "whatever it costs otherwise; list first what has been tried."
    )
