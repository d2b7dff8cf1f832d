"""A round's tuning: which candidates' numbers are tuned, with how many steps, and what is kept of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from promptpo.errors import BudgetSpentError
from promptpo.program import Program
from promptpo.rollouts import Job, roll_out
from promptpo.run.packing import deflate, inflate
from promptpo.run.records import Attempt, Seeds
from promptpo.search.tuning import Start, Tuning
from promptpo.search.tuning.split import Round, tuning_steps

if TYPE_CHECKING:
    from promptpo.run.config import Config
    from promptpo.run.spender import Spender
    from promptpo.search.history import History
    from promptpo.search.sampler import Sampler
    from promptpo.search.tuning import Batch, Tuned
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
        self._tuning: Tuning | None = None
        self._batches = 0

    async def tune(
        self, history: History, attempts: Sequence[Attempt], *, rounds_left: int, target: float | None
    ) -> list[Attempt]:
        """Tune the numbers of the round's candidates that have any, and measure what came out.

        What a search that is ended in the middle has found until then is not lost, see `rescue`.
        """
        round_ = history.rounds + 1
        starts = self._starts(history, attempts)
        steps = self._steps(round_, attempts, rounds_left)
        if not starts or steps <= 0 or self._config.tune == "none" or not self._recipe.tune:
            return []
        tuned = await self._search(round_, starts, steps, target)
        return [attempt for one in tuned if (attempt := await self._measured(one, history))]

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
            program = Program.parse(candidate.source)
            program = program.lifted() if self._config.lift_constants else program
            if program.params or program.table is not None:
                starts[candidate.digest] = Start(attempt.id, program, attempt.evaluation.mean_return)
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

        tuning = self._tuning = Tuning(
            starts,
            steps=steps,
            seeds=fresh,
            horizon=self._horizon,
            seed=self._config.seed + 1000 * round_,
            target=target,
        )
        self._batches = 0
        while tuning.batches:
            self._batches += 1
            names = [start.id for start in starts]
            tuning.step(await self._batch(f"r{round_}.t{self._batches}", tuning.batches, names))
        self._tuning = None
        return tuning.result()

    async def rescue(self, history: History) -> list[Attempt]:
        """What a tuning that was cut short has found until then, measured as candidates of their own."""
        tuning, self._tuning = self._tuning, None
        found = tuning.result() if tuning else ()
        name = f"t{self._batches}"
        return [a for one in found if (a := await self._measured(one, history, name=name))]

    async def _batch(self, key: str, batches: Sequence[Batch], candidates: Sequence[str]) -> list[Rollout]:
        found = self._journal.find("tuning", key)
        if found is not None:
            return inflate(found["rollouts"])
        rollouts = await asyncio.gather(
            *(
                roll_out(
                    self._spender.executor,
                    Job(batch.source, batch.trials, record=batch.record, stop_on_failure=False),
                )
                for batch in batches
            )
        )
        packed = deflate(rollouts)
        spent = {"tune": sum(rollout.steps for rollout in rollouts)}
        best = max((e.return_ for r in rollouts for e in r.episodes if e.failure is None), default=None)
        data = {"spent": spent, "best_return": best, "candidates": list(candidates), "rollouts": packed}
        self._journal.add("tuning", key, data)
        return inflate(packed)  # the same values as after a resume

    async def _measured(self, tuned: Tuned, history: History, *, name: str = "t") -> Attempt | None:
        """A tuned program as an attempt of its own; None where nothing better was found."""
        parent = history.find(tuned.id)
        if parent is None:
            return None
        program = tuned.program
        if self._config.lift_constants and not Program.parse(parent.candidate.source).params:
            program = program.unlifted()
        if program.digest == parent.candidate.digest:
            return None
        candidate = replace(
            parent.candidate,
            id=f"{parent.id}{name}",
            source=program.source,
            parents=(parent.id,),
            tuned=dict(tuned.changes),
        )
        try:
            attempt = await self._sampler.measure(candidate, history, prose=parent.prose, notes=tuned.notes)
        except BudgetSpentError:
            return None
        return self._sampler.recorded(attempt)
