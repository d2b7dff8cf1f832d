"""Searching in a world model: what the run has paid for is learnt from before more is paid.

The recorded steps become a world model, written by program search and, where there is one, by the language model; whichever
predicts held-out episodes better is used, and only where its score permits it. In it numbers are tuned, and where that is
not enough plans are made, which costs no step of the environment. What comes out is held against a few real episodes.
"""

from __future__ import annotations

import contextlib
import functools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptpo.errors import BudgetSpentError
from promptpo.run.records import Attempt, Candidate
from promptpo.search.context import Feature
from promptpo.search.references import MARKS, programs, random_policy
from promptpo.world.baseline.writer import suits_formulas
from promptpo.world.dreaming import PLANNED_EPISODES, Dreamer, better, disappoints, plans
from promptpo.world.modelling import Modelled, Modeller
from promptpo.world.planners import planning_policy
from promptpo.world.rounds import ModelRounds
from promptpo.world.scoring import USABLE
from promptpo_sandbox import WorldFailedError

if TYPE_CHECKING:
    from promptpo.run.evidence import Evidence
    from promptpo.run.history import History
    from promptpo.search.context import SearchContext
    from promptpo.search.sampler import Sampler
    from promptpo_sandbox import Rollout

STUDIES, FRUITLESS = 8, 2
"""Times that a model is fitted and used before the first round, at most, and how many in a row may bring nothing better."""

PROBE_EPISODES = 2
"""Real episodes that a policy from the model plays before it is a candidate."""

FIRST_STEPS, MOST_EPISODES, MOST_FIRST = 600, 60, 4
"""Random episodes come in batches, the first of two, until there are so many steps or so many batches."""

LEADS = 0.1
"""A model that is worth more may say where to look for what is not known, which costs no more than to look at random."""

GAIN = 0.02
"""A candidate that gains less than this share of what is above chance brings nothing better."""

EFFORT = 3_600_000
"""So many imagined steps end the studies: a minute or two of computing time."""

CLEARLY = 0.1
"""A policy that plans takes its time, so it has to promise more than a tuned one, by this share of what is above chance."""

PROBE_START, TRY_START, UNSEEN = 700_000, 710_000, 900_000
"""Episodes that are learnt from, tries and looks for what was not seen use training seeds from here on."""


@dataclass(frozen=True, slots=True)
class Found:
    """A policy that a model promises something of.

    Attributes:
        source: The module; empty where the model promises nothing better than chance.
        promised: Its mean return in the model.
    """

    source: str
    promised: float


