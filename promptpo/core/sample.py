"""Sampling: how one sample of a round is requested, evaluated and repaired, and what a round's samples say together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from promptpo.core.budget import affordable, validation_block_size
from promptpo.core.candidate import Attempt, Candidate, CandidateId, RoundEnd
from promptpo.core.control import StopReason, gather
from promptpo.core.evaluate import Measurer
from promptpo.core.feature import Feature, Plan, RunStatus, SearchContext
from promptpo.core.history import History
from promptpo.errors import BudgetSpentError, FatalProviderError, ProviderError
from promptpo.llm.base import CallPurpose, Completion, Message, PriorCandidate, Situation
from promptpo.program import Program, answers
from promptpo.spec.reading import names_of

GIVEN = "Given by the user."
"""Description of a policy that was not requested from a model."""

Sample: TypeAlias = Attempt | ProviderError | StopReason | str
"""An error says why there is no answer; a stop reason names the limit that kept a sample from being requested or rolled out; a text
is the answer's reason for seeing no way to improve."""


def round_event(samples: Sequence[Sample]) -> dict[str, Any]:
    """Return the fields of the round's event that describe its samples."""
    return {
        name: {str(i): str(sample) for i, sample in enumerate(samples) if isinstance(sample, kind)}
        for name, kind in (("unanswered", ProviderError), ("ceiling", str))
    }


def sampling_stop_reason(samples: Sequence[Sample], *, tried: bool) -> StopReason | None:
    """Return why no further round can follow these samples; None if one can. ProviderError if the run has no answers at all."""
    for sample in samples:
        if isinstance(sample, StopReason):
            return sample
    unanswered = [sample for sample in samples if isinstance(sample, ProviderError)]
    fatal = next((error for error in unanswered if isinstance(error, FatalProviderError)), None)
    if not samples or (fatal is None and len(unanswered) < len(samples)):
        return None
    error = fatal or unanswered[0]
    if not tried:
        raise error
    return StopReason("model", f"the model no longer answers: {str(error).rstrip('.')}")


