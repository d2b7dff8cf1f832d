"""Searching in a world model: what the run has paid for is learnt from before more is paid.

The recorded steps become a world model (`promptpo.world`), written by program search and, where there is one, by
the language model; whichever predicts the held-out episodes better is used, and only where its score permits it.
In it numbers are tuned and plans are made, which costs no step of the environment. Whatever comes out plays a few
real episodes before it becomes a candidate: a policy that disappoints there is none, its steps join the data,
and the model is fitted again.
"""

from __future__ import annotations

import contextlib
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from promptpo.errors import BudgetSpentError
from promptpo.program import Program
from promptpo.run.evidence import Evidence
from promptpo.run.journal import from_json, to_json
from promptpo.run.records import Attempt, Candidate, Seeds
from promptpo.run.spender import Subject
from promptpo.search.doubting import EPISODES, STEPS, Doubts
from promptpo.search.dreaming import DREAM_STRUCTURES, Dreamer, better
from promptpo.search.lessons import Lessons, disappoints
from promptpo.search.modelling import Modelled, Modeller
from promptpo.search.references import random_policy
from promptpo.search.screening import Screen
from promptpo.search.tuning import Start
from promptpo.world.baseline import can_write
from promptpo.world.dreams import Dream
from promptpo.world.planners import planner_for, planning_policy
from sandbox import WorldFailedError

if TYPE_CHECKING:
    from promptpo.run.config import Config
    from promptpo.run.spender import Spender
    from promptpo.search.history import History
    from promptpo.search.sampler import Sampler
    from promptpo.spec import TaskSpec

STUDIES = 8
"""Times that a model is fitted, used and corrected before the first round, at most."""

FIRST_STEPS, FIRST_EPISODES, MOST_EPISODES, MOST_FIRST = 600, 2, 60, 4
"""Random episodes come in batches, the first of two, until there are so many steps or so many batches."""

PROBE_EPISODES = 2
"""Real episodes that a policy from the model plays before it is a candidate."""

PROBE_START = 700_000
"""Probes use training seeds from here on."""

PLANNED = 150
"""Steps of the episodes in which planning policies, which take their time, are held against others in the model."""

LEADS = 0.1
"""A model that is worth more may say where to look for what is not known, which costs no more than to look at random."""

SHARE = 0.1
"""Of the step budget, which studying may take before the first round."""

GAIN, IDLE = 0.02, 2
"""So many candidates in a row that gain less than this share end the studies."""

MOST_TIMES = 4
"""Later models, which know more, are searched in so many times as long at most."""

UNSEEN = 900_000
"""Probes that look for what was not seen use training seeds from here on."""


@dataclass(frozen=True, slots=True)
class Found:
    """A policy that a model promises something of.

    Attributes:
        source: The module.
        promised: Its mean return in the model.
    """

    source: str
    promised: float


