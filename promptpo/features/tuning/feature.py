"""Tuning in a run: which candidates are tuned, with how many steps, and what becomes of the results."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from promptpo.core.budget import ALLOTMENTS, UNLIMITED_STEPS, validation_block_size
from promptpo.core.candidate import Attempt, CandidateId, Remark
from promptpo.core.feature import Feature
from promptpo.core.sample import GIVEN
from promptpo.errors import BudgetSpentError
from promptpo.features.tuning.batches import Start
from promptpo.features.tuning.outcome import (
    AT_TARGET,
    NO_NUMBERS,
    NO_STEPS,
    NOT_PAID,
    SPARED,
    TUNED_BEFORE,
    outcome_in_words,
)
from promptpo.features.tuning.tuning import Tuning
from promptpo.program import Program
from promptpo.program.tunables import text_digest
from promptpo.rollouts import Job
from promptpo.rollouts.evaluation import extremes

if TYPE_CHECKING:
    from promptpo.core.evaluate import Measurer
    from promptpo.core.feature import SearchContext
    from promptpo.core.history import History
    from promptpo.core.sample import Sampler
    from promptpo.features.tuning.batches import Batch
    from promptpo.features.tuning.outcome import TuningResult
    from promptpo_sandbox import Rollout


TUNING_SEEDS, ROUNDS_OF_SEEDS = 1_000_000, 9
"""Round r tunes on training seeds from block (r - 1) mod 9, each a million seeds long, so that no two of nine rounds tune on the same
episodes."""

WHY = {
    SPARED: "not tuned: a policy reached the threshold in training and was evaluated again",
    NO_STEPS: "not tuned: too few of the steps are left for this round",
    AT_TARGET: "not tuned: already at the threshold",
    TUNED_BEFORE: "not tuned: tuned before, where steps are free",
    NO_NUMBERS: "not tuned: no policy declares PARAMS as literals",
}
"""The remark on a candidate in the prompt (key), and the reason shown to the user if no candidate of the round was tuned."""


class Tuner(Feature):
    """Tunes the numbers of a round's candidates.

    Args:
        context: Context of the run.
        measurer: Evaluates the tuned candidates.
    """

    def __init__(self, context: SearchContext, measurer: Measurer) -> None:
        self._context, self._measurer, self._config = context, measurer, context.config
        self._work, self._learns = context.work, context.learns
        self._tuning: Tuning | None = None
        self._batches = 0
        self._remarks: dict[str, str] = {}
        self._no_gain = ""

    async def improve(self, history: History, attempts: Sequence[Attempt]) -> list[Attempt]:
        """Tune the numbers of the round's candidates, and those of the best so far.

        The results so far of a search stopped in the middle are kept, see `conclude`.
        """
        round_, best, target = history.rounds + 1, history.best(), self._context.threshold
        again = [best] if self._learns and best is not None and best not in attempts else []
        starts = self._starts(history, [*attempts, *again], target)
        ids, name = [start.id for start in starts], f"r{round_}"
        begun = self._work.journal.find("tuning", f"{name}.t1")
        if begun is not None and begun["candidates"] != ids:  # an answer arrived after it
            name += f".{text_digest(' '.join(ids))}"
        steps = self._work.journal.once(
            "decision", f"{name}.tuning_steps", lambda: tuning_budget(self._context, history, attempts)
        )
        for attempt in self._running(history, attempts):
            if attempt.id in ids:
                why = NOT_PAID if steps > 0 else NO_STEPS
            elif not _tunable(Program.from_source(attempt.candidate.source)):
                why = NO_NUMBERS
            else:
                why = TUNED_BEFORE if _was_tuned_before(attempt) else AT_TARGET
            self._remarks[attempt.id] = why
        if not starts or steps <= 0:
            return []
        found = await self._search(round_, starts, steps, name)
        measured = [(tuned, await self._measure(tuned, history, round_)) for tuned in found]
        self._tuning = None
        for tuned, made in measured:
            into = made.id if made else ""
            self._remarks[tuned.id] = outcome_in_words(tuned, len(tuned.program.params), into)
            # Record what tuning learned about a candidate that it could not improve.
            if not made:
                notes = (self._remarks[tuned.id],)
                self._work.remark(Remark(tuned.id, sensitivity=dict(tuned.sensitivity), notes=notes))
        gained = [made for _, made in measured if made]
        self._no_gain = (
            "" if gained else "; ".join(f"{tuned.id}: {self._remarks[tuned.id]}" for tuned in found)
        )
        return gained

    async def spend_rest(self, history: History) -> str:
        """Tune the best program with parameters with the steps left over; return why some are still left.

        The steps for evaluating the outcome are kept back.
        """
        left = self._work.ledger.steps_left()
        starts = self._starts(history, history.ranking(), self._context.threshold)[:1]
        tuned = history.find(starts[0].id) if starts and self._learns else None
        if left is None or tuned is None:
            return "no program has parameters left to tune"
        length = math.ceil(tuned.evaluation.mean_steps)
        episodes = self._config.train_episodes + 4 * validation_block_size(self._config)
        # Tuned, episodes may have full length.
        kept = max(episodes * length, min(left // 4, episodes * self._context.horizon))
        digest = tuned.candidate.digest
        round_, name = history.rounds, f"last{history.rounds}.{self._config.budget.steps}.{digest}"
        steps = self._work.journal.once("decision", f"{name}.tuning_steps", lambda: left - kept)
        if steps < ALLOTMENTS["tuning"].floor * length:
            return "too few for another tuning and the comparison of its outcome"
        (found,) = await self._search(ROUNDS_OF_SEEDS, starts, steps, name, thorough=True)
        self._tuning = None
        suffix = "t"
        while history.find(f"{found.id}{suffix}") is not None:
            suffix += "t"
        better = await self._measure(found, history, round_, suffix, last=True)
        return "" if better else "more tuning found nothing better"

    def estimate_tuning_steps(self, history: History, own: int) -> int:
        """Return the steps for tuning candidates that are not known yet."""
        return tuning_budget(self._context, history, (), own=own)

    def remarks(self) -> Mapping[str, str]:
        """Return the outcome of tuning for each candidate, or why it was not tuned."""
        return self._remarks

    def summarize_round(self, history: History) -> Mapping[str, Any]:
        """Return why tuning gained nothing, for people, without a full stop; empty if it gained, or if there was nothing to tune.

        If tuning was skipped altogether, a candidate reached the threshold as written.
        """
        no_gain, self._no_gain = self._no_gain, ""
        if no_gain:
            return {"untuned": no_gain}
        written = [a for a in self._running(history, history.attempts) if not a.candidate.tuned]
        for attempt in written:
            if attempt.id not in self._remarks:
                tunable = _tunable(Program.from_source(attempt.candidate.source))
                self._remarks[attempt.id] = SPARED if tunable else NO_NUMBERS
        remarks = {self._remarks[a.id] for a in written if a.candidate.round == history.rounds + 1}
        return (
            {"untuned": next(why for reason, why in WHY.items() if reason in remarks)}
            if remarks and remarks <= set(WHY)
            else {}
        )

    async def conclude(self, history: History, *, stopped: bool) -> None:  # noqa: ARG002
        """Record the results so far of an interrupted tuning as candidates."""
        tuning, self._tuning = self._tuning, None
        found, round_ = tuning.result() if tuning else (), history.rounds + 1
        for tuned in found:
            await self._measure(tuned, history, round_, f"t{self._batches}")

    @staticmethod
    def _running(history: History, attempts: Sequence[Attempt]) -> list[Attempt]:
        """Return the attempts that ran, each program once."""
        return [a for a in attempts if history.runs(a) and not a.candidate.duplicate_of]

    def _starts(self, history: History, attempts: Sequence[Attempt], target: float | None) -> list[Start]:
        """Return the candidates with numbers, the most promising first, each program once.

        Candidates at the target as written are not tuned. Programs of the library stay in the library's order, since their
        returns before tuning say nothing.
        """
        known = [
            (attempt, history.evidence(attempt))
            for attempt in self._running(history, attempts)
            if not _was_tuned_before(attempt)
        ]
        if self._learns:
            known = [pair for pair in known if target is None or pair[1].mean_return < target]
            known.sort(key=lambda pair: (pair[1].success_rate or 0.0, pair[1].mean_return), reverse=True)
        starts: dict[str, Start] = {}
        for attempt, _ in known:
            program = Program.from_source(attempt.candidate.source)
            if _tunable(program):
                starts.setdefault(
                    attempt.candidate.digest, Start(attempt.id, program, arbitrary=not self._learns)
                )
        return list(starts.values())

    async def _search(
        self, round_: int, starts: Sequence[Start], steps: int, name: str, *, thorough: bool = False
    ) -> tuple[TuningResult, ...]:
        """Tune; every batch of rollouts is journaled, so that a killed run continues at its current batch."""
        first = TUNING_SEEDS * ((round_ - 1) % ROUNDS_OF_SEEDS)
        tuning = self._tuning = Tuning(
            starts,
            steps=steps,
            seeds=lambda start, n: self._context.seeds.train(n, start=start + first),
            horizon=self._context.horizon,
            seed=self._config.seed + 1000 * round_,
            target=self._context.threshold,
            thorough=thorough or not self._learns,
        )
        self._batches = 0
        while tuning.batches:
            self._batches += 1
            key = f"{name}.t{self._batches}"
            rollouts = await self._roll_out(key, tuning.batches, [start.id for start in starts])
            if len(rollouts) != len(tuning.batches):
                break  # recorded by a version that asked for other batches
            tuning.step(rollouts)
        return tuning.result()

    async def _roll_out(self, key: str, batches: Sequence[Batch], ids: list[str]) -> list[Rollout]:
        jobs = [Job(b.source, b.trials, record=b.record, stop_on_failure=False) for b in batches]

        def note(rollouts: Sequence[Rollout]) -> dict[str, Any]:
            ran = [e for r in rollouts for e in r.episodes if e.failure is None and math.isfinite(e.return_)]
            return {
                "best_return": max((e.return_ for e in ran), default=None),
                "candidates": ids,
                "earned": extremes(e.extremes for e in ran),
            }

        return await self._work.play("tuning", key, jobs, note=note)

    async def _measure(
        self, tuned: TuningResult, history: History, round_: int, name: str = "t", *, last: bool = False
    ) -> Attempt | None:
        """Evaluate a tuned program as a candidate of its own; None if tuning found nothing better."""
        parent = history.find(tuned.id)
        if parent is None or tuned.program.digest == parent.candidate.digest:
            return None
        earlier = max(1, parent.candidate.round) < round_ and not last  # initial policies belong to round 1
        candidate = replace(
            parent.candidate,
            id=str(CandidateId(round_, self._config.candidates + 1, name))
            if earlier
            else f"{parent.id}{name}",
            round=round_ if earlier else parent.candidate.round,
            source=tuned.program.source,
            parents=(parent.id,),
            tuned=dict(tuned.changes),
            sensitivity=dict(tuned.sensitivity),
        )
        prose = "Tuned from the user's." if parent.prose == GIVEN else parent.prose
        try:
            attempt = await self._measurer.measure(
                candidate, history, prose=prose, notes=(tuned.note,) * bool(tuned.note)
            )
        except BudgetSpentError:
            return None
        return self._measurer.record(attempt)


def _was_tuned_before(attempt: Attempt) -> bool:
    """Whether the numbers were tuned before the first round, where steps are free."""
    return bool(attempt.candidate.tuned) and not attempt.candidate.parents


def _tunable(program: Program) -> bool:
    return bool(program.params) or program.table is not None


def tuning_budget(
    context: SearchContext, history: History, attempts: Sequence[Attempt], *, own: int = 0
) -> int:
    """Return the steps for tuning a round's candidates, limited by the steps left.

    Args:
        context: Context of the run.
        history: History of the run.
        attempts: The round's candidates; empty if not known yet.
        own: Steps that the round's candidates will take before tuning.
    """
    config, horizon = context.config, context.horizon
    left, best = context.work.ledger.steps_left(), history.best()
    played = [a.evaluation.mean_steps for a in attempts if a.evaluation.episodes]
    played += [history.evidence(best).mean_steps] if best else []
    length = max(played, default=float(horizon))  # coming episodes may last as long as the best one's
    episodes = config.candidates * config.train_episodes + config.score_episodes
    return tuning_steps(
        None if left is None else max(0, left - own),
        reserved=(config.train_episodes + config.score_episodes)
        * horizon,  # after tuning, episodes may have full length
        rounds=config.budget.rounds - history.rounds,
        coming=math.ceil(episodes * length),
        length=length,
        learns=context.learns,
    )


def tuning_steps(
    left: int | None, *, rounds: int, coming: int, length: float, learns: bool, reserved: int = 0
) -> int:
    """Return the steps for tuning one round's candidates.

    Rounds get equal parts of the steps not needed for later candidates and their evaluation, the last round at least half of the steps
    left; a part too small to find anything is saved for later rounds. If nothing learns from the rounds, each round gets all steps left,
    since continuing is worth more than starting anew.

    Args:
        left: Steps left in the run; None without a limit.
        rounds: Rounds left, including this one.
        coming: Steps for training and validation of a round's candidates.
        length: Approximate steps per episode.
        learns: Whether a language model learns from the rounds.
        reserved: Steps kept back to evaluate the outcome, at most a quarter of those left.
    """
    most = round(ALLOTMENTS["tuning"].cap * length)
    if left is None:
        return min(most, UNLIMITED_STEPS)
    left -= min(left // 4, reserved)
    if not learns:
        return min(most, left)
    paid = left // max(1, rounds) - coming
    if rounds <= 1:
        paid = max(paid, left // 2)
    return min(most, paid) if paid >= ALLOTMENTS["tuning"].floor * length > 0 else 0


def install(context: SearchContext, sampler: Sampler) -> Feature:
    """Create the feature for a run."""
    return Tuner(context, sampler.measurer)
