"""A promise of a world model that the environment did not keep."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Disappointment:
    """A policy that earned clearly less in the environment than a world model had promised.

    Attributes:
        candidate: Its id, or the name of the study that it came from.
        promised: Mean return in the model.
        earned: Mean return in the environment.
        rows: Steps of its worst episode from where the model first departs from what happened, in words.
    """

    candidate: str
    promised: float
    earned: float
    rows: tuple[str, ...] = ()
