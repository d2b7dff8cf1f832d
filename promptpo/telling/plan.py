"""What one sample of a round is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from promptpo.run.records import Attempt

Kind = Literal["first", "level", "starts", "structure", "mend"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What one sample of a round is asked for.

    Attributes:
        round: Counted from 1.
        slot: From 0.
        kind: A "first" policy; one that raises the general "level" of the first parent; one that does better on the
            "starts" on which it fails or earns least; one of another "structure" than those that were tried; one that
            makes a program last which fell early and was far better per step than the leader ("mend").
        parents: The attempts to build on, best first; of a mending the program that fell and the leader.
        variant: Which request of its kind in the round, from 1.
        stalled: Rounds since the best improved.
        may_end: Whether the model may say that the task is at its ceiling.
        winners: Whether the prompt is that of the published procedure.
        shown: The winners whose code that prompt shows, oldest first.
        reflections: What the model concluded after each round, oldest first; in that prompt too.
    """

    round: int
    slot: int
    kind: Kind
    parents: tuple[Attempt, ...] = ()
    variant: int = 1
    stalled: int = 0
    may_end: bool = False
    winners: bool = False
    shown: tuple[Attempt, ...] = ()
    reflections: tuple[str, ...] = ()
