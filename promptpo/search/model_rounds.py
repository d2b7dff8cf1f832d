"""What a world model is used for in every round, where a language model writes the policies.

It rules out hopeless candidates before they cost a step, tunes the numbers of others, and plans. What it promises
is held against what is earned.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from promptpo.errors import BudgetSpentError
from promptpo.program import Program
from promptpo.run.evidence import Evidence
from promptpo.run.journal import from_json, to_json
from promptpo.run.records import Attempt, Candidate, Seeds
from promptpo.search.dreaming import DREAM_STRUCTURES, Dreamer, better, plans
from promptpo.search.lessons import Lessons, disappoints
from promptpo.search.references import programs
from promptpo.search.screening import Screen
from promptpo.search.tuning import Start
from promptpo.world.planners import planner_for, planning_policy
from sandbox import WorldFailedError

if TYPE_CHECKING:
    from promptpo.run.config import Config
    from promptpo.run.spender import Spender
    from promptpo.search.history import History
    from promptpo.search.modelling import Modelled, Modeller
    from promptpo.search.paid_steps import PaidSteps
    from promptpo.search.sampler import Sampler
    from promptpo.world.dreams import Dream


class ModelRounds:
    """Uses the model of each round, as far as it can be trusted.

    Args:
        sampler: Measures what comes out.
        spender: Knows who writes.
        config: What decides the run.
        modeller: Makes the models.
        dreamer: Works in them.
        lessons: Where they were wrong.
        paid: Plays real episodes for them.
        threshold: Mean return at which the search may end.

    Attributes:
        screen: Says of new candidates whether they are worth steps.
    """

    def __init__(
        self,
        sampler: Sampler,
        spender: Spender,
        config: Config,
        modeller: Modeller,
        dreamer: Dreamer,
        lessons: Lessons,
        paid: PaidSteps,
        threshold: float | None,
    ) -> None:
        self._sampler, self._spender, self._config = sampler, spender, config
        self._modeller, self._dreamer, self._lessons, self._paid = modeller, dreamer, lessons, paid
        self._horizon, self._threshold = paid.horizon, threshold
        self._journal, self._spaces = spender.journal, modeller.spaces
        self._seeds = Seeds(config.seed)
        self.screen = Screen(dreamer, spender.journal)

    def _reached(self, mean: float) -> bool:
        return self._threshold is not None and mean >= self._threshold

    async def tune(self, history: History, attempts: Sequence[Attempt]) -> list[Attempt]:
        """A round's programs with numbers tuned in the model, and a policy that plans in it, where it promises more.

        They are measured like any candidate; where no language model writes, studies before the first round have done it.

        Args:
            history: What is known.
            attempts: The round's.
        """
        if not self._config.switches.world or not self._spender.llm.language_model:
            return []
        if not self._modeller.possible:
            return []
        number = history.rounds + 1
        wrong = self.screen.contradicted(history, attempts)
        if wrong:
            self._paid.note(number, wrong, "s")
        world = await self._modeller.model(f"r{number}", self._lessons.untold())
        self.screen.close()
        if not world.usable or not await self._trusted(number, world):
            return []
        self.screen.use(world, self._paid.chance)
        found: list[Attempt] = []
        with contextlib.suppress(BudgetSpentError):
            proposed = await self._proposed(number, world, history, attempts)
            for candidate, promised in proposed:
                prose = f"From the world model, which promised {promised:.4g}."
                attempt = await self._sampler.measurer.measure(
                    candidate, history, prose=prose, notes=(prose,)
                )
                found.append(self._sampler.measurer.recorded(attempt))
                await self._held_against(attempt, promised, world, history)
        return found

    async def _trusted(self, number: int, world: Modelled) -> bool:
        """Whether a model has learnt from what earlier ones promised; decided once in a run."""
        found = self._journal.find("study", f"r{number}")
        if found is not None:
            return bool(found)
        try:
            dream = self._dreamer.dream(world.source, world.params)
            broken = await self._lessons.broken(dream, self._paid.chance)
        except WorldFailedError as error:
            broken = f"the model fails in use: {error}"
        if broken:
            self._paid.note(number, broken, "r")
        self._journal.add("study", f"r{number}", not broken)
        return not broken

    async def _held_against(
        self, attempt: Attempt, promised: float, world: Modelled, history: History
    ) -> None:
        """Learn from a candidate of the model's that earned less than it promised."""
        trained = attempt.evaluation
        if trained.outcome != "ok" or attempt.candidate.duplicate_of:
            return
        if self._reached(trained.mean_return):
            self._lessons.held(attempt.id, promised, trained.mean_return, kept=True)
            return
        key, source = self._sampler.measurer.name_of(attempt.candidate), attempt.candidate.source
        earned, error = trained.mean_return, Evidence.of(trained.episodes).standard_error
        if (
            plans(source) and self._horizon > self._dreamer.planned[1]
        ):  # what was promised is of the first steps
            known = self._modeller.earned(key, self._dreamer.planned[1])
            if known is None:
                return
            earned = known
        kept = not disappoints(promised, earned, self._paid.chance, error)
        self._lessons.held(attempt.id, promised, earned, kept=kept)
        if not kept:
            lesson = await self._lessons.learn(attempt.id, key, source, world, promised, earned)
            history.disappointments.append(lesson)

    async def _proposed(
        self, number: int, world: Modelled, history: History, attempts: Sequence[Attempt]
    ) -> list[tuple[Candidate, float]]:
        """Candidates that the model promises more of than of what there is; worked out once in a run."""
        key = f"r{number}"
        recorded = self._journal.find("dream", key)
        if recorded is None:
            proposed = await self._worked_out(number, world, history, attempts)
            self._dreamer.keep(
                self._journal, key, [[to_json(candidate), promised] for candidate, promised in proposed]
            )
            return proposed
        return [(from_json(Candidate, one), float(promised)) for one, promised in recorded]

    async def _worked_out(
        self, number: int, world: Modelled, history: History, attempts: Sequence[Attempt]
    ) -> list[tuple[Candidate, float]]:
        dream = self._dreamer.dream(world.source, world.params)
        dreams = self._dreams(world)
        proposed: list[tuple[Candidate, float]] = []
        with contextlib.suppress(WorldFailedError):
            idle = programs(self._spaces[1]).values()
            bar = max([self._paid.nothing, *[await self._dreamer.least(dreams, one) for one in idle]])
            running = sorted(filter(history.runs, attempts), key=Attempt.rank, reverse=True)[
                :DREAM_STRUCTURES
            ]
            leader = history.best()
            marks = [attempt.candidate.source for attempt in (*running, *([leader] if leader else ()))]
            for source in dict.fromkeys(marks):
                if not plans(source):
                    bar = max(bar, await self._dreamer.least(dreams, source))
            starts = [
                Start(a.id, Program.parse(a.candidate.source), a.evaluation.mean_return)
                for a in running
                if Program.parse(a.candidate.source).params and not a.candidate.duplicate_of
            ]
            tuned = await self._dreamer.tuning(number, dream, starts) if starts else None
            parent = history.find(tuned.id) if tuned else None
            if tuned is not None and parent is not None:
                promised = await self._dreamer.least(dreams, tuned.program.source)
                if better(promised, bar):
                    bar = promised
                    candidate = replace(
                        parent.candidate,
                        id=f"{parent.id}tt",
                        source=tuned.program.source,
                        parents=(parent.id,),
                        tuned=dict(tuned.changes),
                        sensitivity=dict(tuned.sensitivity),
                    )
                    proposed.append((candidate, promised))
            if not proposed or planner_for(*self._spaces) == "values":
                proposed += await self._planned(number, world, dreams, list(dict.fromkeys(marks)))
        return proposed

    def _dreams(self, world: Modelled) -> list[Dream]:
        """All models of a round: a policy is worth what the one that promises least says."""
        found = [self._dreamer.dream(world.source, world.params)]
        return found + [self._dreamer.dream(source, Program.parse(source).values) for source in world.others]

    async def _planned(
        self, number: int, world: Modelled, dreams: Sequence[Dream], others: Sequence[str]
    ) -> list[tuple[Candidate, float]]:
        """A policy that plans in the models, where it promises more than others in episodes that are not long."""
        plan = planning_policy(world.source, world.params, *self._spaces, others=world.others)
        if not plan:
            return []
        others = [*programs(self._spaces[1]).values(), *others]
        bar = max([await self._dreamer.least(dreams, one, *self._dreamer.planned) for one in others])
        promised = await self._dreamer.least(dreams, plan, *self._dreamer.planned)
        return [(Candidate(f"w{number}c1", plan, number), promised)] if better(promised, bar) else []
