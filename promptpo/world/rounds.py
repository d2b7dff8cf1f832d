"""What a world model is used for in every round, where a language model writes the policies.

It tunes the numbers of its candidates, and plans. What it promises is held against what is earned.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from promptpo.errors import BudgetSpentError
from promptpo.program import Program
from promptpo.run.evidence import Evidence
from promptpo.run.journal import from_json, to_json
from promptpo.run.records import Attempt, Candidate
from promptpo.search.references import programs
from promptpo.search.tuning import Start
from promptpo.world.dreaming import (
    DREAM_STRUCTURES,
    PLANNED_EPISODES,
    Dreamer,
    better,
    disappoints,
    plans,
)
from promptpo.world.planners import planning_policy
from promptpo_sandbox import WorldFailedError

if TYPE_CHECKING:
    from promptpo.run.history import History
    from promptpo.run.spender import Spender
    from promptpo.search.measuring import Measurer
    from promptpo.world.modelling import Modelled, Modeller


class ModelRounds:
    """Uses the model of each round, as far as it can be trusted.

    Args:
        measurer: Measures what comes out.
        spender: Of the run.
        modeller: Makes the models.
        dreamer: Works in them.
    """

    def __init__(self, measurer: Measurer, spender: Spender, modeller: Modeller, dreamer: Dreamer) -> None:
        self._measurer, self._journal = measurer, spender.journal
        self._modeller, self._dreamer, self._spaces = modeller, dreamer, modeller.spaces

    async def tune(self, history: History, attempts: Sequence[Attempt], nothing: float) -> None:
        """A round's programs with numbers tuned in the model, or a policy that plans in it, where it promises more.

        They are measured like any candidate.

        Args:
            history: What is known.
            attempts: The round's.
            nothing: What is earned by knowing nothing.
        """
        number = history.rounds + 1
        world = await self._modeller.model(f"r{number}")
        if not world.usable:
            return
        with contextlib.suppress(BudgetSpentError):
            proposed = await self._proposed(number, world, history, attempts, nothing)
            if proposed is not None:
                candidate, promised = proposed
                prose = f"From the world model, which promised {promised:.4g}."
                attempt = await self._measurer.measure(candidate, history, prose=prose, notes=(prose,))
                self._hold_against(attempt, promised, nothing)
                self._measurer.recorded(attempt)

    def _hold_against(self, attempt: Attempt, promised: float, nothing: float) -> None:
        """Write down whether a candidate of the model's earned what it promised."""
        trained, candidate = attempt.evaluation, attempt.candidate
        if trained.outcome == "ok" and not candidate.duplicate_of and not plans(candidate.source):
            earned, error = trained.mean_return, Evidence.of(trained.episodes).standard_error
            kept = not disappoints(promised, earned, nothing, error)
            self._dreamer.held(attempt.id, promised, earned, kept=kept)

    async def _proposed(
        self, number: int, world: Modelled, history: History, attempts: Sequence[Attempt], nothing: float
    ) -> tuple[Candidate, float] | None:
        """A candidate that the model promises more of than of what there is; worked out once in a run."""

        async def proposed() -> list[Any]:
            with contextlib.suppress(WorldFailedError):
                found = await self._worked_out(number, world, history, attempts, nothing)
                return [to_json(found[0]), found[1]] if found else []
            return []

        recorded = await self._dreamer.once(f"r{number}", proposed)
        return (from_json(Candidate, recorded[0]), float(recorded[1])) if recorded else None

    async def _worked_out(
        self, number: int, world: Modelled, history: History, attempts: Sequence[Attempt], nothing: float
    ) -> tuple[Candidate, float] | None:
        dreamer, dream = self._dreamer, self._dreamer.dream(world)
        idle = list(programs(self._spaces[1]).values())
        running = sorted(filter(history.runs, attempts), key=Attempt.rank, reverse=True)[:DREAM_STRUCTURES]
        leader = history.best()
        marks = [one.candidate.source for one in (*running, *([leader] if leader else ()))]
        others = [*idle, *(source for source in dict.fromkeys(marks) if not plans(source))]
        bar = max([nothing, *[await dreamer.promised(dream, one) for one in others]])
        parsed = [(one, Program.parse(one.candidate.source)) for one in running]
        starts = [
            Start(one.id, program, one.evaluation.mean_return)
            for one, program in parsed
            if program.params and not one.candidate.duplicate_of
        ]
        tuned = await dreamer.tuning(number, dream, starts) if starts else None
        parent = history.find(tuned.id) if tuned else None
        if tuned is not None and parent is not None:
            promised = await dreamer.promised(dream, tuned.program.source)
            if better(promised, bar):
                candidate = replace(
                    parent.candidate,
                    id=f"{parent.id}tt",
                    source=tuned.program.source,
                    parents=(parent.id,),
                    tuned=dict(tuned.changes),
                    sensitivity=dict(tuned.sensitivity),
                )
                return candidate, promised
        plan = planning_policy(world.source, world.params, self._spaces[1])
        if not plan:
            return None
        length = (PLANNED_EPISODES, dreamer.planned)
        bar = max([await dreamer.promised(dream, one, *length) for one in (*idle, *marks)])
        promised = await dreamer.promised(dream, plan, *length)
        return (Candidate(f"w{number}c1", plan, number), promised) if better(promised, bar) else None
