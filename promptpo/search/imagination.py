"""Searching in a world model: what the run has paid for is learnt from before more is paid.

The recorded steps become a world model (`promptpo.world`), written by program search and, where there is one, by
the language model; whichever predicts the held-out episodes better is used, and only where its score permits it.
In it numbers are tuned, and where that is not enough plans are made, which costs no step of the environment. Whatever comes out plays a few
real episodes before it becomes a candidate: a policy that disappoints there is none, its steps join the data,
and the model is fitted again.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptpo.run.records import Attempt, Candidate, Seeds
from promptpo.search.dreaming import Dreamer, better, plans
from promptpo.search.hooks import Feature
from promptpo.search.lessons import Lessons, disappoints
from promptpo.search.model_rounds import ModelRounds
from promptpo.search.modelling import Modelled, Modeller
from promptpo.search.paid_steps import FIRST_STEPS, PROBE_START, PaidSteps
from promptpo.search.references import LEARNT_FROM, programs, random_policy
from promptpo.world.baseline import can_write
from promptpo.world.planners import WORK, planner_for, planning_policy
from promptpo.world.scoring import USABLE
from sandbox import WorldFailedError

if TYPE_CHECKING:
    from promptpo.rollouts.evaluation import Evaluation
    from promptpo.run.config import Config
    from promptpo.run.spender import Spender
    from promptpo.search.history import History
    from promptpo.search.sampler import Sampler
    from promptpo.spec import TaskSpec
    from promptpo.world.dreams import Dream
    from sandbox import Rollout

STUDIES = 8
"""Times that a model is fitted, used and corrected before the first round, at most."""

PROBE_EPISODES = 2
"""Real episodes that a policy from the model plays before it is a candidate."""

LEADS = 0.1
"""A model that is worth more may say where to look for what is not known, which costs no more than to look at random."""

SHARE = 0.1
"""Of the step budget, which studying may take before the first round."""

GAIN, IDLE = 0.02, 2
"""So many candidates in a row that gain less than this share end the studies."""

FRUITLESS = 2
"""So many studies in a row that bring no candidate may end them: the steps that are left are worth more elsewhere. They
do where promises were not kept, and where looking around has cost its share."""

RISES = 0.05
"""A model that is not good enough and is worth no more by this than the one before counts like a promise that was not kept."""

LOST, USUAL = 0.03, 100_000
"""Of the step budget, which looking around may take in vain; of so many steps where there is no limit."""

EFFORT = 1_200_000
"""So many imagined steps since the last candidate that gained end the studies: about half a minute of computing time."""

MOST_TIMES = 4
"""Later models, which know more, are searched in so many times as long at most."""

CLEARLY = 0.1
"""A policy that plans takes its time, so it has to promise more than a tuned one, by this share of what that promises
above chance."""

IN_ALL = 3
"""Times `EFFORT` that studies may take, however much each of them gains: small gains are to be had from rounds, too."""

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


class WorldSearch(Feature):
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
        self._paid = PaidSteps(spender, self.modeller, horizon, self._seeds)
        self._dreamer = Dreamer(self.modeller, spender.executor, horizon, config.seed)
        self._lessons = Lessons(self.modeller, self._dreamer, spender.journal)
        self._rounds = ModelRounds(
            sampler,
            spender,
            config,
            self.modeller,
            self._dreamer,
            self._lessons,
            self._paid,
            threshold,
        )
        self._allowed, self._paid_until_gain = EFFORT, 0

    learns = True

    async def before_round(self, number: int, history: History) -> None:
        """Study before the first round."""
        if number == 1:
            await self.study(history)

    async def screen(self, candidate: Candidate, history: History) -> Evaluation | None:
        """What a world model rules out."""
        return await self._rounds.screen.look(candidate, history)

    def watch(self, name: str, source: str, rollout: Rollout | None) -> None:  # noqa: ARG002 - one of the seams
        """Learn from each training rollout."""
        self.modeller.take(name, rollout)

    async def after_candidates(self, history: History, attempts: Sequence[Attempt]) -> list[Attempt]:
        """What a round's model makes of its programs, where a language model writes them; see `ModelRounds`."""
        return await self._rounds.tune(history, attempts)

    async def study(self, history: History) -> None:
        """Before the first round: learn how the task moves, and what a policy can do with that.

        Where a language model writes the policies, only the first steps are taken here. What program search finds
        are candidates of round 0. It ends where a candidate reaches the threshold, where nothing
        better is found, or where its share of the budget is spent; a budget that ends in it ends the run as usual.
        """
        language_model = self._spender.llm.language_model
        if not self.modeller.possible:
            self._paid.note(
                0, "observations are not a list of a few hundred numbers: no world model is learnt"
            )
            return
        if not language_model and not can_write(*self._spaces):
            self._paid.note(0, "program search writes no world model for such observations or actions")
            return
        if not language_model and planner_for(*self._spaces) == "values":
            why = "states and actions are few: a table is learnt from each step, which is a model of its own"
            self._paid.note(0, why)
            return
        await self._paid.look_around(history.references)
        if not language_model:
            await self._studies(history)

    async def _studies(self, history: History) -> None:
        best: float | None = None
        idle = fruitless = broken = 0
        worth = -math.inf
        for n in range(1, STUDIES + 1):
            if not self._goes_on(n, fruitless, broken):
                return
            world = await self.modeller.model(f"w{n}")
            found = await self._found(n, world) if world.usable else None
            broken += not world.usable and world.worth < worth + RISES
            worth = world.worth
            real = -math.inf if found is None else await self._tried(f"w{n}.try", found.source)
            fruitless += 1
            attempt: Attempt | None = None
            if found is not None and not better(real, self._paid.nothing):
                self._lessons.held(f"w{n}c1", found.promised, real, kept=False)
                found = None
            if found is None:
                attempt = await self._look_elsewhere(n, world, history)
            elif await self._kept(n, found, real, world, history):
                attempt = await self._candidate(f"w{n}c1", found.source, history, _promise(found))
            else:
                broken += 1
            if attempt is None:
                continue
            fruitless = broken = 0
            mean = attempt.evaluation.mean_return
            gained = best is None or mean > best + GAIN * abs(best - self._paid.chance)
            idle = 0 if gained else idle + 1
            if self._reached(mean) or idle >= IDLE:
                return
            if gained:
                self._allowed = self._dreamer.work + EFFORT
                self._paid_until_gain = self._spender.ledger.steps["probe"]
            best = mean if best is None else max(best, mean)

    async def _kept(self, n: int, found: Found, real: float, world: Modelled, history: History) -> bool:
        """Whether a policy earned what was promised; what the run learns from one that did not."""
        key = f"w{n}.try"
        earned = self._as_promised(key, found.source, real)
        kept = self._reached(real) or not disappoints(found.promised, earned, self._paid.chance)
        self._lessons.held(f"w{n}c1", found.promised, earned, kept=kept)
        if kept:
            return True
        lesson = await self._lessons.learn(f"w{n}", key, found.source, world, found.promised, earned)
        history.disappointments.append(lesson)
        self._paid.note(n, f"promised {found.promised:.4g}, earned {earned:.4g}: corrected and fitted again")
        return False

    def _reached(self, mean: float) -> bool:
        return self._threshold is not None and mean >= self._threshold

    def _goes_on(self, n: int, fruitless: int, broken: int) -> bool:
        """Whether another study is worth its steps and its computing time; decided once in a run."""
        found = self._journal.find("study", f"w{n}")
        if found is not None:
            return bool(found)
        steps, paid = self._config.budget.steps, self._spender.ledger.steps["probe"]
        allowed = math.inf if steps is None else max(SHARE * steps, 2.0 * FIRST_STEPS)
        lost = paid - self._paid_until_gain > max(LOST * (steps or USUAL), 2.0 * FIRST_STEPS)
        in_vain = fruitless >= FRUITLESS and (lost or broken >= FRUITLESS)
        effort = min(self._allowed, IN_ALL * EFFORT)
        goes_on = paid <= allowed and self._dreamer.work <= effort and not in_vain
        self._journal.add("study", f"w{n}", goes_on)
        return goes_on

    async def _look_elsewhere(self, n: int, world: Modelled, history: History) -> Attempt | None:
        """More steps where the model knows too little: where it has not been, if it knows how to get there.

        Returns:
            A candidate, where what went there earned more in each episode than policies that know nothing did in any.
        """
        seeds = self._seeds.train(PROBE_EPISODES, start=UNSEEN + 1000 * n)
        key = f"w{n}.elsewhere"
        source = self._journal.find("dream", key)
        if source is None:
            source = await self._dreamer.curious(n) if world.worth > LEADS else ""
            self._dreamer.keep(self._journal, key, source)
        why = (
            "the model promises nothing better than chance"
            if world.usable
            else f"the model is not good enough (worth {world.worth:.2f} of 1 on held-out steps, {USABLE:g} is the least)"
        )
        self._paid.note(
            n, f"{why}: {'looked where the run has not been' if source else 'looked around again'}"
        )
        returns = await self._paid.play(key, source or random_policy(self._spaces[1]), seeds)
        if not source or not better(min(returns), self._paid.luckiest):
            return None
        prose = f"Went where the run had not been, and earned {statistics.fmean(returns):.4g}."
        return await self._candidate(f"w{n}c2", source, history, prose)

    async def _tried(self, key: str, source: str) -> float:
        """What a policy earns in a few real episodes."""
        seeds = self._seeds.train(PROBE_EPISODES, start=PROBE_START + 10_000)
        before = self._spender.ledger.steps["probe"]
        returns = await self._paid.play(key, source, seeds)
        if plans(source):
            self._dreamer.counted(WORK * (self._spender.ledger.steps["probe"] - before))
        return statistics.fmean(returns)

    def _as_promised(self, key: str, source: str, earned: float) -> float:
        """What a policy earned in as many steps as were promised: those of one that plans are the first ones."""
        steps = self._dreamer.planned[1]
        if not plans(source) or self._horizon <= steps:
            return earned
        known = self.modeller.earned(key, steps)
        return earned if known is None else known

    async def _candidate(self, name: str, source: str, history: History, prose: str) -> Attempt:
        candidate = Candidate(name, source, 0)
        attempt = self._sampler.measurer.recorded(
            await self._sampler.measurer.measure(candidate, history, prose=prose)
        )
        history.attempts.append(attempt)
        return attempt

    async def _found(self, n: int, world: Modelled) -> Found | None:
        """The best policy that the model promises; None where it tells no difference between policies."""
        recorded = self._journal.find("dream", f"w{n}")
        if recorded is not None:
            return Found(recorded["source"], float(recorded["promised"])) if recorded["source"] else None
        found = await self._dreamt_up(n, world)
        data = (
            {"source": found.source, "promised": found.promised} if found else {"source": "", "promised": 0.0}
        )
        self._dreamer.keep(self._journal, f"w{n}", data)
        return found

    async def _dreamt_up(self, n: int, world: Modelled) -> Found | None:
        if self.modeller.experience.is_flat:
            return None
        dream = self._dreamer.dream(world.source, world.params)
        try:
            chance = max(
                self._paid.nothing, *[await self._dreamer.promised(dream, one) for one in self._idle]
            )
            tuned = await self._dreamer.tuned_better(n, dream, chance, times=min(n, MOST_TIMES))
        except WorldFailedError:
            return None
        found = None if tuned is None else Found(*tuned)
        if found is not None and self._reached(found.promised):
            return found
        return await self._planned(world, dream, found) or found

    @property
    def _idle(self) -> tuple[str, ...]:
        """Policies that know nothing."""
        return tuple(programs(self._spaces[1]).values())

    async def _planned(self, world: Modelled, dream: Dream, tuned: Found | None) -> Found | None:
        """A policy that plans in the model, where it promises clearly more than a tuned one; None where it takes too long.

        One that promises no more than others in the first of its episodes is not played in the second.
        """
        source = planning_policy(world.source, world.params, *self._spaces)
        if not source:
            return None
        others = (*self._idle, *([tuned.source] if tuned else ()))
        episodes, steps = self._dreamer.planned
        try:
            told = [await self._dreamer.returns(dream, one, episodes, steps) for one in others]
            first = await self._dreamer.returns(dream, source, 1, steps)
            if not first or not better(first[0], max([one[0] for one in told if one], default=-math.inf)):
                return None
            promised = await self._dreamer.promised(dream, source, episodes, steps)
        except WorldFailedError:
            return None
        means = [statistics.fmean(one) if one else -math.inf for one in told]
        chance = max(means[0], self._random_earned(steps))
        bar = max(chance, *means[1:])
        return Found(source, promised) if better(promised, bar + CLEARLY * abs(bar - chance)) else None

    def _random_earned(self, steps: int) -> float:
        """What random actions earned in the first steps of episodes; minus infinity where that is not known."""
        known = [self.modeller.earned(key, steps) for key in (LEARNT_FROM, "w0.look1")]
        return max([one for one in known if one is not None], default=-math.inf)


def _promise(found: Found) -> str:
    return f"Found in a world model, which promised {found.promised:.4g}."
