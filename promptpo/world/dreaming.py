"""Work inside a world model: what policies earn there, and numbers tuned there; no step of the environment is taken."""

from __future__ import annotations

import asyncio
import math
import statistics
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from promptpo.program import Program
from promptpo.rollouts import Job
from promptpo.rollouts.results import joined
from promptpo.run.records import Seeds, Tuned
from promptpo.search.programs.library import structures_for, write_program
from promptpo.search.tuning import Start, Tuning
from promptpo.world.baseline.writer import write_world
from promptpo.world.planners import WORK
from promptpo_sandbox import Imagine, Rollout, Trial, WorldFailedError

if TYPE_CHECKING:
    from promptpo.run.spender import Spender
    from promptpo.world.modelling import Modelled, Modeller

DREAM_START = 800_000
"""Episodes in the model use training seeds from here on."""

DREAM_STEPS, DREAM_STRUCTURES = (150_000, 600_000), 3
"""Steps in the model for tuning, first and where nothing better than chance was found, and how many structures share them."""

EPISODE, REQUEST = 50, 3000
"""An imagined episode, and a request, cost as much computing time as so many steps."""

STEPS_AT_ONCE = 40_000
"""Steps, in the worst case, that one request asks for: far less than the deadline of a call allows."""

PLANNED_EPISODES, PLANNED_STEPS = 2, 150
"""Episodes, and steps of each at least, in which policies that plan, which take their time, are held against others in the
model: half of a longer episode, since what plans so far within one call plays a real episode in its time, too."""

DISAPPOINTS = 0.25
"""A policy disappoints where it earns less than the model says by this share of what the model promises above chance."""


@dataclass(frozen=True, slots=True)
class Dream:
    """A world model that policies may act in.

    Attributes:
        source: The module.
        params: Values of its ``PARAMS``; None where it declares none.
        starts: Observations to start from.
    """

    source: str
    params: Mapping[str, float] | None
    starts: tuple[Any, ...]


def plans(source: str) -> bool:
    """Whether a policy plans in a model of its own, so that it is played in few and short episodes."""
    return "World" in Program.parse(source).names


def better(one: float, other: float) -> bool:
    """Whether one mean return is above another by more than rounding."""
    return one > other + 1e-6 * max(1.0, abs(other))


def disappoints(promised: float, earned: float, chance: float, error: float = 0.0) -> bool:
    """Whether a policy earned clearly less than a model promised.

    Args:
        promised: Mean return in the model.
        earned: Mean return in the environment; NaN disappoints.
        chance: Mean return of random actions.
        error: Standard error of `earned`; NaN where it is not known.
    """
    room = DISAPPOINTS * max(abs(promised - chance), 1e-9)
    return not earned >= promised - (max(room, 2.0 * error) if math.isfinite(error) else room)


