"""A round's tuning: which candidates' numbers are tuned, with how many steps, and what is kept of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from promptpo.errors import BudgetSpentError
from promptpo.program import Program
from promptpo.rollouts import Job, roll_out
from promptpo.rollouts.evaluation import extremes
from promptpo.run.packing import deflate, inflate
from promptpo.run.records import Attempt, Remark, Seeds
from promptpo.search.outlook import for_tuning
from promptpo.search.samples import GIVEN, TUNED_FROM_GIVEN
from promptpo.search.tuned_before import Taken, agreed, inherited
from promptpo.search.tuning import Start, Tuning
from promptpo.search.tuning.patience import Patience
from promptpo.telling.tuning import (
    AT_TARGET,
    NO_NUMBERS,
    NO_STEPS,
    NOT_PAID,
    SPARED,
    outcome_in_words,
    peak_in_words,
)

if TYPE_CHECKING:
    from promptpo.run.config import Config
    from promptpo.run.spender import Spender
    from promptpo.search.history import History
    from promptpo.search.sampler import Sampler
    from promptpo.search.tuning import Batch, Tuned
    from sandbox import Rollout


TUNING_SEEDS, ROUNDS_OF_SEEDS = 1_000_000, 9
"""The training seeds of each round's tuning begin so far apart: what earlier rounds chose numbers by must not choose them
again."""

IN_MODEL = "w"
"""What program search found in a world model before the first round was tuned there; the first round's steps are for the
structures that were not, and later rounds build on the better of both."""

WHY = {
    SPARED: "not tuned, as one reached the threshold in training and was looked at again",
    NO_STEPS: "not tuned, as no steps were left",
    AT_TARGET: "not tuned, as it is at the threshold",
    NO_NUMBERS: "not tuned, as no policy declares PARAMS that can be read as literals",
}
"""What a person is told of a round without tuning, by what the model is told of a candidate."""


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
        self._observations = sampler.observation_space if not spender.llm.language_model else None
        self._seeds = Seeds(config.seed)
        self._tuning: Tuning | None = None
        self._batches = 0
        self._taken = Taken(0)
        self._spreads: dict[str, tuple[float, ...]] = {}

    async def tune(
        self,
        history: History,
        attempts: Sequence[Attempt],
        *,
        rounds_left: int,
        target: float | None,
        ceiling: bool = False,
    ) -> list[Attempt]:
        """Tune the numbers of the round's candidates that have any, and measure what came out.

        What a search that is ended in the middle has found until then is not lost, see `rescue`.
        """
        round_ = history.rounds + 1
        steps = self._steps(history, round_, attempts, rounds_left)
        possible = not ceiling and self._more_is_possible(history)
        earlier = self._earlier(history, attempts) if possible else []
        starts = self._starts(history, [*attempts, *earlier], target)
        if self._config.tune == "none" or not self._recipe.tune:
            return []
        why = NOT_PAID if steps > 0 else NO_STEPS
        self._tell_untuned(history, attempts, {start.id for start in starts}, why, target)
        if not starts or steps <= 0:
            return []
        patience, last = self._patience(round_, attempts), possible and rounds_left == 1
        tuned = await self._search(round_, starts, steps, target, patience, last=last)
        history.earned = extremes([history.earned, self._taken.earned])
        measured = [(one, await self._measured(one, history, round_)) for one in tuned]
        self._tuning = None
        self._remark(history, [one for one, attempt in measured if attempt is None])
        numbers = {start.id: len(start.program.params) for start in starts}
        played = [*history.attempts, *(attempt for _, attempt in measured if attempt)]
        shown = {a.id: history.evidence(a).returns for a in played}
        for one, attempt in measured:
            said = outcome_in_words(one, numbers[one.id], attempt.id if attempt else "")
            own = shown.get(one.id, ()) if attempt is None else ()
            peak = peak_in_words(one, [r for returns in shown.values() for r in returns], own)
            history.tuning[one.id] = f"{said}; {peak}" if peak else said
            self._spreads[attempt.id if attempt else one.id] = one.spread
            if attempt is not None and peak:
                history.tuning[attempt.id] = peak[0].upper() + peak[1:]
        return [attempt for _, attempt in measured if attempt]

    def spare(self, history: History, attempts: Sequence[Attempt]) -> None:
        """Say that a round is not tuned, since one of its candidates may be at the threshold as it was written."""
        if self._config.tune == "none" or not self._recipe.tune:
            return
        for attempt in attempts:
            if history.runs(attempt) and not attempt.candidate.duplicate_of:
                program = Program.parse(attempt.candidate.source)
                numbers = bool(program.params) or program.table is not None
                history.tuning[attempt.id] = SPARED if numbers else NO_NUMBERS

    def untuned(self, history: History, round_: int) -> str:
        """Why no candidate of a round was tuned, for people, without a full stop; empty where one was, or none was to be."""
        ids = [one.id for one in history.of_round(round_) if history.runs(one) and not one.candidate.tuned]
        said = [history.tuning.get(id_, "") for id_ in ids]
        why = next((one for one in WHY if one in said), "")
        return WHY[why] if why and all(one in WHY for one in said) else ""

    @staticmethod
    def _tell_untuned(
        history: History,
        attempts: Sequence[Attempt],
        tuned: Collection[str],
        why: str,
        target: float | None,
    ) -> None:
        """Why candidates that run are not tuned, so that nobody takes their return for the most they can do."""
        for attempt in attempts:
            if not history.runs(attempt) or attempt.candidate.duplicate_of:
                continue
            program = Program.parse(attempt.candidate.source)
            if attempt.id in tuned:
                history.tuning[attempt.id] = why
            elif not program.params and program.table is None:
                history.tuning[attempt.id] = NO_NUMBERS
            elif target is not None and history.evidence(attempt).mean_return >= target:
                history.tuning[attempt.id] = AT_TARGET

    def _starts(self, history: History, attempts: Sequence[Attempt], target: float | None) -> list[Start]:
        """The candidates with numbers, the most promising first, each program and each behaviour once.

        What is at the target as it was written needs no other numbers.
        """
        # What the library writes is ordered by promise; its numbers, not chosen yet, say nothing.
        chosen = self._spender.llm.language_model
        ordered = sorted(attempts, key=Attempt.rank, reverse=True) if chosen else attempts
        starts: dict[str, Start] = {}
        earlier = tuple(attempt.candidate.source for attempt in history.ranked()) if not chosen else ()
        for attempt in ordered:
            candidate = attempt.candidate
            if not history.runs(attempt) or candidate.duplicate_of or candidate.digest in starts:
                continue
            if not chosen and candidate.round == 0 and attempt.id.startswith(IN_MODEL):
                continue
            if chosen and target is not None and history.evidence(attempt).mean_return >= target:
                continue
            program = Program.parse(candidate.source)
            program = program.lifted() if self._config.lift_constants else program
            if program.params or program.table is not None:
                warm = tuple(inherited(program, attempt, history)) if chosen else ()
                again = self._is_earlier(candidate.round, history.rounds + 1)
                starts[candidate.digest] = Start(
                    attempt.id,
                    program,
                    history.evidence(attempt).mean_return,
                    warm,
                    self._observations,
                    earlier,
                    again,
                    self._spreads.get(attempt.id, ()) if again else (),
                )
        return list(starts.values())

    def _more_is_possible(self, history: History) -> bool:
        """Whether more than the best of the run earns is possible, as far as one can tell."""
        solved = any(
            history.runs(one) and history.evidence(one).success_rate == 1.0 for one in history.attempts
        )
        return self._spender.llm.language_model and not solved and not agreed(history)

    @staticmethod
    def _earlier(history: History, attempts: Sequence[Attempt]) -> list[Attempt]:
        """The best of earlier rounds: its numbers are worth as much as those of a new program."""
        best = history.best()
        return [best] if best is not None and best not in attempts else []

    def _patience(self, round_: int, attempts: Sequence[Attempt]) -> Patience | None:
        """How long the round's tuning may take; program search, which does nothing else, takes its time."""
        if not self._spender.llm.language_model:
            return None
        calls = [
            event.data["seconds"]
            for event in self._journal.of_kind("completion")
            if event.key.startswith(f"r{round_}.")
        ]
        rest = sum(calls) + sum(attempt.evaluation.seconds for attempt in attempts)
        return Patience(rest)

    def _steps(self, history: History, round_: int, attempts: Sequence[Attempt], rounds_left: int) -> int:
        """This round's part of the budget for tuning; decided once in a run."""
        key = f"r{round_}.tuning_steps"
        found = self._journal.find("decision", key)
        if found is not None:
            return int(found)
        steps = for_tuning(history, attempts, self._spender, self._config, self._horizon, rounds=rounds_left)
        patience = self._patience(round_, attempts)
        if patience is not None:
            seconds = sum(attempt.evaluation.seconds for attempt in attempts)
            in_time = patience.steps(seconds, sum(attempt.evaluation.steps for attempt in attempts))
            steps = steps if in_time is None else min(steps, in_time)
        self._journal.add("decision", key, steps)
        return steps

    async def _search(
        self,
        round_: int,
        starts: Sequence[Start],
        steps: int,
        target: float | None,
        patience: Patience | None,
        *,
        last: bool,
    ) -> tuple[Tuned, ...]:
        """Every batch of rollouts is journaled, so that a killed run goes on at the batch it was at."""
        starts, old = self._as_begun(round_, starts)

        def fresh(start: int, n: int) -> tuple[int, ...]:
            return self._seeds.train(n, start=start + TUNING_SEEDS * ((round_ - 1) % ROUNDS_OF_SEEDS))

        tuning = self._tuning = Tuning(
            starts,
            steps=steps,
            seeds=fresh,
            horizon=self._horizon,
            seed=self._config.seed + 1000 * round_,
            target=target,
            earning=patience is not None,
            elsewhere="anywhere" if last else "others" if patience is not None and not old else "nowhere",
        )
        self._batches, self._taken = 0, Taken(steps)
        while tuning.batches:
            self._batches += 1
            names = [start.id for start in starts]
            if patience is not None and self._out_of_time(round_, patience, gaining=tuning.gaining):
                tuning.finish()
            tuning.step(await self._batch(f"r{round_}.t{self._batches}", tuning.batches, names))
        return tuning.result()

    def _as_begun(self, round_: int, starts: Sequence[Start]) -> tuple[Sequence[Start], bool]:
        """What a round's tuning was begun with, and whether by an earlier version, which did not tune the best again."""
        key, begun = f"r{round_}.tuned", self._journal.find("tuning", f"r{round_}.t1")
        ids = self._journal.find("decision", key)
        if ids is None and begun is not None:
            return [start for start in starts if start.id in begun["candidates"]], True
        if ids is None:
            ids = self._journal.add("decision", key, [start.id for start in starts]).data
        return [start for start in starts if start.id in ids], False

    def _out_of_time(self, round_: int, patience: Patience, *, gaining: bool) -> bool:
        """Whether the round's tuning has taken too long; decided once in a run."""
        key = f"r{round_}.tuning_time"
        last = self._journal.find("decision", key)
        if last is None and patience.over(self._taken.seconds, gaining=gaining):
            last = self._journal.add("decision", key, self._batches).data
        return last is not None and self._batches >= int(last)

    def _remark(self, history: History, in_vain: Sequence[Tuned]) -> None:
        """What tuning learnt about candidates that it found nothing better for belongs to them all the same."""
        for one in in_vain:
            for place, attempt in enumerate(history.attempts):
                if attempt.id == one.id and (one.notes or one.sensitivity):
                    said = Remark(one.id, sensitivity=dict(one.sensitivity), notes=one.notes)
                    history.attempts[place] = self._spender.remark(said).on(attempt)

    async def rescue(self, history: History) -> list[Attempt]:
        """What a tuning that was cut short has found until then, measured as candidates of their own."""
        tuning, self._tuning = self._tuning, None
        found = tuning.result() if tuning else ()
        name = f"t{self._batches}"
        round_ = history.rounds + 1
        return [a for one in found if (a := await self._measured(one, history, round_, name=name))]

    async def _batch(self, key: str, batches: Sequence[Batch], candidates: Sequence[str]) -> list[Rollout]:
        found = self._journal.find("tuning", key)
        if found is not None:
            self._taken.add(found)
            return inflate(found["rollouts"])
        started = time.monotonic()
        work = [
            asyncio.ensure_future(
                roll_out(
                    self._spender.executor,
                    Job(batch.source, batch.trials, record=batch.record, stop_on_failure=False),
                )
            )
            for batch in batches
        ]
        try:
            rollouts = await asyncio.gather(*work)
        except BaseException:  # a limit, Ctrl-C, a fault: a resumed run takes the whole batch again
            for task in work:
                task.cancel()
            ended = await asyncio.gather(*work, return_exceptions=True)
            taken = sum(one.steps for one in ended if not isinstance(one, BaseException))
            self._spender.count_unfinished("tune", taken)
            raise
        packed = deflate(rollouts)
        spent = {"tune": sum(rollout.steps for rollout in rollouts)}
        best = max((e.return_ for r in rollouts for e in r.episodes if e.failure is None), default=None)
        data: dict[str, Any] = {
            "spent": spent,
            "best_return": best,
            "candidates": list(candidates),
            "seconds": round(time.monotonic() - started, 3),
            "episodes": sum(len(batch.trials) for batch in batches),
            "earned": extremes(e.extremes for r in rollouts for e in r.episodes),
        }
        self._taken.add(data)
        data |= {"done": self._taken.episodes, "of": self._taken.planned, "rollouts": packed}
        self._journal.add("tuning", key, data)
        return inflate(packed)  # the same values as after a resume

    async def _measured(
        self, tuned: Tuned, history: History, round_: int, *, name: str = "t"
    ) -> Attempt | None:
        """A tuned program as an attempt of its own; None where nothing better was found."""
        parent = history.find(tuned.id)
        if parent is None:
            return None
        program = tuned.program
        if self._config.lift_constants and not Program.parse(parent.candidate.source).params:
            program = program.unlifted()
        if program.digest == parent.candidate.digest:
            return None
        of_round, place = self._place(parent, round_)
        candidate = replace(
            parent.candidate,
            id=f"{place}{name}",
            round=of_round,
            source=program.source,
            parents=(parent.id,),
            tuned=dict(tuned.changes),
            sensitivity=dict(tuned.sensitivity),
        )
        try:
            prose = TUNED_FROM_GIVEN if parent.prose == GIVEN else parent.prose
            attempt = await self._sampler.measurer.measure(candidate, history, prose=prose, notes=tuned.notes)
        except BudgetSpentError:
            return None
        return self._sampler.measurer.recorded(attempt)

    @staticmethod
    def _is_earlier(round_: int, now: int) -> bool:
        """Whether a program of one round is an earlier one in another: what the user gave belongs to the first."""
        return max(1, round_) < now

    def _place(self, parent: Attempt, round_: int) -> tuple[int, str]:
        """The round, and what the id begins with: the parent's, or a place after the round's samples."""
        if self._is_earlier(parent.candidate.round, round_):
            return round_, f"r{round_}c{self._config.candidates + 1}"
        return parent.candidate.round, parent.id
