"""Journal values of the search in a simulator."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from promptpo.rollouts.evaluation import Evaluation
from promptpo.simulator.data import STEPS_AHEAD
from promptpo.simulator.errors import ErrorTable
from promptpo.simulator.fit import FittedNumber

EXACT_QUALITY = 0.99999
"""Minimum share explained by simulators whose writers saw nothing to correct: nine of nine on bodies, four of four elsewhere."""


@dataclass(frozen=True, slots=True)
class RecordedNetwork:
    """Decision on the network delivered besides the best program.

    Attributes:
        source: The policy.
        simulated: Its simulated return.
        evaluation: Its real episodes.
    """

    source: str
    simulated: float
    evaluation: Evaluation


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a simulator with its tests.

    Attributes:
        source: The module.
        key: Its journal key.
        call: Journal key of the answer that contained it.
        vectors: Fitted numbers, as one vector; empty without numbers. Old journals may have several.
        problems: Why it cannot be used; empty if it can.
        detail: The traceback of a problem.
        remarks: Observations about it that are no problems.
        numbers: Its numbers with their errors.
        errors: Errors of its predictions on steps to which it was not fitted.
        worlds: Returns of the same policies in both worlds, in words.
        agrees: Whether those returns agree up to chance.
        steps: Simulated steps that the tests took.
        speed: Simulated steps per second of processor time.
    """

    source: str
    key: str
    call: str
    vectors: tuple[dict[str, float], ...] = ()
    problems: tuple[str, ...] = ()
    detail: str = ""
    remarks: tuple[str, ...] = ()
    numbers: tuple[FittedNumber, ...] = ()
    errors: ErrorTable | None = None
    worlds: tuple[str, ...] = ()
    agrees: bool = True
    steps: int = 0
    speed: float = float("inf")

    @property
    def shares(self) -> dict[int, float]:
        """Steps ahead to the share of change explained, if enough such steps were recorded."""
        found = {n: self.errors.explained_share(n) for n in STEPS_AHEAD} if self.errors else {}
        return {n: share for n, share in found.items() if not math.isnan(share)}

    @property
    def quality(self) -> float:
        """Mean of `shares`, rounded so that two exact simulators are equal; larger is better."""
        return (
            round(float(np.mean([*self.shares.values()])), 6)
            if self.shares and not self.problems
            else -math.inf
        )

    @property
    def predicts_exactly(self) -> bool:
        """Whether it predicts recorded steps exactly, up to rounding and unobservable state."""
        return self.quality >= EXACT_QUALITY

    @property
    def exact(self) -> bool:
        """Whether no known error is left that a correction could fix."""
        return self.predicts_exactly and self.agrees and not self.remarks
