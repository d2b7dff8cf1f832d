"""Work inside a world model: what policies earn there, and numbers tuned there; no step of the environment is taken."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from promptpo.program import Program
from promptpo.rollouts import Job
from promptpo.run.records import Seeds
from promptpo.search.programs.library import structures_for, write_program
from promptpo.search.tuning import Start, Tuning
from promptpo.world.baseline import write_world
from promptpo.world.dreams import Dream, dreamt
from promptpo.world.planners import WORK
from sandbox import Rollout, Trial, WorldFailedError

if TYPE_CHECKING:
    from promptpo.rollouts import Executor
    from promptpo.run.journal import Journal
    from promptpo.search.modelling import Modeller
    from promptpo.search.tuning import Tuned

DREAM_START = 800_000
"""Episodes in the model use training seeds from here on."""

DREAM_STEPS, DREAM_STRUCTURES = (150_000, 600_000), 3
"""Steps in the model for tuning, first and where nothing better than chance was found, and how many structures of
the library share them."""


EPISODE = 50
"""An imagined episode costs as much computing time to begin as so many steps in it take."""

REQUEST = 3000
"""A request to let policies act in a model costs about as much computing time as so many steps, besides its episodes."""

LONG = 500_000
"""Of `Dreamer.work`: where a first tuning takes more, no second one follows."""

RECORDED = 3
"""Of so many imagined episodes at most the trajectories are brought back."""


PLANNED = (2, 150)
"""Episodes, and steps of each at least, in which planning policies, which take their time, are held against others in the
model: half of a longer episode, since a policy that plans so far within one call plays a real episode in its time, too."""


def plans(source: str) -> bool:
    """Whether a policy plans in a model of its own, so that it is played in few and short episodes."""
    return "World" in Program.parse(source).names


class Dreamer:
    """Works in the models of a run.

    Args:
        modeller: Knows the task and what was recorded.
        executor: Where models and policies run.
        horizon: Longest episode, in steps.
        seed: Of the run.

    Attributes:
        imagined: Steps that models have taken here, those of plans included.
        work: The same with what each episode and each request costs, in steps: what the computing time is bounded by.
    """

    def __init__(self, modeller: Modeller, executor: Executor, horizon: int, seed: int) -> None:
        self._modeller, self._executor, self._horizon, self._seed = modeller, executor, horizon, seed
        self._spaces, self._seeds = modeller.spaces, Seeds(seed)
        self.imagined = self.work = self._written = 0

    @property
    def planned(self) -> tuple[int, int]:
        """Episodes and steps of each in which planning policies are held against others."""
        episodes, steps = PLANNED
        return episodes, max(steps, self._horizon // 2)

    def dream(self, source: str, params: dict[str, float] | None) -> Dream:
        """A model with what its episodes start from."""
        return Dream(source, params, self._modeller.experience.starts(), self._spaces)

    def keep(self, journal: Journal, key: str, data: object) -> None:
        """Write down what was worked out, and the steps that it took.

        Args:
            journal: Of the run.
            key: Its name there.
            data: JSON value.
        """
        journal.add("dream", key, data)
        if self.imagined > self._written:
            journal.add("imagined", key, self.imagined - self._written)
        self._written = self.imagined

    async def promised(
        self, dream: Dream, source: str, episodes: int = 10, steps: int | None = None
    ) -> float:
        """The mean return of a policy in the model; minus infinity where it fails."""
        returns = await self.returns(dream, source, episodes, steps)
        return statistics.fmean(returns) if returns else -math.inf

    async def returns(
        self, dream: Dream, source: str, episodes: int = 10, steps: int | None = None
    ) -> tuple[float, ...]:
        """The return of each episode of a policy in the model; none where it fails.

        Raises:
            WorldFailedError: The model failed.
        """
        rollouts = await self.played(dream, source, episodes, steps)
        if any(rollout.failure is not None for rollout in rollouts):
            return ()
        return tuple(episode.return_ for rollout in rollouts for episode in rollout.episodes)

    async def promise(self, dream: Dream, source: str) -> float:
        """The mean return of a policy in the model, in fewer and shorter episodes where it plans."""
        return await (
            self.promised(dream, source, *self.planned) if plans(source) else self.promised(dream, source)
        )

    async def least(
        self, dreams: Sequence[Dream], source: str, episodes: int = 10, steps: int | None = None
    ) -> float:
        """The mean return of a policy in the model that promises least of it."""
        return min([await self.promised(dream, source, episodes, steps) for dream in dreams])

    async def played(
        self, dream: Dream, source: str, episodes: int, steps: int | None = None
    ) -> list[Rollout]:
        """Episodes of a policy in the model, with trajectories where they are few.

        Raises:
            WorldFailedError: The model failed.
        """
        values = Program.parse(source).values
        horizon = min(self._horizon, steps or self._horizon)
        seeds = self._seeds.train(episodes, start=DREAM_START)
        size = 1 if steps else episodes  # where acting takes long each episode has a call's time for itself
        jobs = [
            Job(
                source,
                tuple(Trial(seed, values, horizon) for seed in seeds[i : i + size]),
                record=episodes <= RECORDED,
            )
            for i in range(0, episodes, size)
        ]
        found = await dreamt(self._executor, dream, jobs)
        self._count(found, WORK if plans(source) else 1)
        return found

    def _count(self, rollouts: Sequence[Rollout], each: int = 1) -> None:
        self.counted(each * sum(rollout.steps for rollout in rollouts))
        self.work += EPISODE * sum(len(rollout.episodes) for rollout in rollouts) + REQUEST * len(rollouts)

    def counted(self, steps: int) -> None:
        """Take steps into account that a model has taken elsewhere, as in the plans of a policy outside it."""
        self.imagined += steps
        self.work += steps

    async def tuned_better(
        self, n: int, dream: Dream, chance: float, *, times: int = 1
    ) -> tuple[str, float] | None:
        """A policy with numbers tuned in the model and what it promises, with more steps where few find nothing.

        None where that is no more than chance; more steps are not taken where the few took long.

        Args:
            n: Which study this is.
            dream: The model.
            chance: What random actions earn.
            times: Factor on the steps in the model, up to the larger number of them.

        Raises:
            WorldFailedError: The model failed.
        """
        begun = self.work
        for steps in DREAM_STEPS:
            if self.work - begun > LONG:
                return None
            best = await self._tuned(n, dream, min(times * steps, DREAM_STEPS[-1]))
            if best is None:
                return None
            promised = await self.promised(dream, best.program.source)
            if better(promised, chance):
                return best.program.source, promised
        return None

    async def _tuned(self, n: int, dream: Dream, steps: int) -> Tuned | None:
        """The library's structures with numbers tuned in the model; None where no numbers made a difference."""
        written = (
            Program.parse(write_program(genome, *self._spaces)) for genome in structures_for(*self._spaces)
        )
        programs = [program for program in written if program.params][:DREAM_STRUCTURES]
        starts = [Start(f"d{i}", program, math.nan) for i, program in enumerate(programs)]
        return await self.tuning(n, dream, starts, steps)

    async def tuning(
        self, n: int, dream: Dream, starts: Sequence[Start], steps: int | None = None
    ) -> Tuned | None:
        """The best of some programs with numbers tuned in the model; None where nothing gained.

        Where episodes are short, it is what they cost to begin that ends it.
        """
        steps = steps or DREAM_STEPS[0]
        worked = 0

        def fresh(start: int, count: int) -> tuple[int, ...]:
            return self._seeds.train(count, start=DREAM_START + start)

        tuning = Tuning(
            starts, steps=steps, seeds=fresh, horizon=self._horizon, seed=self._seed + n, thorough=True
        )
        while tuning.batches:
            jobs = [
                Job(batch.source, batch.trials, record=batch.record, stop_on_failure=False)
                for batch in tuning.batches
            ]
            found = await dreamt(self._executor, dream, jobs)
            self._count(found)
            worked += sum(rollout.steps + EPISODE * len(rollout.episodes) for rollout in found)
            if worked > steps:
                tuning.finish()
            tuning.step(found)
        changed = [one for one in tuning.result() if one.changes and math.isfinite(one.score)]
        return max(changed, key=lambda one: one.score, default=None)

    async def curious(self, n: int) -> str:
        """A policy that goes, in the model, where the run has not been; empty where there is none."""
        source = write_world(*self._spaces, self._modeller.experience.fitting, curious=True)
        if not source:
            return ""
        dream = self.dream(source, None)
        try:
            best = await self._tuned(1000 + n, dream, DREAM_STEPS[0])
        except WorldFailedError:
            return ""
        return best.program.source if best else ""


def better(one: float, other: float) -> bool:
    """Whether one mean return is above another by more than rounding."""
    return one > other + 1e-6 * max(1.0, abs(other))
