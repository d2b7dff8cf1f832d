"""One sample of a round: ask, read the answer, have it tried out, repair."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from promptpo.errors import BudgetSpentError, FatalProviderError, ProviderError
from promptpo.llm.base import Completion, Message, Situation, Tried
from promptpo.program import Program, answers
from promptpo.run.records import Attempt, Candidate
from promptpo.search.hooks import Hooks
from promptpo.search.measuring import ANSWER_PROBLEMS, Measurer
from promptpo.search.outlook import outlook
from promptpo.search.samples import Ceiling, OutOfBudget, Sample, Unanswered
from promptpo.telling import feedback, program_summary, prompting, replies, scores
from promptpo.telling.context import PromptContext
from promptpo.telling.first_observation import start_in_words
from promptpo.telling.run_status import RunStatus
from promptpo.telling.summaries import Summariser

if TYPE_CHECKING:
    from typing import Any

    import gymnasium

    from promptpo.run.history import History
    from promptpo.search.context import SearchContext
    from promptpo.telling.plan import Plan


class Sampler:
    """Makes attempts out of plans.

    Args:
        context: Of the run.

    Attributes:
        horizon: Longest episode, in steps.
        summariser: Says in words what happened in episodes.
        measurer: Tries candidates out.
        features: What the run asks for beside the loop.
    """

    def __init__(self, context: SearchContext) -> None:
        self._context, self._spec, self._spender = context, context.spec, context.spender
        self._config, self._recipe, self.horizon = context.config, context.config.switches, context.horizon
        self._journal = context.journal
        self._system = prompting.system_prompt_for(context.spec, context.config)
        self.summariser = Summariser(self._spender, self._spec, self._recipe, repairs=self._config.repairs)
        self.measurer = Measurer(context, self.summariser)
        self._history_tokens = max(1000, self._config.max_prompt_tokens - prompting.tokens(self._system))
        self._known: PromptContext | None = None
        self.features = self.measurer.features = Hooks()

    @property
    def observation_space(self) -> gymnasium.Space[Any]:
        """What policies see."""
        return self._spec.observation_space

    def begin(self, history: History) -> None:
        """Begin a round: settle what all its requests are told of where the run is; decided once in a run."""
        key = f"r{history.rounds + 1}.where"
        where = self._journal.once("decision", key, lambda: outlook(self._context, history), RunStatus)
        summaries = self.summariser
        self._known = PromptContext(
            history,
            where,
            legend=summaries.legend,
            reports_success=self._spec.reports_success,
            start=start_in_words(self._spec, texts=self._config.reveal in {"source", "named"}),
            one_start=self._spec.one_start,
            pictures=summaries.pictures,
        )

    @property
    def affordable(self) -> int:
        """Samples of this round that the steps which are left can play."""
        return self._config.candidates if self._known is None else self._known.where.candidates

    async def sample(self, plan: Plan, history: History) -> Sample:
        """One sample of a round: what was asked for is tried out as far as the budget allows."""
        key = f"r{plan.round}.c{plan.slot + 1}"
        complete = self._journal.find("round", f"r{plan.round}")
        if complete is not None and str(plan.slot) in complete["unanswered"]:
            return Unanswered(complete["unanswered"][str(plan.slot)])  # later rounds were decided without it
        try:
            answer, calls = await self._answer(key, plan, history)
        except BudgetSpentError as spent:
            return OutOfBudget(str(spent))
        except ProviderError as error:
            return Unanswered(str(error), fatal=isinstance(error, FatalProviderError))
        reason = replies.ceiling(answer.prose) if plan.may_end and answer.problem else ""
        if reason:
            return Ceiling(reason)
        id_ = f"r{plan.round}c{plan.slot + 1}"
        parents = tuple(parent.id for parent in plan.parents)
        candidate = Candidate(id_, answer.source, plan.round, parents=parents, calls=calls)
        try:
            attempt = await self.measurer.measure(
                candidate, history, prose=answer.prose, problem=answer.problem
            )
            return self.measurer.recorded(await self._repaired(attempt, key, history))
        except BudgetSpentError as spent:
            return OutOfBudget(str(spent))

    async def _answer(self, key: str, plan: Plan, history: History) -> tuple[answers.Answer, tuple[str, ...]]:
        """Ask for a policy; once more where the answer is empty, cut off or without code."""
        if self._known is None:
            raise RuntimeError("begin the round first")
        added = self.features.section(plan, self._known.where)
        known = replace(self._known, probe=added.experiment)
        prompt = prompting.policy_prompt(plan, known, max_tokens=self._history_tokens)
        question = Message("user", f"{prompt}\n{added.note}\n" if added.note else prompt, added.stills)
        who = f"r{plan.round}c{plan.slot + 1}"
        completion = await self._spender.ask(
            key,
            "policy",
            [question],
            system=self._system,
            situation=self._situation(plan, history),
            candidate=who,
        )
        answer = _read(completion)
        final = bool(answer.problem and plan.may_end and replies.ceiling(answer.prose))
        if not answer.problem or final or not self._spender.can("repair"):
            return answer, (key,)
        retry = [question, *_once_more(completion, answer)]
        again = f"{key}.again"
        try:
            completion = await self._spender.ask(again, "repair", retry, system=self._system, candidate=who)
        except (ProviderError, BudgetSpentError):
            return answer, (key,)  # what is there is an outcome, though a poor one
        return _read(completion), (key, again)

    def _situation(self, plan: Plan, history: History) -> Situation:
        return Situation(
            observation_space=self._spec.observation_space,
            action_space=self._spec.action_space,
            horizon=self._spec.horizon,
            round=plan.round,
            slot=plan.slot,
            seed=self._config.seed,
            firsts=tuple(self._spec.firsts),
            tried=tuple(
                Tried(a.id, a.candidate.source, a.evaluation.outcome, a.evaluation.score())
                for a in history.attempts
            ),
        )

    async def _repaired(self, attempt: Attempt, key: str, history: History) -> Attempt:
        """Ask for corrections until the candidate runs; one that stays broken loses, the run goes on."""
        if not self._spender.can("repair") or not attempt.candidate.source:
            return attempt
        for n in range(1, self._config.repairs + 1):
            evaluation = attempt.evaluation
            if evaluation.outcome == "ok":
                break
            question = prompting.render(
                "repair",
                subject="policy",
                what=feedback.what_it_did(evaluation),
                source=attempt.candidate.source.strip(),
                error=evaluation.error,
                detail=evaluation.detail[:3000].strip(),
            )
            call = f"{key}.repair{n}"
            try:
                completion = await self._spender.ask(
                    call,
                    "repair",
                    [Message("user", question)],
                    system=self._system,
                    candidate=attempt.id,
                )
            except (ProviderError, BudgetSpentError):
                break
            answer = _read(completion)
            if answer.problem or Program.parse(answer.source).digest == attempt.candidate.digest:
                break  # the same again: another call would not help
            calls = (*attempt.candidate.calls, call)
            candidate = replace(attempt.candidate, source=answer.source, repairs=n, calls=calls)
            try:
                attempt = await self.measurer.measure(candidate, history, prose=attempt.prose)
            except BudgetSpentError:
                break
        return attempt

    async def reflect(self, history: History) -> str:
        """What the model concludes from the winner of the round that is about to end; empty where nobody is asked."""
        round_, ranked = history.rounds + 1, history.ranked()
        places = {one.candidate.digest or one.id: place for place, one in enumerate(ranked)}
        ran = [one for one in history.of_round(round_) if history.runs(one)]
        winner = min(ran, key=lambda one: places[one.candidate.digest or one.id], default=None)
        wanted = self._recipe.reflection and round_ < self._config.budget.rounds
        if winner is None or not wanted or not self._spender.can("reflection"):
            return ""
        others = [attempt for attempt in ranked if attempt.id != winner.id]
        question = prompting.render(
            "reflection",
            title=winner.id,
            code=winner.candidate.source.strip(),
            feedback=winner.feedback,
            earlier=[
                f"{attempt.id}: return {scores.score(history.evidence(attempt))} ({program_summary.idea(attempt, 140)})"
                for attempt in others[:10]
            ],
        )
        try:
            completion = await self._spender.ask(
                f"r{round_}.reflection", "reflection", [Message("user", question)], system=self._system
            )
        except ProviderError:
            return ""
        return completion.text.strip()[:2000]


def _read(completion: Completion) -> answers.Answer:
    cut = completion.finish == "length"
    answer = answers.extract(completion.text, cut=cut)
    return replace(answer, problem="thought") if cut and not completion.text.strip() else answer


def _once_more(completion: Completion, answer: answers.Answer) -> list[Message]:
    shorter = 120 if answer.problem in {"cut", "too_long"} else None
    text = prompting.render("continue", what=ANSWER_PROBLEMS[answer.problem or "no_code"], shorter=shorter)
    said = completion.text.strip()[-4000:] or "(an empty answer)"
    return [Message("assistant", said), Message("user", text)]
