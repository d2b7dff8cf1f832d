"""Rollouts that are made once in the life of a run: training, tuning, validation, test."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from promptpo.errors import BudgetSpentError
from promptpo.program import Program
from promptpo.rollouts import Job, evaluation_of, roll_out
from promptpo.run.packing import deflate, inflate
from promptpo.run.records import EpisodeRecord, Evaluation, Measured, Seeds, StepPurpose
from promptpo.search.tuning import Batch, Start, Tuned, Tuning
from sandbox import Rollout, Trial

if TYPE_CHECKING:
    from promptpo.rollouts import Executor
    from promptpo.run.config import Config
    from promptpo.run.journal import Journal
    from promptpo.run.ledger import Hold, Ledger

Bar = Sequence[EpisodeRecord]
"""Training episodes of the best attempt so far: what a candidate has to come near to."""


class Arena:
    """Rolls candidates out through the journal and the ledger.

    Args:
        executor: Where rollouts run.
        horizon: Longest episode, in steps.
        config: Numbers of episodes, seeds and the tuning method.
        journal: Where every result is written before anything depends on it.
        ledger: How many steps may be taken.
    """

    def __init__(
        self, executor: Executor, horizon: int, config: Config, journal: Journal, ledger: Ledger
    ) -> None:
        self.executor, self.horizon = executor, horizon
        self._config, self._journal, self._ledger = config, journal, ledger
        self._recipe = config.switches
        self.seeds = Seeds(config.seed)
        self._tunings: dict[int, Tuning] = {}

    async def train(
        self, name: str, source: str, *, bar: Bar, summarise: Callable[[Rollout, Evaluation], Awaitable[str]]
    ) -> Measured:
        """Roll a candidate out on training seeds; give it up early when it cannot win.

        The seeds are the same for all candidates of a run, so that they are compared in pairs. With
        racing, a candidate whose best early episode stays below the worst episode of the best attempt
        is not rolled out further.

        Args:
            name: Key of the result in the journal.
            source: The policy module.
            bar: Training episodes of the best attempt so far.
            summarise: Makes the feedback text while the trajectories are still in memory.

        Raises:
            BudgetSpentError: No environment steps are left.
            EnvironmentFaultError: The environment failed.
        """
        with self._ledger.hold() as hold:

            async def make() -> Measured:
                seeds = self.seeds.train(self._config.train_episodes)
                racing = self._recipe.racing if bar else 0
                first = racing if 0 < racing < len(seeds) else len(seeds)
                rollout, evaluation = await self._roll(source, seeds[:first], "train", hold, record=True)
                if first < len(seeds) and evaluation.outcome == "ok" and not _hopeless(evaluation, bar):
                    more, rest = await self._roll(source, seeds[first:], "train", hold, record=True)
                    rollout, evaluation = _both(rollout, more), _both_evaluations(evaluation, rest)
                text = await summarise(rollout, evaluation)
                return Measured(evaluation, text, {"train": evaluation.steps})

            return await self._journal.once("evaluation", name, make, Measured)

    async def validate(self, source: str) -> Evaluation:
        """Score on validation seeds, which choose the best of the run."""
        return await self._score("validation", source, self.seeds.validation(self._config.score_episodes))

    async def test(self, source: str) -> Evaluation:
        """Score on held-out test seeds; outside the step budget, so that a result is always reported."""
        return await self._score("test", source, self.seeds.test(self._config.test_episodes))

    async def _score(
        self, kind: Literal["validation", "test"], source: str, seeds: Sequence[int]
    ) -> Evaluation:
        with self._ledger.hold() as hold:

            async def make() -> Measured:
                _, evaluation = await self._roll(source, seeds, kind, hold)
                return Measured(evaluation, "", {kind: evaluation.steps})

            measured = await self._journal.once(
                kind, f"{Program.parse(source).digest}.{len(seeds)}", make, Measured
            )
            return measured.evaluation

    async def _roll(
        self, source: str, seeds: Sequence[int], purpose: StepPurpose, hold: Hold, *, record: bool = False
    ) -> tuple[Rollout, Evaluation]:
        """Roll out, within the steps that the ledger grants; the final test is outside the budget."""
        params = Program.parse(source).values
        trials = tuple(Trial(seed, params, self.horizon) for seed in seeds)
        worst = len(trials) * self.horizon
        granted = worst if purpose == "test" else await hold.take(worst)
        limit = granted if granted < worst else None
        started = time.monotonic()
        rollout = await roll_out(self.executor, Job(source, trials, record=record, step_limit=limit))
        evaluation = evaluation_of(rollout, time.monotonic() - started)
        if purpose != "test":
            hold.settle(granted, evaluation.steps)
        if evaluation.outcome == "ok" and len(evaluation.episodes) < len(seeds):
            key = str(len(self._journal.events))
            self._journal.add("unfinished", key, {"spent": {purpose: evaluation.steps}})
            raise BudgetSpentError(f"the limit of {self._ledger.budget.steps} environment steps is reached")
        return rollout, evaluation

    async def tune(
        self, round_: int, starts: Sequence[Start], steps: int, target: float | None
    ) -> tuple[Tuned, ...]:
        """Tune the numbers of some candidates on training seeds, within `steps` environment steps.

        It ends early when the mean training return of the best reaches `target`.

        Every batch of rollouts is journaled, so that a killed run goes on at the batch it was at.
        """
        seeds = self.seeds

        def fresh_seeds(start: int, n: int) -> tuple[int, ...]:
            return seeds.train(n, start=start)

        tuning = self._tunings[round_] = Tuning(
            starts,
            steps=steps,
            seeds=fresh_seeds,
            horizon=self.horizon,
            seed=self._config.seed + 1000 * round_,
            target=target,
        )
        n = 0
        while tuning.batches:
            n += 1
            tuning.step(await self._batch(f"r{round_}.t{n}", tuning.batches))
        return tuning.result()

    def tuned_so_far(self, round_: int) -> tuple[Tuned, ...]:
        """What a round's tuning has found, also when it was cut short; empty where none began."""
        tuning = self._tunings.get(round_)
        return tuning.result() if tuning else ()

    async def _batch(self, key: str, batches: Sequence[Batch]) -> list[Rollout]:
        found = self._journal.find("tuning", key)
        if found is not None:
            return inflate(found["rollouts"])
        rollouts = await asyncio.gather(
            *(
                roll_out(self.executor, Job(b.source, b.trials, record=b.record, stop_on_failure=False))
                for b in batches
            )
        )
        packed = deflate(rollouts)
        spent = {"tune": sum(rollout.steps for rollout in rollouts)}
        best = max((e.return_ for r in rollouts for e in r.episodes if e.failure is None), default=None)
        self._journal.add("tuning", key, {"spent": spent, "best_return": best, "rollouts": packed})
        return inflate(packed)  # the same values as after a resume


def _hopeless(evaluation: Evaluation, bar: Bar) -> bool:
    if evaluation.success_rate:
        return False
    return max(evaluation.returns) < min(episode.return_ for episode in bar)


def _both(first: Rollout, second: Rollout) -> Rollout:
    return replace(
        first,
        episodes=(*first.episodes, *second.episodes),
        failure=second.failure,
        steps=first.steps + second.steps,
        output=first.output + second.output,
    )


def _both_evaluations(first: Evaluation, second: Evaluation) -> Evaluation:
    return replace(
        second,
        episodes=(*first.episodes, *second.episodes),
        steps=first.steps + second.steps,
        output=first.output + second.output,
        seconds=first.seconds + second.seconds,
        policy_seconds=first.policy_seconds + second.policy_seconds,
    )