class WorldSearch:
    """Learns a world model and uses it, as far as it can be trusted.

    Args:
        spec: The task.
        sampler: Measures what comes out.
        spender: Rolls out.
        config: What decides the run.
        horizon: Longest episode, in steps.
        threshold: Mean return at which the search may end.
    """

    def __init__(
        self,
        spec: TaskSpec,
        sampler: Sampler,
        spender: Spender,
        config: Config,
        horizon: int,
        threshold: float | None,
    ) -> None:
        self._sampler, self._spender, self._config = sampler, spender, config
        self._journal, self._horizon, self._threshold = spender.journal, horizon, threshold
        self._spaces = (spec.observation_space, spec.action_space)
        self._seeds = Seeds(config.seed)
        self.modeller = Modeller(spec, spender, horizon)
        self._chance = math.nan
        self._dreamer = Dreamer(self.modeller, spender.executor, horizon, config.seed)
        self._lessons = Lessons(self.modeller, self._dreamer, spender.journal)
        self._screen = Screen(self._dreamer, spender.journal)
        self._doubts = Doubts(self.modeller, self._dreamer, spender.executor, spender.journal)
        if config.switches.world:
            sampler.watch, sampler.screen = self.modeller.take, self._screen.look

    async def study(self, history: History) -> None:
        """Before the first round: learn how the task moves, and what a policy can do with that.

        Where a language model writes the policies, only the first steps are taken here. What program search finds
        are candidates of round 0. It ends where a candidate reaches the threshold, where nothing
        better is found, or where its share of the budget is spent; a budget that ends in it ends the run as usual.
        """
        language_model = self._spender.llm.language_model
        if not self._config.switches.world:
            return
        if not self.modeller.possible:
            self._note(0, "observations are not a list of a few hundred numbers: no world model is learnt")
            return
        if not language_model and not can_write(*self._spaces):
            self._note(0, "program search writes no world model for such observations or actions")
            return
        if not language_model and planner_for(*self._spaces) in (None, "values"):
            return  # nothing here suits these spaces, or program search's own table learner does
        await self._look_around()
        if not language_model:
            await self._studies(history)

    async def _studies(self, history: History) -> None:
        best: float | None = None
        idle = 0
        for n in range(1, STUDIES + 1):
            if not self._goes_on(n):
                return
            world = await self.modeller.model(f"w{n}")
            found = await self._found(n, world) if world.usable else None
            real = -math.inf if found is None else await self._tried(f"w{n}.try", found.source)
            if found is None or not better(real, self._chance):
                await self._look_elsewhere(n, world)
                continue
            if not self._reached(real) and disappoints(found.promised, real, self._chance):
                key = f"w{n}.try"
                lesson = await self._lessons.learn(f"w{n}", key, found.source, world, found.promised, real)
                history.disappointments.append(lesson)
                self._note(n, f"promised {found.promised:.4g}, earned {real:.4g}: corrected and fitted again")
                continue
            attempt = await self._candidate(n, found, history)
            mean = attempt.evaluation.mean_return
            gained = best is None or mean > best + GAIN * abs(best - self._chance)
            idle = 0 if gained else idle + 1
            if self._reached(mean) or idle >= IDLE:
                return
            best = mean if best is None else max(best, mean)

    def suffices(self, history: History) -> bool:
        """Whether what was found in the model reaches the threshold, so that nobody need be asked for more."""
        found = [a for a in history.of_round(0) if a.id.startswith("w") and history.runs(a)]
        return any(self._reached(attempt.evaluation.mean_return) for attempt in found)

    def _reached(self, mean: float) -> bool:
        return self._threshold is not None and mean >= self._threshold

    def _goes_on(self, n: int) -> bool:
        """Whether there are steps for another study; decided once in a run."""
        found = self._journal.find("study", f"w{n}")
        if found is not None:
            return bool(found)
        steps = self._config.budget.steps
        allowed = math.inf if steps is None else max(SHARE * steps, 2.0 * FIRST_STEPS)
        goes_on = self._spender.ledger.steps["probe"] <= allowed
        self._journal.add("study", f"w{n}", goes_on)
        return goes_on

    def _note(self, n: int, text: str, of: str = "w") -> None:
        """Say in the journal what a study, or ("r", "s") what using the model in a round, came to."""
        if self._journal.find("note", f"{of}{n}") is None:
            self._journal.add("note", f"{of}{n}", text)

    # Real steps

    async def _probe(
        self, key: str, source: str, seeds: Sequence[int], horizon: int | None = None
    ) -> list[float]:
        """Returns of real episodes whose steps are learnt from."""
        subject = Subject(source, Program.parse(source).values, "")
        played = await self._spender.roll_out(
            "probe", key, subject, seeds, horizon=horizon or self._horizon, record=True
        )
        self.modeller.take(key, played.rollout)
        self._spender.told(key)
        evaluation = played.evaluation
        return list(evaluation.returns) if evaluation.outcome == "ok" else [-math.inf]

    async def _look_around(self) -> None:
        """Random episodes: the first steps that anything can be learnt from."""
        returns: list[float] = []
        for n in range(MOST_FIRST):
            lacking = FIRST_STEPS - self.modeller.experience.steps
            length = self.modeller.experience.steps / max(1, len(returns))
            if lacking <= 0:
                break
            count = FIRST_EPISODES if not length else min(MOST_EPISODES, math.ceil(lacking / length))
            seeds = self._seeds.train(count, start=PROBE_START + 1000 * n)
            returns += await self._probe(f"w0.look{n + 1}", random_policy(self._spaces[1]), seeds)
        finite = [one for one in returns if math.isfinite(one)]
        self._chance = statistics.fmean(finite) if finite else 0.0

    async def _look_elsewhere(self, n: int, world: Modelled) -> None:
        """More steps where the model knows too little: where it has not been, if it knows how to get there."""
        seeds = self._seeds.train(PROBE_EPISODES, start=UNSEEN + 1000 * n)
        key = f"w{n}.elsewhere"
        leads = world.worth > LEADS and self._journal.find("probe", key) is None
        source = await self._dreamer.curious(n) if leads else ""
        why = (
            "the model promises nothing better than chance"
            if world.usable
            else "the model is not good enough"
        )
        self._note(n, f"{why}: {'looked where the run has not been' if source else 'looked around again'}")
        await self._probe(key, source or random_policy(self._spaces[1]), seeds)

    async def _tried(self, key: str, source: str) -> float:
        """What a policy earns in a few real episodes."""
        seeds = self._seeds.train(PROBE_EPISODES, start=PROBE_START + 10_000)
        return statistics.fmean(await self._probe(key, source, seeds))

    async def _candidate(self, n: int, found: Found, history: History) -> Attempt:
        candidate = Candidate(f"w{n}c1", found.source, 0)
        prose = f"Found in a world model, which promised {found.promised:.4g}."
        attempt = self._sampler.recorded(await self._sampler.measure(candidate, history, prose=prose))
        history.attempts.append(attempt)
        return attempt

    # Inside the model

    async def tune(self, history: History, attempts: Sequence[Attempt]) -> list[Attempt]:
        """A round's programs with numbers tuned in the model, and a policy that plans in it, where it promises more.

        They are measured like any candidate; where no language model writes, `study` has done it before.

        Args:
            history: What is known.
            attempts: The round's.
        """
        if not self._config.switches.world or not self._spender.llm.language_model:
            return []
        if not self.modeller.possible:
            return []
        number = history.rounds + 1
        wrong = self._screen.contradicted(history, attempts)
        if wrong:
            self._note(number, wrong, "s")
        world = await self.modeller.model(f"r{number}", self._lessons.latest)
        self._screen.close()
        if not world.usable or not await self._trusted(number, world):
            return []
        self._screen.use(world, self._chance)
        found: list[Attempt] = []
        with contextlib.suppress(BudgetSpentError):
            proposed = await self._proposed(number, world, history, attempts)
            running = [attempt.candidate.source for attempt in attempts if history.runs(attempt)]
            await self._look_where_doubtful(number, world, [*(one.source for one, _ in proposed), *running])
            for candidate, promised in proposed:
                prose = f"From the world model, which promised {promised:.4g}."
                attempt = await self._sampler.measure(candidate, history, prose=prose, notes=(prose,))
                found.append(self._sampler.recorded(attempt))
                await self._held_against(attempt, promised, world, history)
        return found

    async def _look_where_doubtful(self, number: int, world: Modelled, sources: Sequence[str]) -> None:
        """Real episodes of the policy along which the models disagree most, where they do."""
        source, apart = await self._doubts.most(f"r{number}.doubt", world, sources)
        if not source:
            return
        seeds = self._seeds.train(EPISODES, start=UNSEEN + 1000 * (number + STUDIES))
        await self._probe(f"r{number}.doubt", source, seeds, min(self._horizon, STEPS // EPISODES))
        self._note(number, f"the models were {apart:.2g} usual changes apart: looked at who is right", "d")

    async def _trusted(self, number: int, world: Modelled) -> bool:
        """Whether a model has learnt from what earlier ones promised; decided once in a run."""
        found = self._journal.find("study", f"r{number}")
        if found is not None:
            return bool(found)
        try:
            dream = self._dreamer.dream(world.source, world.params)
            broken = await self._lessons.broken(dream, self._chance)
        except WorldFailedError as error:
            broken = f"the model fails in use: {error}"
        if broken:
            self._note(number, broken, "r")
        self._journal.add("study", f"r{number}", not broken)
        return not broken

    async def _held_against(
        self, attempt: Attempt, promised: float, world: Modelled, history: History
    ) -> None:
        """Learn from a candidate of the model's that earned less than it promised."""
        trained = attempt.evaluation
        if trained.outcome != "ok" or attempt.candidate.duplicate_of or self._reached(trained.mean_return):
            return
        error = Evidence.of(trained.episodes).standard_error
        if disappoints(promised, trained.mean_return, self._chance, error):
            key, source = self._sampler.name_of(attempt.candidate), attempt.candidate.source
            lesson = await self._lessons.learn(attempt.id, key, source, world, promised, trained.mean_return)
            history.disappointments.append(lesson)

    async def _proposed(
        self, number: int, world: Modelled, history: History, attempts: Sequence[Attempt]
    ) -> list[tuple[Candidate, float]]:
        """Candidates that the model promises more of than of what there is; worked out once in a run."""
        key = f"r{number}"
        recorded = self._journal.find("dream", key)
        if recorded is None:
            proposed = await self._worked_out(number, world, history, attempts)
            self._journal.add(
                "dream", key, [[to_json(candidate), promised] for candidate, promised in proposed]
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
            bar = max(self._chance, await self._dreamer.least(dreams, random_policy(self._spaces[1])))
            running = sorted(filter(history.runs, attempts), key=Attempt.rank, reverse=True)[
                :DREAM_STRUCTURES
            ]
            for attempt in running:
                bar = max(bar, await self._dreamer.least(dreams, attempt.candidate.source))
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
                proposed += await self._planned(number, world, dreams, [a.candidate.source for a in running])
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
        others = [random_policy(self._spaces[1]), *others]
        bar = max([await self._dreamer.least(dreams, one, PROBE_EPISODES, PLANNED) for one in others])
        promised = await self._dreamer.least(dreams, plan, PROBE_EPISODES, PLANNED)
        return [(Candidate(f"w{number}c1", plan, number), promised)] if better(promised, bar) else []

    async def _found(self, n: int, world: Modelled) -> Found | None:
        """The best policy that the model promises; None where it tells no difference between policies."""
        recorded = self._journal.find("dream", f"w{n}")
        if recorded is not None:
            return Found(recorded["source"], float(recorded["promised"])) if recorded["source"] else None
        found = await self._dreamt_up(n, world)
        data = (
            {"source": found.source, "promised": found.promised} if found else {"source": "", "promised": 0.0}
        )
        self._journal.add("dream", f"w{n}", data)
        return found

    async def _dreamt_up(self, n: int, world: Modelled) -> Found | None:
        dream = self._dreamer.dream(world.source, world.params)
        try:
            chance = max(self._chance, await self._dreamer.promised(dream, random_policy(self._spaces[1])))
            found = await self._dreamer.tuned_better(n, dream, chance, times=min(n, MOST_TIMES))
        except WorldFailedError:
            return None
        return None if found is None else Found(*found)