class Dreamer:
    """Works in the models of a run.

    Args:
        modeller: Knows the task and what was recorded.
        spender: Of the run; its executor runs models and policies.
        horizon: Longest episode, in steps.
        seed: Of the run.

    Attributes:
        planned: Steps of an episode in which policies that plan are held against others.
        work: Steps that models have taken here, with what each episode and each request costs: what the computing time is
            bounded by.
    """

    def __init__(self, modeller: Modeller, spender: Spender, horizon: int, seed: int) -> None:
        self._modeller, self._executor, self._journal = modeller, spender.executor, spender.journal
        self._horizon, self._seed, self._seeds = horizon, seed, Seeds(seed)
        self.planned = max(PLANNED_STEPS, horizon // 2)
        self.work = self._imagined = self._written = 0

    def dream(self, world: Modelled) -> Dream:
        """A model with what its episodes start from."""
        return Dream(world.source, world.params, self._modeller.experience.starts())

    async def once(self, key: str, compute: Callable[[], Awaitable[Any]], of: type[Any] | None = None) -> Any:
        """As `Journal.once_async`, of what is worked out in a model; the steps that it took are written down, too."""
        found = await self._journal.once_async("dream", key, compute, of)
        if self._imagined > self._written:
            self._journal.add("imagined", key, self._imagined - self._written)
        self._written = self._imagined
        return found

    def held(self, name: str, promised: float, earned: float, *, kept: bool) -> None:
        """Write down what came of a promise.

        Args:
            name: Of the candidate, or of what would have been one.
            promised: Mean return in the model.
            earned: Mean return in the environment; not finite where it failed.
            kept: Whether it earned about as much.
        """
        real = earned if math.isfinite(earned) else None
        self._journal.once("promise", name, lambda: {"promised": promised, "earned": real, "kept": kept})

    async def promised(
        self, dream: Dream, source: str, episodes: int = 10, steps: int | None = None
    ) -> float:
        """The mean return of a policy in the model; minus infinity where it fails.

        Raises:
            WorldFailedError: The model failed.
        """
        values, horizon = Program.parse(source).values, min(self._horizon, steps or self._horizon)
        trials = [Trial(seed, values, horizon) for seed in self._seeds.train(episodes, start=DREAM_START)]
        size = 1 if steps else episodes  # where acting takes long each episode has a call's time for itself
        jobs = [Job(source, tuple(trials[i : i + size])) for i in range(0, episodes, size)]
        found = await self._roll_out(dream, jobs, WORK if plans(source) else 1)
        if any(rollout.failure is not None for rollout in found):
            return -math.inf
        return statistics.fmean(one.return_ for rollout in found for one in rollout.episodes)

    async def _roll_out(self, dream: Dream, jobs: Sequence[Job], each: int = 1) -> list[Rollout]:
        """Rollouts in a model.

        Args:
            dream: The model.
            jobs: What to roll out.
            each: Steps of a model that one step of the policy takes.
        """
        found = await asyncio.gather(*(self._dreamt(dream, job) for job in jobs))
        steps = each * sum(rollout.steps for rollout in found)
        self._imagined += steps
        self.work += steps + EPISODE * sum(len(one.episodes) for one in found) + REQUEST * len(found)
        return list(found)

    async def _dreamt(self, dream: Dream, job: Job) -> Rollout:
        """One job, in requests that are not too long."""
        size = max(1, STEPS_AT_ONCE // max(trial.horizon or 1 for trial in job.trials))
        found: Rollout | None = None
        for first in range(0, len(job.trials), size):
            trials = job.trials[first : first + size]
            rollout = await self._executor.imagine(
                Imagine(
                    dream.source,
                    dream.params,
                    job.source,
                    trials,
                    dream.starts,
                    *self._modeller.spaces,
                    bool(job.record),
                )
            )
            found = rollout if found is None else joined(found, rollout)
        return found or Rollout((), None, 0, "", 0.0)

    async def tuned_better(self, n: int, dream: Dream, chance: float) -> tuple[str, float] | None:
        """A policy with numbers tuned in the model and what it promises; None where that is no more than chance.

        Args:
            n: Which study this is.
            dream: The model.
            chance: What policies that know nothing earn.

        Raises:
            WorldFailedError: The model failed.
        """
        for steps in DREAM_STEPS:
            best = await self._tuned(n, dream, steps)
            if best is None:
                return None
            promised = await self.promised(dream, best.program.source)
            if better(promised, chance):
                return best.program.source, promised
        return None

    async def curious(self, n: int) -> str:
        """A policy that goes, in the model, where the run has not been; empty where there is none."""
        experience = self._modeller.experience
        source = write_world(*self._modeller.spaces, experience.fitting, curious=True)
        if not source:
            return ""
        try:
            best = await self._tuned(1000 + n, Dream(source, None, experience.starts()), DREAM_STEPS[0])
        except WorldFailedError:
            return ""
        return best.program.source if best else ""

    async def _tuned(self, n: int, dream: Dream, steps: int) -> Tuned | None:
        """The library's structures with numbers tuned in the model."""
        spaces = self._modeller.spaces
        seen = self._modeller.experience.starts()
        written = [
            Program.parse(write_program(genome, *spaces, seen=seen)) for genome in structures_for(*spaces)
        ]
        starts = [Start(f"d{i}", program, math.nan) for i, program in enumerate(written) if program.params]
        return await self.tuning(n, dream, starts[:DREAM_STRUCTURES], steps)

    async def tuning(
        self, n: int, dream: Dream, starts: Sequence[Start], steps: int = DREAM_STEPS[0]
    ) -> Tuned | None:
        """The best of some programs with numbers tuned in the model; None where nothing gained.

        Where episodes are short, it is what they cost to begin that ends it.

        Raises:
            WorldFailedError: The model failed.
        """

        def fresh(start: int, count: int) -> tuple[int, ...]:
            return self._seeds.train(count, start=DREAM_START + start)

        begun, asked = self.work, 0
        tuning = Tuning(
            starts, steps=steps, seeds=fresh, horizon=self._horizon, seed=self._seed + n, thorough=True
        )
        while tuning.batches:
            jobs = [
                Job(batch.source, batch.trials, record=batch.record, stop_on_failure=False)
                for batch in tuning.batches
            ]
            asked += len(jobs)
            found = await self._roll_out(dream, jobs)
            if self.work - begun - REQUEST * asked > steps:
                tuning.finish()
            tuning.step(found)
        changed = [one for one in tuning.result() if one.changes and math.isfinite(one.score)]
        return max(changed, key=lambda one: one.score, default=None)
