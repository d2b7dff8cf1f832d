"""The structures of a tuning: which method each one takes, and how many the budget pays for."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from promptpo.search.tuning.numbers import NumberSearch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo.search.tuning.batches import Purse, SeedSource, Start
    from promptpo.search.tuning.tabular import TableSearch


Arm: TypeAlias = "NumberSearch | TableSearch"
"""A search for one structure. `ask` gives the next generation, nothing where the steps do not pay for one, and `tell` learns from
it; after so many as `leg` says, `go_on` is told what whole episodes of the first of `finalists` showed."""


def arm_of(start: Start, seed: int, seeds: SeedSource, purse: Purse) -> Arm | None:
    """The method for a candidate; None where it has nothing to tune."""
    if start.program.table is not None and start.program.actions:
        from promptpo.search.tuning.tabular import TableSearch

        return TableSearch(start, seeds, purse)
    if any(high > low for _, low, high in start.program.params.values()):
        return NumberSearch(start, seed, seeds, purse)
    return None


def entrants(arms: Sequence[Arm], steps: int) -> list[Arm]:
    """The structures that the steps pay for, in their order; at least one.

    A structure with n numbers needs about n generations to come near to what it can do; where a race does not leave
    each so many, one alone does better.
    """
    for n in range(len(arms), 1, -1):
        generation = sum(arm.length * arm.population for arm in arms[:n])
        if steps / generation >= max(arm.size for arm in arms[:n]):
            return list(arms[:n])
    return list(arms[:1])
