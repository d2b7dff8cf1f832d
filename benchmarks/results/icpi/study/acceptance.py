"""Acceptance table of learning with engines that know the rules, or know nothing.

The limits were measured with an independent prototype of the algorithm: the mean regret of the last quarter
of the training, over at least as many seeds as named, plus about three standard errors; and how little
defective engines learn. The CPU times are the prototype's.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tables import mean_error, short

if TYPE_CHECKING:
    from runs import Run


@dataclass(frozen=True, slots=True)
class LearningLimits:
    """Limits that learning in one domain has to keep.

    Attributes:
        seeds: At least so many.
        regret: Most that the mean regret of the last quarter may be, oracle engine, paper profile.
        random_policy: Least regret at the end when the imagined rollouts act at random; None: no limit.
        lookup: Least regret at the end with the lookup engine; None: no limit.
        cpu_seconds: CPU time per seed of the prototype; at most twice that is accepted.
    """

    seeds: int
    regret: float
    random_policy: float | None
    lookup: float | None
    cpu_seconds: float


LIMITS: Mapping[str, LearningLimits] = {
    "promptpo/Chain-v0": LearningLimits(16, 0.06, 0.20, None, 0.5),
    "promptpo/DistractorChain-v0": LearningLimits(16, 0.25, None, 0.35, 2.0),
    "promptpo/Maze-v0": LearningLimits(16, 0.06, 0.20, None, 3.0),
    "promptpo/MiniCatch-v0": LearningLimits(8, 0.15, None, None, 5.0),
    "promptpo/MiniInvaders-v0": LearningLimits(8, 0.40, None, 0.50, 30.0),
    "promptpo/PointMass-v0": LearningLimits(8, 0.06, 0.20, 0.30, 40.0),
}

NEEDED = ("icpi", "random-policy", "lookup")
"""Variants that the table is made of."""

HEADER = (
    "domain", "seeds", "regret", "at most", "exactly optimal", "random rollouts", "lookup", "CPU s/seed", "of", "holds",
)  # fmt: skip
OPTIMAL = 1e-9


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the table.

    Attributes:
        cells: Under `HEADER`.
        holds: All limits are kept.
    """

    cells: tuple[str, ...]
    holds: bool


def check(env_id: str, runs: Iterable[Run]) -> Check:
    """Compare runs with the limits of their domain.

    Args:
        env_id: The domain.
        runs: Of the variants in `NEEDED`, with the oracle as the benchmark's engine.
    """
    limits = LIMITS[env_id]
    by_variant = {name: [run for run in runs if run.variant == name] for name in NEEDED}
    ours = by_variant["icpi"]
    regret, error = mean_error([run.last_quarter or 0.0 for run in ours])
    at_random, copying = (_at_end(by_variant[name]) for name in NEEDED[1:])
    cpu = statistics.fmean(run.cpu_seconds for run in ours)
    holds = (
        len(ours) >= limits.seeds
        and regret <= limits.regret
        and at_random >= (limits.random_policy or 0.0)
        and copying >= (limits.lookup or 0.0)
        and cpu <= 2 * limits.cpu_seconds
    )
    cells = (
        short(env_id),
        str(len(ours)),
        f"{regret:.3f} ± {error:.3f}",
        f"{limits.regret:.2f}",
        f"{_share_optimal(ours):.2f}",
        _against(at_random, limits.random_policy),
        _against(copying, limits.lookup),
        f"{cpu:.2f}",
        f"{limits.cpu_seconds:g}",
        "yes" if holds else "NO",
    )
    return Check(cells, holds)


def _at_end(runs: Sequence[Run]) -> float:
    """Mean over seeds of the mean regret of the last four episodes."""
    return statistics.fmean(regret for run in runs if (regret := run.regret_at(run.steps)) is not None)


def _share_optimal(runs: Sequence[Run]) -> float:
    """Of the episodes that ended in the last quarter."""
    late = [
        regret
        for run in runs
        for end, regret in zip(run.ends, run.regrets, strict=True)
        if end > 0.75 * run.steps
    ]
    return sum(abs(regret) < OPTIMAL for regret in late) / len(late)


def _against(value: float, least: float | None) -> str:
    return f"{value:.2f}" + (f" (≥ {least:.2f})" if least is not None else "")
