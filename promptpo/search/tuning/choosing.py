"""The final choice of a tuning: its finalists meet in whole episodes, on training seeds that nothing has used."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from promptpo.run.evidence import Difference
from promptpo.search.tuning.archive import mean_or_worst
from promptpo.search.tuning.arms import NOTHING_FOUND, best_of_search, unchanged
from promptpo.search.tuning.batches import Batch, Finalist, Tuned, return_of, steps_of
from promptpo.search.tuning.cma_search import CmaSearch
from sandbox import Trial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo.search.tuning.arms import Arm
    from promptpo.search.tuning.batches import Episodes, SeedSource
    from promptpo.search.tuning.clock import Clock

FINALISTS = 5
MOST_LOOKS = 20
LOOK_STEPS = 2000
"""Later looks at fewer finalists take more episodes, where so many steps pay for them."""

CHOICE_SEED = 500_000
"""The final choice uses training seeds from here on."""


class FinalChoice:
    """Compares finalists in pairs on shared starts, by the rule that candidates are judged by.

    After each look those that are clearly worse than the one in front drop out (successive elimination, see
    `promptpo.search.judge`), and the worse half where the steps do not pay for another look as close at all of
    them. It ends when what is still open is not worth a step, or the steps do.

    Args:
        finalists: With their structures, the most promising first.
        clock: The budget.
        seeds: Source of training seeds.

    Attributes:
        returns: Of each finalist, over the same seeds as far as it came.
    """

    def __init__(self, finalists: Sequence[tuple[Arm, Finalist]], clock: Clock, seeds: SeedSource) -> None:
        self._finalists, self._clock, self._seeds = list(finalists), clock, seeds
        self._alive = list(range(len(finalists)))
        self.returns: list[list[float]] = [[] for _ in finalists]
        self._looks = MOST_LOOKS

    @property
    def arm(self) -> Arm:
        """The structure that is in front."""
        return self._finalists[self._alive[0]][0]

    def ask(self) -> list[Batch]:
        """The next look at those that are still in it; nothing where the choice is made."""
        used = len(self.returns[self._alive[0]])
        if used and not self._open():
            return []
        affordable = self._affordable()
        if used:
            while len(self._alive) > 2 and affordable < used:  # noqa: PLR2004 - two are left to choose from
                del self._alive[math.ceil(len(self._alive) / 2) :]
                affordable = self._affordable()
            # the fewer are left, the closer a look
            self._looks = max(
                MOST_LOOKS, min(4 * self._looks, int(LOOK_STEPS / max(1.0, self._clock.typical)))
            )
        n = min(self._looks, max(min(1, affordable), affordable // 2))
        if n < 1:
            return []
        fresh = self._seeds(CHOICE_SEED + used, n)
        batches = []
        for i in self._alive:
            finalist = self._finalists[i][1]
            trials = tuple(Trial(seed, finalist.params, self._clock.horizon) for seed in fresh)
            batches.append(Batch(finalist.program, trials))
        return batches

    def tell(self, batches: Sequence[Episodes]) -> None:
        """Take in one look at all that are in it."""
        for i, batch in zip(self._alive, batches, strict=True):
            arm, finalist = self._finalists[i]
            arm.steps += steps_of(batch)
            arm.evaluations += len(batch)
            returns = list(map(return_of, batch))
            self.returns[i] += returns
            if isinstance(arm, CmaSearch):
                arm.whole_episodes.add(finalist.params, returns)
        self._alive.sort(key=self._mean, reverse=True)
        front = self._alive[0]
        self._alive = [i for i in self._alive if i == front or not self._clearly_worse(i)]

    def result(self) -> Tuned:
        """The winner; before the first look, what search found."""
        arm, finalist = self._finalists[self._alive[0]]
        if not self.returns[self._alive[0]]:
            return best_of_search(arm)
        score = self._mean(self._alive[0])
        return arm.tuned(finalist, score) if math.isfinite(score) else unchanged(arm, NOTHING_FOUND)

    def _affordable(self) -> int:
        """Episodes of each that the steps pay for."""
        return self._clock.left // max(1, self._clock.whole_cost(len(self._alive)))

    def _mean(self, i: int) -> float:
        return mean_or_worst(self.returns[i])

    def _behind(self, i: int) -> Difference:
        """How one differs from the one in front."""
        pairs = zip(self.returns[i], self.returns[self._alive[0]], strict=False)
        return Difference(tuple(mine - best for mine, best in pairs))

    def _clearly_worse(self, i: int) -> bool:
        if not math.isfinite(self._mean(i)):
            return math.isfinite(self._mean(self._alive[0]))
        return self._behind(i).verdict < 0

    def _open(self) -> bool:
        """Whether more episodes may change the order by more than is not worth a step."""
        if not math.isfinite(self._mean(self._alive[0])):
            return False
        size = max(map(abs, self.returns[self._alive[0]]))
        return any(self._behind(i).open(size) for i in self._alive[1:])
