"""Values that the search in a simulator keeps in the journal."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from promptpo.rollouts.evaluation import Evaluation
from promptpo.simulator.data import STEPS_AHEAD
from promptpo.simulator.errors import ErrorTable
from promptpo.simulator.fit import FittedNumber

EXACT_QUALITY = 0.99999
"""Share explained by simulators whose writers saw nothing to correct: nine of nine on bodies, four of four elsewhere."""


@dataclass(frozen=True, slots=True)
class RecordedNetwork:
    """Decision on the network that is put beside the best program.

    Attributes:
        source: The policy.
        simulated: Return that the simulator promised.
        evaluation: Real episodes.
    """

    source: str
    simulated: float
    evaluation: Evaluation


@dataclass(frozen=True, slots=True)
class Version:
    """A simulator and what is known of it.

    Attributes:
        source: The module.
        key: Its name in the journal.
        call: Journal key of the answer that it came with.
        vectors: Its fitted numbers; several where its form is in doubt.
        problems: Why it cannot be used; empty where it can.
        detail: The traceback of a problem.
        remarks: What was seen of it that is no problem.
        numbers: Its numbers with their errors.
        errors: Of its predictions on steps that it was not fitted to.
        worlds: What the same policies return in both worlds, in words.
        agrees: Whether those returns differ by no more than chance.
        steps: Simulated ones that this took.
        speed: Steps a second of a processor that it simulates.
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
        """Steps ahead to the share of change that is explained, where enough of them were recorded."""
        found = {n: self.errors.explained_share(n) for n in STEPS_AHEAD} if self.errors else {}
        return {n: share for n, share in found.items() if not math.isnan(share)}

    @property
    def quality(self) -> float:
        """The mean of those shares, rounded so that two exact simulators are equal; larger is better."""
        return (
            round(float(np.mean([*self.shares.values()])), 6)
            if self.shares and not self.problems
            else -math.inf
        )

    @property
    def predicts_exactly(self) -> bool:
        """Whether it predicts recorded steps but for rounding, or for what no observation shows."""
        return self.quality >= EXACT_QUALITY

    @property
    def exact(self) -> bool:
        """Whether nothing is known that a correction could repair."""
        return self.predicts_exactly and self.agrees and not self.remarks
