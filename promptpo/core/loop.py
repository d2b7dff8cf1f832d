"""Prompted policy optimization: the loop.

A large language model is shown the environment: its source, or the spaces and the reward alone. It writes N policies;
each is rolled out in the sandbox; the best and what happened go into the next prompt; and so on (Prompted Policy
Optimization, 2026). Unlike in the published procedure, the result is the best candidate of the whole run, not the
last, and its reported score comes from test seeds that are used for nothing else.

Three disjoint sets of seeds are used. Every candidate plays the training seeds, which makes it an *attempt*. The most
promising attempts play validation seeds as well, and the model of returns (`core/returns.py`) estimates from both which
is best. The best plays the test seeds. A task is *solved* if the best reaches the threshold in training and validation.

These are the stages of a run, each with the methods of features (`core/feature.py`) that it calls; the sampler calls
those of the first two:

1. `start`: the user's own policies are measured as round 0, and validated if one may solve the task.
2. `before_round`: the recipe plans the requests of a round. Each answer is measured, and repaired if it fails.
3. `improve`: features improve candidates, for example by tuning numbers. Improved versions are attempts of the same
   round. Then the best are validated. If one may already solve the task, it is validated before anything is improved.
4. `summarize_round`: the round is recorded. Stages 2 to 4 repeat until there is a reason to stop.
5. `spend_rest`: the remaining steps go to validating and improving the best of the run, unless the task is solved, a
   limit is reached or the model cannot be reached.
6. `conclude`, `record_products`, `test_beside`, `inspect`: the best is tested, and compared with reference policies such
   as random actions. A search that was interrupted, or failed, ends with this stage as well.

Every answer, rollout and decision is recorded in the journal under a key before it is used. A resumed run follows the
same procedure: it reads what is recorded and does the rest.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from promptpo.core.candidate import Attempt
from promptpo.core.control import Control, StopReason, gather, seconds_spent
from promptpo.core.feature import PlanRound, SearchContext, merge
from promptpo.core.final_test import Outcome, run_final_test
from promptpo.core.history import History, duplicate_remarks
from promptpo.core.sample import Sampler, pays_for_one, sampling_stop_reason
from promptpo.core.select import CandidateSelector
from promptpo.core.stop import describe_unspent, early_stop_reason, record_round
from promptpo.errors import FAULTS, BudgetSpentError

InstallFeatures: TypeAlias = Callable[[SearchContext, Sampler], None]


async def optimize(
    context: SearchContext,
    control: Control,
    *,
    plan_round: PlanRound,
    install_features: InstallFeatures,
    tested_so_far: Callable[[Outcome], object],
) -> Outcome:
    """Search for a policy, and test the best.

    Args:
        context: Task, configuration, model and rollouts.
        control: Stops the search from outside.
        plan_round: Plans the requests of a round; supplied by the recipe.
        install_features: Adds the features that the configuration turns on to the sampler.
        tested_so_far: Called with the outcome as soon as the best is tested, before the references are.

    Returns:
        The best candidate and its test, even after an interruption; no candidate if none ran.

    Raises:
        ProviderError: The model could not be reached, and no candidate ran.
        EnvironmentFaultError: The environment failed, and no candidate ran.
        RewardFaultError: The reward program failed, and no candidate ran.
        RunError: The journal cannot be written.
    """
    loop, seconds = _Loop(context, plan_round, install_features), context.config.budget.seconds
    try:
        stop = await control.until_stopped(loop.run(), seconds) or control.reason
    except TimeoutError:
        stop = seconds_spent(seconds)
    except FAULTS as fault:
        control.fault = fault
        stop = control.reason_or_fault
    await context.work.receive_answers()
    # In reverse, so that tuning, which is installed last, concludes before random and constant actions are compared with its best.
    for feature in reversed(loop.features):
        await control.finish(feature.conclude(loop.history, stopped=bool(control.reason)))
    # The loop's history lacks recorded events that a resumed run, if it is interrupted again, has not reached; this one has all.
    history = History.of(context.journal.events)
    context.journal.follow(history.add)
    history.announce_leader(context.journal)
    products = merge(feature.record_products(history) for feature in loop.features)
    if control.fault and history.best() is None:
        raise control.fault
    return await run_final_test(context, history, control, stop, tested_so_far, loop.features, products)


class _Loop:
    """One search, whose history has each attempt, validation and round once it is recorded or, in a resumed run, read."""

    def __init__(
        self, context: SearchContext, plan_round: PlanRound, install_features: InstallFeatures
    ) -> None:
        self.context, self.plan_round, self.history = context, plan_round, History()
        self.sampler, self.selector = Sampler(context), CandidateSelector(context)
        install_features(context, self.sampler)
        self.features = self.sampler.features
        context.journal.follow(self.history.add)

    async def run(self) -> StopReason:
        """Run round after round; return why the search ends."""
        history, unspent = self.history, ""
        # A resumed run reads all recorded rounds, even if the limit is lower now.
        recorded = sum(1 for _ in self.context.journal.of_kind("round"))
        rounds = max(recorded, self.context.config.budget.rounds)
        try:
            await self.sampler.measure_initial(history)
            stop = await self._validate_initial()
            while not stop and history.rounds < rounds:
                stop = await self._round()
            if stop and stop.kind == "model":
                return stop  # keep the remaining steps for a resumed run, when the model answers again
            if not history.reaches(self.context.threshold):
                unspent = await self._spend_rest()
        except BudgetSpentError as spent:
            return StopReason(spent.kind, str(spent))
        done = "the one round is done" if rounds == 1 else f"all {rounds} rounds are done"
        stop = stop or StopReason("rounds", done)
        return replace(stop, sentence=f"{stop}{describe_unspent(self.context, history, unspent)}")

    async def _validate_initial(self) -> StopReason | None:
        """Validate the user's own policies if one may solve the task; return a reason to stop if one does."""
        history, threshold, given = self.history, self.context.threshold, self.history.of_round(0)
        if history.reaches_in_training(threshold, given):
            await self.selector.validate_round(history, given, 1, part=".given")
        return early_stop_reason(self.context, history) if history.reaches(threshold) else None

    async def _round(self) -> StopReason | None:
        """Sample, improve, validate and record one round; return the reason to stop, None to go on."""
        history, best_before = self.history, self.history.best()
        number = history.rounds + 1
        await self.sampler.prepare_round(number, history)
        if stop := self._reason_to_stop_before(number):
            return stop
        plans = self.plan_round(self.context, history, self.sampler.begin_round(history))
        snapshot = replace(history, attempts=[*history.attempts])  # so that samples do not see each other
        samples = await gather(self.sampler.sample(plan, snapshot) for plan in plans)
        if not self.context.config.follows_paper:  # the paper rolls out duplicates like other programs
            for remark in duplicate_remarks(history.of_round(number)):
                self.context.work.remark(remark)
        if stop := sampling_stop_reason(samples, tried=bool(history.attempts)):
            # Validate the candidates there are, so that one can be reported. The round stays open: a resumed run may
            # add candidates, so this comparison has its own key.
            with contextlib.suppress(BudgetSpentError):
                new = self._new_attempts()
                await self.selector.validate_round(history, new, number, part=f".only{len(new)}")
            return stop
        await self._improve_and_validate()
        reflection = await self.context.writer.reflect(history)
        summaries = merge(feature.summarize_round(history) for feature in self.features)
        record_round(self.context, history, samples, best_before, reflection, summaries)
        return early_stop_reason(self.context, history)

    def _reason_to_stop_before(self, number: int) -> StopReason | None:
        """Return the reason not to begin a round; None to begin it, as always if all its requests are already answered.

        First the history takes in what an interrupted process recorded after its last round, such as results of its tuning. If
        the model would be asked next, those results may end the search.
        """
        asks = self.sampler.has_unanswered(number)
        learnt = self.context.journal.follow_late_results(f"r{number}", new_work=asks)
        if not asks:
            return None
        if learnt and (stop := early_stop_reason(self.context, self.history)):
            return stop
        if pays_for_one(self.context, self.history):
            return None
        steps = f"{self.context.config.budget.steps:,}"
        return StopReason("steps", f"too few of the {steps} environment steps are left to try another policy")

    def _new_attempts(self) -> list[Attempt]:
        """Return the round's attempts; the first round includes the user's own policies."""
        history = self.history
        return [*([] if history.rounds else history.of_round(0)), *history.of_round(history.rounds + 1)]

    async def _improve_and_validate(self) -> None:
        """Improve the round's candidates, then validate; validate first if one may reach the threshold as written."""
        history, threshold = self.history, self.context.threshold
        number, new = history.rounds + 1, self._new_attempts()
        may_solve = history.reaches_in_training(threshold, new)
        if not may_solve:
            await self._improve(new)
        await self.selector.validate_round(history, self._new_attempts(), number)
        if may_solve and not history.reaches(threshold):  # it was luck: improve after all
            improved = await self._improve(new)
            await self.selector.validate_round(history, improved, number, part=".tuned")

    async def _improve(self, attempts: Sequence[Attempt]) -> list[Attempt]:
        """Let features improve candidates; return the improved versions, which are recorded."""
        return [
            better for feature in self.features for better in await feature.improve(self.history, attempts)
        ]

    async def _spend_rest(self) -> str:
        """Validate the best of the run, let features improve it, and validate again; return why steps remain unspent."""
        history, journal = self.history, self.context.journal
        # The limit is part of the keys: a resumed run with a higher limit spends more.
        limit = self.context.config.budget.steps
        key = f"r{history.rounds}.last.{limit}"
        journal.follow_late_results(key, new_work=journal.find("decision", key) is None)
        await self.selector.validate_run(history, key)
        before = len(history.attempts)
        reasons = [await feature.spend_rest(history) for feature in self.features]
        if len(history.attempts) > before:
            await self.selector.validate_run(history, f"r{history.rounds}.tuned.{limit}")
        return ", and ".join(filter(None, reasons))
