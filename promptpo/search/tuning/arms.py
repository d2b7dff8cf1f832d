"""The structures of a tuning: which method each one takes, and how many the budget pays for."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from promptpo.search.tuning.batches import Start, Tuned
from promptpo.search.tuning.clock import SHORTEST
from promptpo.search.tuning.cma_search import CmaSearch
from promptpo.search.tuning.tabular import TableSearch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo.search.tuning.batches import SeedSource

NOTHING_FOUND = "tuning found no parameter values with which every episode runs to its end"

Arm: TypeAlias = CmaSearch | TableSearch
"""One structure being tuned."""


def distinct(starts: Sequence[Start]) -> list[tuple[int, Start]]:
    """The starts with their places, each program once."""
    first: dict[str, tuple[int, Start]] = {}
    for i, start in enumerate(starts):
        first.setdefault(start.program.digest, (i, start))
    return list(first.values())


def arm_of(start: Start, seed: int, seeds: SeedSource) -> Arm | None:
    """The method for a candidate; None where it has nothing to tune."""
    if start.program.table is not None and start.program.actions:
        return TableSearch(start, seeds)
    if any(high > low for _, low, high in start.program.params.values()):
        return CmaSearch(start, seed, seeds)
    return None


def entrants(arms: Sequence[Arm], steps: int, horizon: int | None) -> list[Arm]:
    """The structures that the budget pays for, in their order; at least one.

    A structure with n numbers needs about n generations to come near to what it can do. Where a race does
    not leave each so many, in short episodes, it ends with a structure whose numbers are poor, and one alone
    does better: on HalfCheetah, with 131,072 steps, 1,528 against 1,353 and 1,550 against 1,275 (two pairs of
    structures, training seeds 300 to 309).
    """
    length = min(SHORTEST, horizon or SHORTEST)
    for n in range(len(arms), 1, -1):
        generations = steps / (length * sum(arm.population for arm in arms[:n]))
        if generations >= max(arm.size for arm in arms[:n]):
            return list(arms[:n])
    return list(arms[:1])


def best_of_search(arm: Arm) -> Tuned:
    """A structure's result without a final choice: what its search measured as better than the original."""
    found = arm.best()
    if found is None:
        return unchanged(arm, nothing_better(arm))
    return arm.tuned(*found)


def unchanged(arm: Arm, note: str) -> Tuned:
    """A structure as it came."""
    start = arm.start
    notes = (note,) if note and arm.steps else ()
    sensitivity = arm.sensitivity(start.program.values or {}) if isinstance(arm, CmaSearch) else {}
    return Tuned(start.id, start.program, {}, start.score, arm.steps, notes, sensitivity)


def nothing_better(arm: Arm) -> str:
    """A remark on a tuning in vain."""
    if arm.evaluations and not arm.ran:
        return NOTHING_FOUND
    told = "all parameter values that were tried scored alike" if arm.flat else "nothing better"
    return f"tuned {arm.evaluations:,} evaluations: {told}"
