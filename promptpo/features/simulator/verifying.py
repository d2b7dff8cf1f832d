"""Belief in a policy found in a simulator, from its simulated return and the returns of a few real episodes."""

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
"""Share by which simulated returns above chance are wrong, about: real over simulated is .94 to 1.05 for programs, .77 to 1.25 for
networks."""

SHORTFALL_SHARE = 0.25
"""A return that is less in reality by this share of what the simulator promised above chance sends it back."""


@dataclass(frozen=True, slots=True)
class VerifiedPolicy:
    """A policy that was found in a simulator, and what it returned in reality.

    Attributes:
        found: The policy.
        real: Its real episodes.
    """

    found: FoundPolicy
    real: Evaluation

    @property
    def kind(self) -> str:
        """Its kind: a program or a network."""
        return kind_of(self.found)

    @property
    def mean(self) -> float:
        """Mean real return; what failed is worth nothing."""
        return self.real.mean_return if self.real.outcome == "ok" else -math.inf

    @property
    def noise(self) -> float:
        """Standard error of the mean real return, by how far simulated episodes differ."""
        return self.found.stderr * math.sqrt(FINAL_LANES / max(1, len(self.real.episodes)))

    def estimate(self, nothing: float) -> float:
        """Expected return, by real episodes and by what the simulator promised, each as far as it can be trusted.

        Args:
            nothing: Return of policies that know nothing.
        """
        if not math.isfinite(self.mean):
            return self.mean
        trust = simulation_error(self.found, nothing) ** 2
        share = trust / (trust + self.noise**2)
        return share * self.mean + (1 - share) * self.found.value

    def disappoints(self, nothing: float) -> bool:
        """Whether it returned less in reality than was promised, by a large share and beyond noise."""
        missing = self.found.value - self.mean
        large = SHORTFALL_SHARE * max(abs(self.found.value - nothing), 1e-9)
        return missing > max(large, 2 * self.noise)


def simulation_error(found: FoundPolicy, nothing: float) -> float:
    """Return by how much a simulated return is wrong, about."""
    return SIMULATION_ERROR[kind_of(found)] * (abs(found.value - nothing) + 1e-9)


def count_real_episodes(found: FoundPolicy, nothing: float) -> float:
    """Return the real episodes in whose mean chance is no larger than the simulator's error: many where outcomes are scattered."""
    return min(FINAL_LANES, FINAL_LANES * (found.stderr / simulation_error(found, nothing)) ** 2)


def near_best(ranked: Sequence[Found], nothing: float) -> list[Found]:
    """Return those of one kind that may be the best, as far as a simulator can tell.

    Args:
        ranked: Best first.
        nothing: Return of policies that know nothing.
    """
    if not ranked:
        return []
    room = 2 * simulation_error(ranked[0], nothing)
    return [policy for policy in ranked if policy.value >= ranked[0].value - room]


def kind_of(found: FoundPolicy) -> str:
    """Return whether something is a program or a network."""
    return "network" if isinstance(found, TrainedNetwork) else "program"
