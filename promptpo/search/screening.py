"""Candidates are played in the world model first, and those that are hopeless there cost no step.

How wrong the model is about returns is taken from what it says of candidates that were measured, so a model that
predicts steps well but returns badly rules nothing out. One in some number of those that it rules out is measured
all the same: its steps and its return correct the model and what it is trusted with.
"""

from __future__ import annotations

import asyncio
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptpo.program import Program
from promptpo.rollouts.evaluation import Evaluation
from promptpo.search.dreaming import plans
from promptpo.search.lessons import CLEAR, DISAPPOINTS
from promptpo.search.tuning import Start
from sandbox import WorldFailedError

if TYPE_CHECKING:
    from promptpo.run.journal import Journal
    from promptpo.run.records import Attempt, Candidate
    from promptpo.search.dreaming import Dreamer
    from promptpo.search.history import History
    from promptpo.search.modelling import Modelled

VERIFIED_OF = 4
"""One in about so many of those that the model rules out is measured all the same."""

FEWEST, MOST = 2, 6
"""Measured candidates by which the model's error about returns is known, at least and at most."""

STEPS = 20_000
"""Steps in the model for numbers of a candidate, which may be what makes it look hopeless."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What the model says of candidates that were measured.

    Attributes:
        leader: Id of the best that does not plan.
        returns: What the model says of its episodes.
        error: The most by which the model was wrong about a mean return.
        room: Mean return below the leader's from which a candidate is hopeless.
    """

    leader: str
    returns: tuple[float, ...]
    error: float
    room: float


class Screen:
    """Says of new candidates whether they are worth steps of the environment.

    Args:
        dreamer: Lets policies act in models.
        journal: Of the run.
    """

    def __init__(self, dreamer: Dreamer, journal: Journal) -> None:
        self._dreamer, self._journal = dreamer, journal
        self._world: Modelled | None = None
        self._chance = math.nan
        self._standing: asyncio.Task[Standing | None] | None = None

    def close(self) -> None:
        """Nothing is ruled out until a model is given."""
        self._world = self._standing = None

    def use(self, world: Modelled, chance: float) -> None:
        """Rule out by this model from now on.

        Args:
            world: A model that may be used.
            chance: Mean return of random actions.
        """
        self._world, self._chance, self._standing = world, chance, None

    async def look(self, candidate: Candidate, history: History) -> Evaluation | None:
        """The evaluation of a candidate that is not worth a step; None where it is to be measured."""
        world = self._world
        if world is None or any(a.candidate.digest == candidate.digest for a in history.attempts):
            return None
        key = _key(candidate)
        found = self._journal.find("dream", key)
        if found is None:
            looked = await self._looked(candidate, history, world)
            found = self._journal.find("dream", key)  # of another sample with the same program
            if found is None:
                self._dreamer.keep(self._journal, key, looked)
                found = looked
        if not found["hopeless"] or int(candidate.digest[:8], 16) % VERIFIED_OF == 0:
            return None
        return Evaluation("screened", (), 0, error=found["hopeless"])

    def contradicted(self, history: History, attempts: Sequence[Attempt]) -> str:
        """Which programs were ruled out, measured all the same, and no worse than the best, in words; empty without any."""
        best, wrong = history.best(), []
        for attempt in attempts:
            found = self._journal.find("dream", _key(attempt.candidate))
            if found is None or not found["hopeless"] or best is None or not history.runs(attempt):
                continue
            if history.against(attempt, best).verdict >= 0:
                wrong.append(attempt.id)
        return f"the model ruled out {', '.join(wrong)}, wrongly" if wrong else ""

    async def _looked(self, candidate: Candidate, history: History, world: Modelled) -> dict[str, str]:
        """Why a candidate is hopeless, as the journal keeps it; empty where it is not, or nobody knows."""
        try:
            if self._standing is None:
                self._standing = asyncio.ensure_future(self._stand(history, world))
            standing = await self._standing
            if standing is None:
                return {"hopeless": ""}
            mean, error = await self._compared(candidate, world, standing)
        except WorldFailedError:
            return {"hopeless": ""}
        most = statistics.fmean(standing.returns)
        if not mean < most - standing.room - CLEAR * error:
            return {"hopeless": ""}
        return {
            "hopeless": f"a model of the environment promises {mean:.4g} of it and {most:.4g} of {standing.leader}, "
            f"which is among the best so far; it was wrong by {standing.error:.2g} at most about programs that were measured"
        }

    async def _stand(self, history: History, world: Modelled) -> Standing | None:
        """What the model says of measured candidates; None where too few of them ran, or it knows no difference.

        Policies that plan take too long to be played at length; the best of the others is the mark then.
        """
        quick = (attempt for attempt in history.ranked() if not plans(attempt.candidate.source))
        best = next(quick, None)
        others = [
            a
            for a in history.attempts
            if history.runs(a)
            and not a.candidate.duplicate_of
            and a is not best
            and not plans(a.candidate.source)
        ]
        if best is None or len(others) + 1 < FEWEST:
            return None
        dream = self._dreamer.dream(world.source, world.params)
        told = [await self._dreamer.returns(dream, a.candidate.source) for a in (best, *others[1 - MOST :])]
        if not all(map(len, told)):
            return None
        earned = [history.evidence(a).mean_return for a in (best, *others[1 - MOST :])]
        error = max(abs(statistics.fmean(one) - real) for one, real in zip(told, earned, strict=True))
        above = abs(statistics.fmean(told[0]) - self._chance)
        return Standing(best.id, tuple(told[0]), error, max(error, DISAPPOINTS * above))

    async def _compared(
        self, candidate: Candidate, world: Modelled, standing: Standing
    ) -> tuple[float, float]:
        """The mean return of a candidate in the model, and the standard error of its difference from the leader's.

        Numbers are tuned in the model first: a good program with poor numbers is not hopeless.
        """
        dream = self._dreamer.dream(world.source, world.params)
        told = await self._dreamer.returns(dream, candidate.source)
        if not told:  # it fails: the environment says how, and it can be repaired
            return math.inf, 0.0
        program = Program.parse(candidate.source)
        if (
            program.params
            and not statistics.fmean(told) >= statistics.fmean(standing.returns) - standing.room
        ):
            start = Start(candidate.id, program, math.nan)
            tuned = await self._dreamer.tuning(candidate.round, dream, [start], STEPS)
            again = await self._dreamer.returns(dream, tuned.program.source) if tuned else ()
            told = max(told, again, key=lambda one: statistics.fmean(one) if one else -math.inf)
        apart = [one - other for one, other in zip(told, standing.returns, strict=True)]
        return statistics.fmean(told), statistics.stdev(apart) / len(apart) ** 0.5


def _key(candidate: Candidate) -> str:
    return f"screen.{candidate.digest}.r{candidate.round}"
