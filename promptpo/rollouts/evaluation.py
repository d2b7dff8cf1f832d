"""Evaluations of candidates, as values for the journal."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

OutcomeKind = Literal["ok", "rejected", "crashed", "timeout", "memory", "invalid_action"]


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """One finished episode, without its trajectory.

    Attributes:
        seed: The seed given to ``env.reset``.
        return_: Undiscounted sum of rewards.
        steps: Environment steps taken.
        success: Whether ``info`` reported success at any step; None if it never reports it.
        terminated: Whether the environment ended the episode.
        truncated: Whether the horizon ended it.
        clipped: How many actions were clipped into the action space.
        env_return: Sum of the environment's own rewards if a reward program replaces them; otherwise None.
        parts: Sums of that program's terms, by name.
        extremes: Minimum and maximum reward of a step; empty if unknown.
    """

    seed: int
    return_: float
    steps: int
    success: bool | None = None
    terminated: bool = False
    truncated: bool = False
    clipped: int = 0
    env_return: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    extremes: tuple[float, ...] = ()


def mean_value(values: Sequence[float]) -> float:
    """Return the mean; NaN without values, and NaN or infinite if the sum is."""
    try:
        return statistics.fmean(values) if values else math.nan
    except (OverflowError, ValueError):  # infinities of both signs, or an overflow
        return sum(values) / len(values)


def extremes(parts: Iterable[Sequence[float]]) -> tuple[float, ...]:
    """Return the overall minimum and maximum of several (min, max) pairs; empty if all are empty."""
    known = [part for part in parts if part]
    return (min(part[0] for part in known), max(part[-1] for part in known)) if known else ()


class Episodes:
    """Return statistics over `episodes`."""

    episodes: tuple[EpisodeRecord, ...]

    @property
    def returns(self) -> tuple[float, ...]:
        """Return of each finished episode."""
        return tuple(e.return_ for e in self.episodes)

    @property
    def mean_return(self) -> float:
        """Mean return; NaN without finished episodes."""
        return mean_value(self.returns)

    @property
    def mean_steps(self) -> float:
        """Mean length of the finished episodes.

        Raises:
            StatisticsError: No episode finished.
        """
        return statistics.fmean(e.steps for e in self.episodes)

    @property
    def success_rate(self) -> float | None:
        """Share of successful episodes; None if the environment does not report success."""
        known = [e.success for e in self.episodes if e.success is not None]
        return sum(known) / len(known) if known else None


@dataclass(frozen=True, slots=True)
class Evaluation(Episodes):
    """Result of rolling out one candidate.

    Attributes:
        outcome: "ok", or the kind of the first failure.
        episodes: Finished episodes, in the order of their seeds.
        steps: Every environment step taken, failed episodes included.
        error: One sentence about the failure; empty when ok.
        detail: The failure's traceback or sample, for the next prompt.
        failed_at: (seed, step) of the failure; None without one.
        output: What the policy printed, capped.
        seconds: Wall time.
        policy_seconds: Time spent in the policy, without time taken by other processes.
        failed: Number of episodes ended by a failure of the policy.
    """

    outcome: OutcomeKind
    episodes: tuple[EpisodeRecord, ...]
    steps: int
    error: str = ""
    detail: str = ""
    failed_at: tuple[int | None, int | None] | None = None
    output: str = ""
    seconds: float = 0.0
    policy_seconds: float = 0.0
    failed: int = 0

    def __add__(self, other: Evaluation) -> Evaluation:
        """Append a later evaluation of the same program."""
        first = other if self.outcome == "ok" else self
        return replace(
            first,
            episodes=(*self.episodes, *other.episodes),
            steps=self.steps + other.steps,
            output=self.output + other.output,
            seconds=self.seconds + other.seconds,
            policy_seconds=self.policy_seconds + other.policy_seconds,
            failed=self.failed + other.failed,
        )

    @property
    def env_mean_return(self) -> float | None:
        """Mean of the environment's own returns if a reward program replaces them; otherwise None."""
        own = [e.env_return for e in self.episodes if e.env_return is not None]
        return statistics.fmean(own) if own else None

    @property
    def mean_parts(self) -> dict[str, float]:
        """Mean sum per episode of each term of a reward program, largest magnitude first."""
        names = dict.fromkeys(name for e in self.episodes for name in e.parts)
        means = {n: statistics.fmean(e.parts.get(n, 0.0) for e in self.episodes) for n in names}
        return dict(sorted(means.items(), key=lambda item: -abs(item[1])))

    def score(self) -> tuple[float, float, float]:
        """Return a sort key, larger is better: success rate, then mean return, then fewer steps.

        Failed candidates and NaN returns rank last.
        """
        mean = self.mean_return
        if self.outcome != "ok" or not math.isfinite(mean):
            return (-math.inf, -math.inf, -math.inf)
        return (self.success_rate or 0.0, mean, -float(self.steps))
