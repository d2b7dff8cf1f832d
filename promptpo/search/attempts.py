"""Trying candidates out: ask, read the answer, roll out, summarise, repair, tune, validate.

A `Laboratory` is made of a `Caller` and an `Arena`; both look into the journal before they spend
anything, so a resumed run passes through here without paying twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from promptpo.envs.spaces import form_of
from promptpo.errors import BudgetSpentError, ProviderError
from promptpo.llm.base import Completion, FatalProviderError, Message, Situation, Tried
from promptpo.program import answers
from promptpo.run.calls import Caller
from promptpo.run.records import Attempt, Candidate, Evaluation, Measured
from promptpo.search.arena import Arena
from promptpo.search.population import History, Plan, runs
from promptpo.search.tuning import Start, lift_constants, read_params, read_table, unlift_constants
from promptpo.search.tuning.split import Round, tuning_steps
from promptpo.telling import feedback, prompting
from promptpo.telling.summaries import Summariser

if TYPE_CHECKING:
    from promptpo.llm.base import LLM
    from promptpo.rollouts import Executor
    from promptpo.run.config import Config
    from promptpo.run.journal import Journal
    from promptpo.run.ledger import Ledger
    from promptpo.spec import TaskSpec

UNBOUNDED_HORIZON = 10_000
"""Steps after which an episode of an environment without a horizon is truncated."""

ANSWER_PROBLEMS = {
    "empty": "was empty",
    "cut": "was cut off before the code was complete",
    "no_code": "had no Python module with a class Policy in it",
    "too_long": "had a module of more than 100,000 bytes",
}


class Laboratory:
    """Runs the experiments of one run.

    Args:
        spec: What the model is told about the task.
        llm: Who answers.
        executor: Where rollouts run.
        config: What decides the run.
        journal: Where everything is written first.
        ledger: What may still be spent.
    """

    def __init__(
        self, spec: TaskSpec, llm: LLM, executor: Executor, config: Config, journal: Journal, ledger: Ledger
    ) -> None:
        self.spec, self.config, self.recipe = spec, config, config.switches
        self._journal, self._ledger = journal, ledger
        system = prompting.system_prompt(
            spec=spec.text,
            horizon=spec.horizon,
            success=spec.reports_success,
            tune=self.recipe.tune and config.tune != "none",
            clips=config.clip_actions,
            observation=form_of(spec.observation_space),
            action=form_of(spec.action_space),
        )
        self.caller = Caller(llm, system, config, journal, ledger)
        self.arena = Arena(executor, spec.horizon or UNBOUNDED_HORIZON, config, journal, ledger)
        self._summariser = Summariser(self.caller, executor, self.recipe, repairs=config.repairs)
        self._history_tokens = max(1000, config.max_prompt_tokens - prompting.tokens(system))
        self._running: dict[str, asyncio.Task[Measured]] = {}

    @property
    def threshold(self) -> float | None:
        """The return at which the run may stop: the user's, or the environment's registered one."""
        return self.config.stop_at if self.config.stop_at is not None else self.spec.reward_threshold

    async def prepare(self) -> None:
        """Have the model write its feedback class, where the recipe asks for one."""
        await self._summariser.prepare()

    async def try_out(self, plan: Plan, history: History) -> Attempt | str:
        """One sample of a round: ask, read, roll out, and repair what is broken.

        Returns:
            The attempt, or a sentence about why the provider gave no answer.
        """
        key = f"r{plan.round}.c{plan.slot + 1}"
        complete = self._journal.find("round", f"r{plan.round}")
        if complete is not None and str(plan.slot) in complete["unanswered"]:
            return str(complete["unanswered"][str(plan.slot)])  # later rounds were decided without it
        try:
            answer = await self._answer(key, plan, history)
        except FatalProviderError:
            raise  # the search ends when the others are done
        except ProviderError as error:
            return str(error)
        parents = tuple(parent.id for parent in plan.parents)
        candidate = Candidate(f"r{plan.round}c{plan.slot + 1}", answer.source, plan.round, parents=parents)
        attempt = await self._measure(candidate, history, prose=answer.prose, problem=answer.problem)
        return self._recorded(await self._repaired(attempt, key, history))

    async def _answer(self, key: str, plan: Plan, history: History) -> answers.Answer:
        """Ask for a policy; once more where the answer is empty, cut off or without code."""
        lines = [feedback.one_line(attempt) for attempt in plan.lines]
        prompt = prompting.policy_prompt(plan, lines, max_tokens=self._history_tokens)
        question = Message("user", prompt)
        completion = await self.caller.ask(key, "policy", [question], self._situation(plan, history))
        answer = _read(completion)
        if answer.problem and self.caller.can("repair"):
            retry = [question, *_once_more(completion, answer)]
            answer = _read(await self.caller.ask(f"{key}.again", "repair", retry))
        return answer

    def _situation(self, plan: Plan, history: History) -> Situation:
        return Situation(
            observation_space=self.spec.observation_space,
            action_space=self.spec.action_space,
            horizon=self.spec.horizon,
            round=plan.round,
            slot=plan.slot,
            seed=self.config.seed,
            tried=tuple(
                Tried(a.id, a.candidate.source, a.evaluation.outcome, a.evaluation.score())
                for a in history.attempts
            ),
        )

    async def _measure(
        self,
        candidate: Candidate,
        history: History,
        *,
        prose: str = "",
        problem: str | None = None,
        notes: tuple[str, ...] = (),
    ) -> Attempt:
        """Roll a candidate out on training seeds, or recognise it as one that already was."""
        if problem:
            evaluation = Evaluation("rejected", (), 0, error=f"the answer {ANSWER_PROBLEMS[problem]}.")
            return Attempt(candidate, evaluation, feedback.aggregate(evaluation), prose, notes)
        digest = answers.digest(candidate.source)
        candidate = replace(candidate, digest=digest)
        if self.recipe.duplicates:
            for earlier in history.attempts:
                if earlier.candidate.digest == digest:
                    twin = replace(candidate, duplicate_of=earlier.candidate.duplicate_of or earlier.id)
                    return Attempt(twin, earlier.evaluation, earlier.feedback, prose, notes)
        name = (
            f"{digest}.r{candidate.round}"
            if self.recipe.duplicates
            else f"{candidate.id}.{candidate.repairs}"
        )
        if name not in self._running:  # samples with the same program in one round share one rollout
            best = history.best()
            bar = best.evaluation.episodes if best is not None else ()
            rollout = self.arena.train(name, candidate.source, bar=bar, summarise=self._summariser.summarise)
            self._running[name] = asyncio.ensure_future(rollout)
        measured = await self._running[name]
        return Attempt(candidate, measured.evaluation, measured.feedback, prose, notes)

    async def _repaired(self, attempt: Attempt, key: str, history: History) -> Attempt:
        """Ask for corrections until the candidate runs; one that stays broken loses, the run goes on."""
        if not self.caller.can("repair") or not attempt.candidate.source:
            return attempt
        for n in range(1, self.config.repairs + 1):
            evaluation = attempt.evaluation
            if evaluation.outcome == "ok":
                break
            question = prompting.render(
                "repair",
                what=feedback.OUTCOME_WORDS[evaluation.outcome],
                source=attempt.candidate.source.strip(),
                error=evaluation.error,
                detail=evaluation.detail[:3000],
            )
            try:
                completion = await self.caller.ask(f"{key}.repair{n}", "repair", [Message("user", question)])
            except (ProviderError, BudgetSpentError):
                break
            answer = _read(completion)
            if answer.problem or answers.digest(answer.source) == attempt.candidate.digest:
                break  # the same again: another call would not help
            candidate = replace(attempt.candidate, source=answer.source, repairs=n)
            attempt = await self._measure(candidate, history, prose=attempt.prose)
        return attempt

    def _recorded(self, attempt: Attempt) -> Attempt:
        if self._journal.find("attempt", attempt.id) is None:
            self._journal.add("attempt", attempt.id, attempt)
        return attempt

    async def tune(self, history: History, attempts: Sequence[Attempt], rounds_left: int) -> list[Attempt]:
        """Tune the numbers of the round's candidates that have any, and measure what came out."""
        # What the library writes is ordered by promise; its numbers, not chosen yet, say nothing.
        chosen = self.caller.llm.language_model
        starts = [
            Start(a.id, self._with_params(a.candidate.source), a.evaluation.mean_return)
            for a in (sorted(attempts, key=Attempt.rank, reverse=True) if chosen else attempts)
            if runs(a) and not a.candidate.duplicate_of
        ]
        starts = [s for s in starts if read_params(s.source) or read_table(s.source) is not None]
        round_ = attempts[0].candidate.round

        async def decide() -> int:
            return self._steps_for_tuning(attempts, rounds_left)

        steps = await self._journal.once("decision", f"r{round_}.tuning_steps", decide, int)
        if not starts or steps <= 0 or self.config.tune == "none" or not self.recipe.tune:
            return []
        by_id = {attempt.id: attempt for attempt in attempts}
        measured = []
        for tuned in await self.arena.tune(round_, starts, steps, self.threshold):
            parent = by_id[tuned.id]
            source = tuned.source
            if self.config.lift_constants and not read_params(parent.candidate.source):
                source = unlift_constants(source)
            if source == parent.candidate.source:
                continue
            candidate = replace(
                parent.candidate,
                id=f"{parent.id}t",
                source=source,
                parents=(parent.id,),
                tuned=dict(tuned.changes),
            )
            attempt = await self._measure(candidate, history, prose=parent.prose, notes=tuned.notes)
            measured.append(self._recorded(attempt))
        return measured

    def _with_params(self, source: str) -> str:
        """The source to tune: with its literals as PARAMS where it declares none and the user wants that."""
        return lift_constants(source) if self.config.lift_constants else source

    def _steps_for_tuning(self, attempts: Sequence[Attempt], rounds_left: int) -> int:
        """This round's part of the budget for tuning."""
        lengths = [episode.steps for attempt in attempts for episode in attempt.evaluation.episodes]
        episodes = self.config.train_episodes + self.recipe.validate * self.config.score_episodes
        longest = self.spec.horizon or 2 * max(lengths, default=0)
        round_ = Round(
            number=attempts[0].candidate.round,
            left=rounds_left,
            lengths=lengths,
            measuring=episodes * longest,
            language_model=self.caller.llm.language_model,
        )
        return tuning_steps(round_, self._ledger.steps_left())

    def may_be_solved(self, attempts: Sequence[Attempt]) -> bool:
        """Whether a candidate reached the threshold in training, so that validating comes before tuning."""
        return self.threshold is not None and any(
            runs(attempt) and attempt.evaluation.mean_return >= self.threshold for attempt in attempts
        )

    async def validate(self, attempts: Sequence[Attempt], history: History) -> None:
        """Score the best of these on validation seeds and put the scores into the history."""
        promising = sorted(filter(runs, attempts), key=Attempt.rank, reverse=True)
        for attempt in promising[: self.recipe.validate]:
            if attempt.id not in history.validations:
                history.validations[attempt.id] = await self.arena.validate(attempt.candidate.source)

    async def reflect(self, history: History, winner: Attempt) -> str:
        """What the model concludes from the round's winner; empty where nobody can be asked."""
        if not self.recipe.reflection or not self.caller.can("reflection"):
            return ""
        question = prompting.render(
            "reflection",
            title=winner.id,
            code=winner.candidate.source.strip(),
            feedback=winner.feedback,
            earlier=[feedback.one_line(attempt) for attempt in history.ranked() if attempt.id != winner.id][
                :10
            ],
        )
        try:
            completion = await self.caller.ask(
                f"r{winner.candidate.round}.reflection", "reflection", [Message("user", question)]
            )
        except ProviderError:
            return ""
        return completion.text.strip()[:2000]


def _read(completion: Completion) -> answers.Answer:
    return answers.extract(completion.text, cut=completion.finish == "length")


def _once_more(completion: Completion, answer: answers.Answer) -> list[Message]:
    shorter = 120 if answer.problem in {"cut", "too_long"} else None
    text = prompting.render("continue", what=ANSWER_PROBLEMS[answer.problem or "no_code"], shorter=shorter)
    said = completion.text.strip()[-4000:] or "(an empty answer)"
    return [Message("assistant", said), Message("user", text)]
