"""What a tuning comes to for each of its candidates, at any time: numbers, how much was tried, what came of it in a word."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from promptpo.search.tuning.arms import best_of_search, nothing_better, unchanged
from promptpo.search.tuning.batches import Finalist, Tuned
from promptpo.search.tuning.cma_search import CmaSearch
from promptpo.search.tuning.peaks import Peak

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from promptpo.search.tuning.arms import Arm
    from promptpo.search.tuning.batches import Start
    from promptpo.search.tuning.choosing import FinalChoice
    from promptpo.search.tuning.foresight import Foresight


@dataclass(frozen=True, slots=True)
class TuningResults:
    """Where a tuning stands.

    Attributes:
        racing: Every structure that raced.
        leader: The one in front; None where none raced.
        choice: The final choice; None before it.
        foresight: What whole episodes said of each; None where a tuning need not earn its steps.
        worth: How good a structure is.
        for_nothing: Whether nothing better was found.
    """

    racing: Sequence[Arm]
    leader: Arm | None
    choice: FinalChoice | None
    foresight: Foresight | None
    worth: Callable[[Arm], float]
    for_nothing: bool

    def of(self, starts: Sequence[Start]) -> tuple[Tuned, ...]:
        """One result per start, in the same order; what is not known to be better comes back as it was."""
        beside = self._beside()
        return tuple(self._judged(self._noted(self._result(start, beside))) for start in starts)

    def _result(self, start: Start, beside: Arm | None) -> Tuned:
        arm = next((arm for arm in self.racing if arm.start is start), None)
        if arm is None:
            return Tuned(start.id, start.program, score=start.score)
        if self.for_nothing:
            return unchanged(arm, nothing_better(arm))
        if arm is beside:
            return self._proven_of(arm)
        if arm is self.leader:
            return self.choice.result() if self.choice else best_of_search(arm)
        return unchanged(arm, f"tuning gave it up after {arm.steps} steps for a structure that did better")

    def _beside(self) -> Arm | None:
        """The best new structure where the leader is tuned again and stays in front: its gain is a candidate as well."""
        if self.leader is None or not self.leader.start.again or self.foresight is None:
            return None
        proven = [
            arm
            for arm in self.racing
            if arm is not self.leader
            and isinstance(arm, CmaSearch)
            and self.foresight.proven(arm) != arm.space.defaults
        ]
        return max(proven, key=self.worth, default=None)

    def _proven_of(self, arm: Arm) -> Tuned:
        """A structure with the numbers that proved themselves in whole episodes."""
        if not isinstance(arm, CmaSearch) or self.foresight is None:
            return best_of_search(arm)
        found = Finalist(arm.start.program, self.foresight.proven(arm))
        return arm.tuned(found, self.foresight.promise(arm))

    def _judged(self, tuned: Tuned) -> Tuned:
        """With how much was tried, and what came of it in a word."""
        arm = next((arm for arm in self.racing if arm.start.id == tuned.id), None)
        if arm is None:
            return tuned
        peak = arm.whole_episodes.best() if isinstance(arm, CmaSearch) else Peak()
        spread = arm.spread if isinstance(arm, CmaSearch) else ()
        told = replace(tuned, evaluations=arm.evaluations, peak=peak, spread=spread)
        if tuned.program is not arm.start.program:
            return replace(told, outcome="better")
        if not self.for_nothing and arm is not self.leader:
            return replace(told, outcome="given up")
        if arm.evaluations and not arm.ran:
            return replace(told, outcome="nothing ran")
        return replace(told, outcome="alike" if arm.flat else "none")

    def _noted(self, tuned: Tuned) -> Tuned:
        """With what short episodes promised and whole ones gave."""
        seen, front = (self.foresight.seen, self.foresight.leader) if self.foresight else (None, None)
        if seen is None or front is None or front.start.id != tuned.id:
            return tuned
        steps, short, whole = seen
        note = f"in episodes of {steps:,} steps tuning saw {short:.4g}, in whole ones {whole:.4g}"
        return replace(tuned, notes=(*tuned.notes, note))
