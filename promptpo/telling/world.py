"""What a request tells of the run's world model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptpo.telling.feedback import number

if TYPE_CHECKING:
    from promptpo.run.disappointment import Disappointment
    from promptpo.search.history import History

TOLD = 2
"""Policies from the model that are told of, the latest."""


def disappointments_in_words(history: History, *, rows: int = 3) -> str:
    """Policies that a world model promised more of than they earned, and where it departs; empty without any."""
    found = history.disappointments[-TOLD:]
    if not found:
        return ""
    lines = [
        "# Where a model of this environment was wrong",
        "",
        "Steps of this run were used to model how the environment moves, and policies were worked out in the model.",
    ]
    for one in found:
        lines.append(f"- {in_words(one)}")
        lines += [f"  - {row}" for row in one.rows[:rows]]
    lines.append("These steps are in the model's data now.")
    return "\n".join(lines)


def in_words(one: Disappointment) -> str:
    """One of them as a sentence."""
    text = f"{one.candidate} was promised {number(one.promised)} by the model and earned {number(one.earned)}"
    return f"{text}; the model's prediction of its worst episode departs here:" if one.rows else f"{text}."
