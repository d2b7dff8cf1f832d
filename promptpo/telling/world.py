"""A promise of a world model that was not kept, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptpo.telling.feedback import number

if TYPE_CHECKING:
    from promptpo.run.disappointment import Disappointment


def in_words(one: Disappointment) -> str:
    """One of them as a sentence."""
    text = f"{one.candidate} was promised {number(one.promised)} by the model and earned {number(one.earned)}"
    return f"{text}; the model's prediction of its worst episode departs here:" if one.rows else f"{text}."
