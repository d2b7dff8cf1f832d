"""Verification of policies found in a simulator, from their simulated returns and a few real episodes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from promptpo.features.simulator.networks import TrainedNetwork
from promptpo.simulator.search import FINAL_LANES

if TYPE_CHECKING:
    from promptpo.features.simulator.programs import TunedProgram
    from promptpo.rollouts.evaluation import Evaluation

FoundPolicy: TypeAlias = "TunedProgram | TrainedNetwork"
Found = TypeVar("Found", "TunedProgram", "TrainedNetwork")

SIMULATION_ERROR = {"program": 0.05, "network": 0.2}
"""Approximate relative error of simulated returns above reference policies: real over simulated is .94 to 1.05 for programs and .77 to
1.25 for networks."""

SHORTFALL_SHARE = 0.25
"""Shortfall of the real return, as a share of the simulated return above reference policies, from which the search is repeated."""


@dataclass(frozen=True, slots=True)
class VerifiedPolicy:
    """A policy found in a simulator, with its real episodes.

    Attributes:
        found: The policy.
        real: Its real episodes.
    """

    found: FoundPolicy
    real: Evaluation

    @property
    def kind(self) -> str:
        """Kind of the policy: "program" or "network"."""
        return kind_of(self.found)

    @property
    def mean(self) -> float:
        """Mean real return; minus infinity if it failed."""
        return self.real.mean_return if self.real.outcome == "ok" else -math.inf

    @property
    def noise(self) -> float:
        """Standard error of the mean real return, from the spread of simulated episodes."""
        return self.found.stderr * math.sqrt(FINAL_LANES / max(1, len(self.real.episodes)))

    def disappoints(self, nothing: float) -> bool:
        """Whether it returned much less in reality than in the simulator, beyond noise."""
        missing = self.found.value - self.mean
        large = SHORTFALL_SHARE * max(abs(self.found.value - nothing), 1e-9)
        return missing > max(large, 2 * self.noise)


def simulation_error(found: FoundPolicy, nothing: float) -> float:
    """Return the approximate error of a simulated return."""
    return SIMULATION_ERROR[kind_of(found)] * (abs(found.value - nothing) + 1e-9)


def count_real_episodes(found: FoundPolicy, nothing: float) -> float:
    """Return the number of real episodes whose mean has no larger error than the simulator's: many if outcomes scatter."""
    return min(FINAL_LANES, FINAL_LANES * (found.stderr / simulation_error(found, nothing)) ** 2)


def near_best(ranked: Sequence[Found], nothing: float) -> list[Found]:
    """Return the policies of one kind that may be the best, within the simulator's error.

    Args:
        ranked: Policies, best first.
        nothing: Return of reference policies.
    """
    if not ranked:
        return []
    room = 2 * simulation_error(ranked[0], nothing)
    return [policy for policy in ranked if policy.value >= ranked[0].value - room]


def kind_of(found: FoundPolicy) -> str:
    """Return whether a policy is a "program" or a "network"."""
    return "network" if isinstance(found, TrainedNetwork) else "program"
