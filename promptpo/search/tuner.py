"""A round's tuning: which candidates' numbers are tuned, with how many steps, and what is kept of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from promptpo.errors import BudgetSpentError
from promptpo.program.lift import lift_constants, unlift_constants
from promptpo.program.literals import read_params, read_table
from promptpo.rollouts import Job, roll_out
from promptpo.run.packing import deflate, inflate
from promptpo.run.records import Attempt, Seeds
from promptpo.search.tuning import Start, tune
from promptpo.search.tuning.split import Round, tuning_steps

if TYPE_CHECKING:
    from promptpo.run.config import Config
    from promptpo.run.spender import Spender
    from promptpo.search.history import History
    from promptpo.search.sampler import Sampler
    from promptpo.search.tuning.jobs import Tuned
    from sandbox import Rollout


class Tuner:
    """Tunes the numbers of a round's candidates.

    Args:
        sampler: Measures what comes out.
        spender: Rolls out.
        config: Limits, seeds and the method.
        horizon: Longest episode, in steps.
    """

    def __init__(self, sampler: Sampler, spender: Spender, config: Config, horizon: int) -> None:
        self._sampler, self._spender, self._config, self._horizon = sampler, spender, config, horizon
        self._recipe, self._journal = config.switches, spender.journal
        self._seeds = Seeds(config.seed)

    async def tune(
        self, history: History, attempts: Sequence[Attempt], *, rounds_left: int, target: float | None
    ) -> list[Attempt]:
        """Tune the numbers of the round's candidates that have any, and measure what came out.

        What a search that is ended in the middle has found until then is kept: it is measured when the
        run is resumed, and until then `found` tells it.
        """
        round_ = history.rounds + 1
        starts = self._starts(history, attempts)
        steps = self._steps(round_, attempts, rounds_left)
        if not starts or steps <= 0 or self._config.tune == "none" or not self._recipe.tune:
            return []
        tuned = await self._search(round_, starts, steps, target)
        return [attempt for one in tuned if (attempt := await self._measured(one, history, attempts))]

    def _starts(self, history: History, attempts: Sequence[Attempt]) -> list[Start]:
        """The candidates with numbers, the most promising first, each program and each behaviour once."""
        # What the library writes is ordered by promise; its numbers, not chosen yet, say nothing.
        chosen = self._spender.llm.language_model
        ordered = sorted(attempts, key=Attempt.rank, reverse=True) if chosen else attempts
        starts: dict[str, Start] = {}
        for attempt in ordered:
            candidate = attempt.candidate
            if not history.runs(attempt) or candidate.duplicate_of or candidate.digest in starts:
                continue
            source = lift_constants(candidate.source) if self._config.lift_constants else candidate.source
            if read_params(source) or read_table(source) is not None:
                starts[candidate.digest] = Start(attempt.id, source, attempt.evaluation.mean_return)
        return list(starts.values())

    def _steps(self, round_: int, attempts: Sequence[Attempt], rounds_left: int) -> int:
        """This round's part of the budget for tuning; decided once in a run."""
        key = f"r{round_}.tuning_steps"
        found = self._journal.find("decision", key)
        if found is not None:
            return int(found)
        lengths = [episode.steps for attempt in attempts for episode in attempt.evaluation.episodes]
        episodes = self._config.train_episodes + self._recipe.validate * self._config.score_episodes
        part = Round(
            number=round_,
            left=rounds_left,
            lengths=lengths,
            measuring=episodes * self._horizon,  # a tuned policy may last far longer
            language_model=self._spender.llm.language_model,
        )
        steps = tuning_steps(part, self._spender.ledger.steps_left())
        self._journal.add("decision", key, steps)
        return steps

    async def _search(
        self, round_: int, starts: Sequence[Start], steps: int, target: float | None
    ) -> tuple[Tuned, ...]:
        """Every batch of rollouts is journaled, so that a killed run goes on at the batch it was at."""

        def fresh(start: int, n: int) -> tuple[int, ...]:
            return self._seeds.train(n, start=start)

        search = tune(
            starts,
            steps=steps,
            seeds=fresh,
            horizon=self._horizon,
            seed=self._config.seed + 1000 * round_,
            target=target,
        )
        n, answer = 0, None
        while True:
            try:
                jobs = next(search) if answer is None else search.send(answer)
            except StopIteration as stop:
                tuned: tuple[Tuned, ...] = stop.value
                return tuned
            n += 1
            answer = await self._batch(f"r{round_}.t{n}", jobs, [start.id for start in starts])

    async def _batch(self, key: str, jobs: Sequence[Any], candidates: Sequence[str]) -> list[Rollout]:
        found = self._journal.find("tuning", key)
        if found is not None:
            return inflate(found["rollouts"])
        rollouts = await asyncio.gather(
            *(
                roll_out(
                    self._spender.executor,
                    Job(job.source, job.trials, record=job.record, stop_on_failure=False),
                )
                for job in jobs
            )
        )
        packed = deflate(rollouts)
        spent = {"tune": sum(rollout.steps for rollout in rollouts)}
        best = max((e.return_ for r in rollouts for e in r.episodes if e.failure is None), default=None)
        data = {"spent": spent, "best_return": best, "candidates": list(candidates), "rollouts": packed}
        self._journal.add("tuning", key, data)
        return inflate(packed)  # the same values as after a resume

    async def _measured(self, tuned: Tuned, history: History, attempts: Sequence[Attempt]) -> Attempt | None:
        """A tuned program as an attempt of its own; None where nothing better was found."""
        parent = next(attempt for attempt in attempts if attempt.id == tuned.id)
        source = tuned.source
        if self._config.lift_constants and not read_params(parent.candidate.source):
            source = unlift_constants(source)
        if source == parent.candidate.source:
            return None
        candidate = replace(
            parent.candidate,
            id=f"{parent.id}t",
            source=source,
            parents=(parent.id,),
            tuned=dict(tuned.changes),
        )
        try:
            attempt = await self._sampler.measure(candidate, history, prose=parent.prose, notes=tuned.notes)
        except BudgetSpentError:
            return None
        return self._sampler.recorded(attempt)
