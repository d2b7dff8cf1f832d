"""What is rolled out, and what came out of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.records import Measured
from promptpo_sandbox import Rollout, Trial


@dataclass(frozen=True, slots=True)
class Played:
    """Rollouts with what the journal does not keep.

    Attributes:
        measured: As in the journal.
        rollout: With trajectories where they were asked for; None when the journal had the result already.
    """

    measured: Measured
    rollout: Rollout | None

    @property
    def evaluation(self) -> Evaluation:
        """The result."""
        return self.measured.evaluation


@dataclass(frozen=True, slots=True)
class Subject:
    """What is rolled out.

    Attributes:
        source: The policy module.
        params: Values of its ``PARAMS``; None where it declares none.
        candidate: Whose program it is.
        repairs: How many repairs it has had.
    """

    source: str
    params: Mapping[str, float] | None
    candidate: str
    repairs: int = 0

    def trials(self, seeds: Sequence[int], horizon: int) -> tuple[Trial, ...]:
        """One episode for each seed."""
        return tuple(Trial(seed, self.params, horizon) for seed in seeds)