class WorldSearch(Feature):
    """Learns a world model and uses it, as far as it can be trusted.

    Args:
        context: Of the run.
        sampler: Measures what comes out.
    """

    learns = True

    def __init__(self, context: SearchContext, sampler: Sampler) -> None:
        spec, spender, horizon = context.spec, context.spender, context.horizon
        self._measurer, self._spender, self._journal = sampler.measurer, spender, context.journal
        self._horizon, self._threshold, self._seeds = horizon, context.threshold, context.seeds
        self._spaces = (spec.observation_space, spec.action_space)
        self.modeller = Modeller(spec, spender, horizon)
        self._dreamer = Dreamer(self.modeller, spender, horizon, context.config.seed)
        self._rounds = ModelRounds(self._measurer, spender, self.modeller, self._dreamer)
        self._chance = self._luckiest = self._nothing = math.nan

    async def before_round(self, number: int, history: History) -> None:
        """Before the first round: learn how the task moves and, without a language model, what a policy can do with that.

        What is found are candidates of round 0.
        """
        if number != 1:
            return
        language_model = self._spender.llm.language_model
        if not self.modeller.possible:
            self._note(0, "observations are not a list of a few hundred numbers: no world model is learnt")
        elif not language_model and not suits_formulas(*self._spaces):
            self._note(0, "program search writes no world model for such observations or actions")
        else:
            with contextlib.suppress(BudgetSpentError):  # its own part; what is left is for other programs
                await self._look_around(history.references)
                if not language_model:
                    await self._studies(history)

    def watch(self, name: str, source: str, rollout: Rollout | None) -> None:  # noqa: ARG002 - one of the seams
        """Learn from each training rollout."""
        self.modeller.take(name, rollout)

    async def after_candidates(self, history: History, attempts: Sequence[Attempt]) -> None:
        """What a round's model makes of its programs, where a language model writes them; see `ModelRounds`."""
        if self._spender.llm.language_model and self.modeller.possible:
            await self._rounds.tune(history, attempts, self._nothing)

    async def _studies(self, history: History) -> None:
        best, fruitless = -math.inf, 0
        for n in range(1, STUDIES + 1):
            if not self._journal.once("study", f"w{n}", lambda: self._goes_on(fruitless)):  # noqa: B023 - called at once
                return
            world = await self.modeller.model(f"w{n}")
            found = await self._found(n, world)
            attempt = await self._tried(n, found, history) if found.source else None
            if attempt is None:
                attempt = await self._look_elsewhere(n, world, found, history)
            mean = -math.inf if attempt is None else attempt.evaluation.mean_return
            if self._reached(mean):
                return
            gained = mean > best + (GAIN * abs(best - self._chance) if math.isfinite(best) else 0.0)
            best, fruitless = max(best, mean), 0 if gained else fruitless + 1

    def _goes_on(self, fruitless: int) -> bool:
        """Whether another study is worth its steps and its computing time."""
        return (
            self._spender.ledger.room("world") != 0 and fruitless < FRUITLESS and self._dreamer.work <= EFFORT
        )

    def _reached(self, mean: float) -> bool:
        return self._threshold is not None and mean >= self._threshold

    # In the environment

    def _note(self, n: int, text: str) -> None:
        """Say in the journal what a study came to."""
        self._journal.once("note", f"w{n}", lambda: text)

    async def _play(self, key: str, source: str, seeds: Sequence[int]) -> list[float]:
        """Returns of real episodes whose steps are learnt from."""
        program = Candidate("", source, 0)
        played = await self._spender.roll_out("look", key, program, seeds, horizon=self._horizon, record=True)
        self.modeller.take(key, played.rollout)
        evaluation = played.evaluation
        return list(evaluation.returns) if evaluation.outcome == "ok" else [-math.inf]

    async def _look_around(self, marks: Mapping[str, Evidence]) -> None:
        """Random episodes, the first steps that anything can be learnt from, and what is earned by knowing nothing."""
        experience, returns = self.modeller.experience, list[float]()
        for n in range(MOST_FIRST):
            lacking, seen = FIRST_STEPS - experience.steps, experience.episodes
            if lacking <= 0 and seen >= PROBE_EPISODES:
                break
            length = experience.steps / seen if seen else math.inf
            count = min(MOST_EPISODES, max(PROBE_EPISODES, math.ceil(lacking / length)))
            seeds = self._seeds.train(count, start=PROBE_START + 1000 * n)
            returns += await self._play(f"w0.look{n + 1}", random_policy(self._spaces[1]), seeds)
        means = {name: evidence.mean_return for name, evidence in marks.items()}
        self._chance = means.get(MARKS[0], statistics.fmean(returns) if returns else 0.0)
        self._nothing = max([self._chance, *means.values()])
        self._luckiest = max(returns + [one for mark in marks.values() for one in mark.returns], default=0.0)

    async def _tried(self, n: int, found: Found, history: History) -> Attempt | None:
        """A candidate, where a policy earns in a few real episodes what was promised; what disappoints is learnt from."""
        key = f"w{n}.try"
        returns = await self._play(key, found.source, self._seeds.train(PROBE_EPISODES, start=TRY_START))
        earned = statistics.fmean(returns)
        whole = not plans(found.source) or self._horizon <= self._dreamer.planned
        broken = whole and disappoints(found.promised, earned, self._chance)
        kept = self._reached(earned) or (better(earned, self._nothing) and not broken)
        self._dreamer.held(f"w{n}c1", found.promised, earned, kept=kept)
        if not kept:
            self._note(n, f"promised {found.promised:.4g}, earned {earned:.4g}: it is fitted again")
            return None
        prose = f"Found in a world model, which promised {found.promised:.4g}."
        return await self._candidate(f"w{n}c1", found.source, history, prose)

    async def _look_elsewhere(
        self, n: int, world: Modelled, found: Found, history: History
    ) -> Attempt | None:
        """More steps where the model knows too little: where it has not been, if it knows how to get there.

        Returns:
            A candidate, where what went there earned more in each episode than policies that know nothing did in any.
        """
        if found.source:
            return None
        key = f"w{n}.elsewhere"
        source = ""
        if world.worth > LEADS:
            source = await self._dreamer.once(key, functools.partial(self._dreamer.curious, n))
        why = (
            "the model promises nothing better than chance"
            if world.usable
            else f"the model is not good enough (worth {world.worth:.2f} of 1 on held-out steps, {USABLE:g} is the least)"
        )
        self._note(n, f"{why}: {'looked where the run has not been' if source else 'looked around again'}")
        seeds = self._seeds.train(PROBE_EPISODES, start=UNSEEN + 1000 * n)
        returns = await self._play(key, source or random_policy(self._spaces[1]), seeds)
        if not source or not better(min(returns), self._luckiest):
            return None
        prose = f"Went where the run had not been, and earned {statistics.fmean(returns):.4g}."
        return await self._candidate(f"w{n}c2", source, history, prose)

    async def _candidate(self, name: str, source: str, history: History, prose: str) -> Attempt:
        attempt = await self._measurer.measure(
            Candidate(name, source, 0, origin="world model"), history, prose=prose
        )
        return self._measurer.recorded(attempt)

    # In the model

    async def _found(self, n: int, world: Modelled) -> Found:
        """The best policy that the model promises."""

        async def found() -> Found:
            with contextlib.suppress(WorldFailedError):
                if world.usable and not self.modeller.experience.is_flat:
                    return await self._dreamt_up(n, world)
            return Found("", 0.0)

        best: Found = await self._dreamer.once(f"w{n}", found, Found)
        return best

    async def _dreamt_up(self, n: int, world: Modelled) -> Found:
        """Numbers that are tuned, or plans where those promise clearly more and no threshold is in reach."""
        dreamer = self._dreamer
        dream = dreamer.dream(world)
        idle = list(programs(self._spaces[1]).values())
        chance = max([self._nothing, *[await dreamer.promised(dream, one) for one in idle]])
        tuned = await dreamer.tuned_better(n, dream, chance)
        found = Found("", 0.0) if tuned is None else Found(*tuned)
        if found.source and self._reached(found.promised):
            return found
        plan = planning_policy(world.source, world.params, self._spaces[1])
        if not plan:
            return found
        steps = dreamer.planned
        told = [
            await dreamer.promised(dream, one, PLANNED_EPISODES, steps)
            for one in filter(None, (*idle, found.source))
        ]
        promised = await dreamer.promised(dream, plan, PLANNED_EPISODES, steps)
        clearly = max(told) + CLEARLY * abs(max(told) - told[0])
        return Found(plan, promised) if better(promised, clearly) else found