class Sampler:
    """Turns plans into attempts; `features` are listed in the order in which they run."""

    def __init__(self, context: SearchContext) -> None:
        self._context, self._spec, self._work = context, context.spec, context.work
        self._config, self._journal, self._writer = context.config, context.journal, context.writer
        self.measurer = Measurer(context)
        self.features: list[Feature] = []

    async def measure_initial(self, history: History) -> None:
        """Evaluate the initial policies as candidates of round 0, "r0c1" and so on, after the features' preparations."""
        config = self._config
        for feature in self.features:
            await feature.start()
        await gather([self._context.narrator.prepare(), self.prepare_round(0, history)])
        written = self._context.written
        authors = [("user", GIVEN)] * (len(config.start) - len(written)) + [*written]
        for n, (source, (origin, prose)) in enumerate(zip(config.start, authors, strict=True), 1):
            candidate = Candidate(str(CandidateId(0, n)), source, 0, origin=origin)
            attempt = await self.measurer.measure(candidate, history, prose=prose)
            self.measurer.record(attempt)

    async def prepare_round(self, number: int, history: History) -> None:
        """Run the features' preparations for a round."""
        for feature in self.features:
            await feature.before_round(number, history)

    def begin_round(self, history: History) -> int:
        """Settle the run's status when a round begins, once per run; return how many samples the steps pay for."""
        key = f"r{history.rounds + 1}.where"
        status: RunStatus = self._journal.once(
            "decision", key, lambda: run_status(self._context, history, self.features), RunStatus
        )
        self._writer.begin(history, status)
        return status.candidates

    def has_unanswered(self, number: int) -> bool:
        """Whether a request of this round is still unanswered."""
        status: RunStatus | None = self._journal.find("decision", f"r{number}.where", RunStatus)
        calls = [f"r{number}.c{slot + 1}" for slot in range(status.candidates if status else 1)]
        is_open = self._journal.find("round", f"r{number}") is None
        return is_open and any(self._journal.find("completion", call) is None for call in calls)

    async def sample(self, plan: Plan, history: History) -> Sample:
        """Request one sample of a round, then evaluate and repair it as far as the budget allows."""
        key = f"r{plan.round}.c{plan.slot + 1}"
        question = self._writer.question(plan, self.features)  # always: features note here what they offer
        recorded: Attempt | None = self._journal.find("attempt", plan.id, Attempt)
        if recorded:  # even if a repair failed, which must not be requested again
            return self.measurer.record(recorded)
        complete: RoundEnd | None = self._journal.find("round", f"r{plan.round}", RoundEnd)
        if complete and (reason := complete.unanswered.get(str(plan.slot))) is not None:
            return ProviderError(reason)  # later rounds were planned without it
        try:
            answer, calls = await self._answer(key, plan, history, question)
            if ceiling := self._writer.ceiling(plan, answer):
                return ceiling
            parents = tuple(parent.id for parent in plan.parents)
            candidate = Candidate(plan.id, answer.source, plan.round, parents=parents, calls=calls)
            for feature in self.features:
                candidate = await feature.prepare(candidate)
            attempt = await self.measurer.measure(
                candidate, history, prose=answer.prose, problem=answer.problem
            )
            return self.measurer.record(await self._repair(attempt, key, history))
        except BudgetSpentError as spent:
            return StopReason(spent.kind, str(spent))
        except ProviderError as error:
            return error

    async def _answer(
        self, key: str, plan: Plan, history: History, question: Sequence[Message]
    ) -> tuple[answers.Answer, tuple[str, ...]]:
        """Request a policy; ask once more if the answer is empty, cut off or without code."""
        answer, completion = await self._ask(key, "policy", question, self._situation(plan, history))
        ends = self._writer.ceiling(plan, answer)
        if not answer.problem or ends or not self._work.supports("repair"):
            return answer, (key,)
        again, retry = f"{key}.again", [*question, *self._writer.ask_again(completion, answer)]
        try:
            answer, _ = await self._ask(again, "repair", retry)
        except (ProviderError, BudgetSpentError):
            return answer, (key,)  # the poor first answer stands
        return answer, (key, again)

    async def _ask(
        self, key: str, purpose: CallPurpose, messages: Sequence[Message], situation: Situation | None = None
    ) -> tuple[answers.Answer, Completion]:
        """Call the model for a candidate and parse its answer."""
        system = self._writer.system
        completion = await self._work.ask(key, purpose, messages, system=system, situation=situation)
        answer = answers.extract_program(completion.text, cut=completion.finish == "length")
        if answer.problem and completion.finish == "refusal":
            answer = replace(answer, problem="refused")
        elif answer.problem == "cut" and not completion.text.strip():
            answer = replace(answer, problem="thought")
        return answer, completion

    def _situation(self, plan: Plan, history: History) -> Situation:
        return Situation(
            observation_space=self._spec.observation_space,
            action_space=self._spec.action_space,
            round=plan.round,
            slot=plan.slot,
            seed=self._config.seed,
            seen=self._spec.seen,
            names=names_of(self._spec.text),
            tried=tuple(
                PriorCandidate(a.candidate.source, a.evaluation.outcome, a.evaluation.score())
                for a in history.attempts
            ),
        )

    async def _repair(self, attempt: Attempt, key: str, history: History) -> Attempt:
        """Request repairs until the candidate runs; one that stays broken loses, and the run goes on."""
        if not self._work.supports("repair") or not attempt.candidate.source:
            return attempt
        for n in range(1, self._config.repairs + 1):
            if attempt.evaluation.outcome == "ok":
                break
            call = f"{key}.repair{n}"
            try:
                answer, _ = await self._ask(call, "repair", self._writer.repair(attempt))
                calls = (*attempt.candidate.calls, call)
                attempt = replace(attempt, candidate=replace(attempt.candidate, calls=calls))
                if answer.problem or Program.from_source(answer.source).digest == attempt.candidate.digest:
                    break  # unchanged: another call would not help
                candidate = replace(attempt.candidate, source=answer.source, repairs=n)
                attempt = await self.measurer.measure(candidate, history, prose=attempt.prose)
            except (ProviderError, BudgetSpentError):
                break
        return attempt


def run_status(context: SearchContext, history: History, features: Iterable[Feature]) -> RunStatus:
    """Return the run's status: the budget left, and the steps that features plan to take."""
    config, ledger, budget = context.config, context.work.ledger, context.config.budget
    best, number = history.best(), history.rounds + 1
    length = round(history.evidence(best).mean_steps) if best else context.horizon
    left, candidates = ledger.steps_left(), config.candidates
    if best:
        each, block = config.train_episodes * length, validation_block_size(config) * length
        candidates = affordable(left, candidates, each=each, validation=block)
    own = candidates * config.train_episodes * length  # training of this round's programs, before tuning
    return RunStatus(
        round=number,
        rounds=budget.rounds,
        candidates=candidates,
        starts=config.train_episodes,
        steps=budget.steps,
        steps_left=left,
        calls_left=None if budget.calls is None else max(0, budget.calls - ledger.calls),
        tunes=config.switches.tune,
        tuning_steps=sum(feature.estimate_tuning_steps(history, own) for feature in features),
        length=length,
        threshold=None if "solved_from" in context.spec.text else context.threshold,  # the spec states it
    )


def pays_for_one(context: SearchContext, history: History) -> bool:
    """Whether the steps left pay for another candidate's training, at the best one's mean episode length."""
    left, best = context.work.ledger.steps_left(), history.best()
    if left is None or best is None:
        return True
    return left >= context.config.train_episodes * history.evidence(best).mean_steps
