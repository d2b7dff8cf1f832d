"""What earlier rounds leave to a round's tuning, and what it has taken so far."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from promptpo.program import Program
from promptpo.rollouts.evaluation import extremes
from promptpo.run.evidence import SMALL
from sandbox.arrays import array_of

if TYPE_CHECKING:
    from promptpo.run.records import Attempt
    from promptpo.search.history import History

NEAR = 0.02
"""Programs whose returns differ by less than this share of their size earn the same."""


def agreed(history: History) -> bool:
    """Whether another program than the best, of another structure, earns the same, and both more than chance.

    Then the return is likely to be what the task has to give. Where nothing is better than chance, equal returns
    say the opposite; and where the best does worse on other starts than on those that both played, they say nothing.
    """
    best = history.best()
    if best is None:
        return False
    mine = history.evidence(best)
    size = max(map(abs, mine.returns), default=0.0)
    chance = [reference.mean_return for reference in history.references.values() if reference.episodes]
    if not chance or not mine.mean_return > max(chance) + SMALL * size:
        return False
    skeleton = Program.parse(best.candidate.source).skeleton
    for other in history.attempts:
        if not history.runs(other) or Program.parse(other.candidate.source).skeleton == skeleton:
            continue
        difference = history.against(other, best)
        close = abs(difference.mean) <= SMALL * size  # false without shared episodes
        if close and difference.standard_error <= NEAR * size:
            played = {episode.seed for episode in history.evidence(other).episodes}
            shared = [episode.return_ for episode in mine.episodes if episode.seed in played]
            if statistics.fmean(shared) - mine.mean_return <= SMALL * size:
                return True
    return False


class Taken:
    """What a round's tuning has taken so far, by the journal's events.

    Args:
        steps: Environment steps that it may take.
    """

    def __init__(self, steps: int) -> None:
        self._most = steps
        self.steps = self.episodes = 0
        self.seconds = 0.0
        self.earned: tuple[float, ...] = ()

    def add(self, data: Mapping[str, Any]) -> None:
        """Count a batch; those of earlier versions have no time and no number of episodes."""
        self.steps += sum(data["spent"].values())
        self.episodes += data.get("episodes", 0)
        self.seconds += data.get("seconds", 0.0)
        self.earned = extremes([self.earned, data.get("earned", ())])

    @property
    def planned(self) -> int:
        """Episodes in all, if those to come last as long as those so far."""
        return max(self.episodes, round(self.episodes * self._most / max(1, self.steps)))


def inherited(program: Program, attempt: Attempt, history: History) -> Iterator[dict[str, float]]:
    """The tuned values of a candidate's parents, or of what these were tuned into, where names and shapes agree."""
    own = program.values or {}
    parents = set(attempt.candidate.parents)
    seen: list[dict[str, float]] = []
    for other in history.attempts:
        tuned = other.candidate.tuned
        if not tuned or not parents & {other.id, *other.candidate.parents} or other.id == attempt.id:
            continue
        relative = Program.parse(other.candidate.source)
        shared = {
            name: value
            for name, value in (relative.values or {}).items()
            if name in own and program.arrays.get(array_of(name)) == relative.arrays.get(array_of(name))
        }
        if any(own[name] != value for name, value in shared.items()) and shared not in seen:
            seen.append(shared)
            yield shared
