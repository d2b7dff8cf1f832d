"""Prompted policy optimization: the loop.

A large language model is shown the environment: its source, or the spaces and the reward alone. It writes N policies;
each is rolled out in the sandbox; the best and what happened go into the next prompt; and so on (Prompted Policy
Optimization, 2026). Unlike in the published procedure, the result is the best candidate of the whole run, not the
last, and the number reported comes from test seeds that nothing else ever saw.

An *attempt* is a candidate with its returns on training seeds, which are the same for all. The best attempts are
*validated* on fresh seeds, and all these episodes together decide which candidate is best (`History.best`). *Features*
extend the loop at fixed points; tuning is one (`core/feature.py`). Every answer and every rollout is in the journal
before it is used, so a run is resumed by this same procedure: recorded work is read, the rest is done.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace

from promptpo.core.candidate import Attempt
from promptpo.core.control import Control, StopReason, gather, seconds_spent
from promptpo.core.feature import PlanRound, SearchContext, merge
from promptpo.core.held_out import Outcome, run_final_test
from promptpo.core.history import History, duplicate_remarks
from promptpo.core.sample import Sampler, pays_for_one, sampling_stop_reason
from promptpo.core.select import CandidateSelector
from promptpo.core.stop import describe_unspent, early_stop_reason, record_round
from promptpo.errors import FAULTS, BudgetSpentError


async def optimize(
    context: SearchContext,
    control: Control,
    *,
    plan_round: PlanRound,
    install_features: Callable[[SearchContext, Sampler], None],
    tested_so_far: Callable[[Outcome], object],
) -> Outcome:
    """Search for a policy, and test the best.

    Args:
        context: The task, who asks and rolls out, and what decides the run.
        control: Ends the search from outside.
        plan_round: Plans the requests of a round; supplied by the recipe.
        install_features: Adds to the sampler the features that the configuration turns on.
        tested_so_far: Called with the outcome as soon as the best is tested, before references are.

    Returns:
        The best candidate and its test, also where the search was interrupted; no candidate where none ran.

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
    # In reverse: tuning records its best first, then references are measured, which compare with the best.
    for feature in reversed(loop.features):
        await control.finish(feature.conclude(loop.history))
    # Rebuild from the whole journal: it may hold events that an interrupted loop never saw.
    history = History.of(context.journal.events)
    context.journal.follow(history.add)
    history.announce_leader(context.journal)
    products = merge(feature.record_products(history) for feature in loop.features)
    if control.fault and history.best() is None:
        raise control.fault
    return await run_final_test(context, history, control, stop, tested_so_far, loop.features, products)


class _Loop:
    """One search: its parts, and what is known so far.

    `history` follows the journal: an attempt, episodes or the end of a round is in it as soon as the loop records it or,
    when a run is resumed, comes to it again.
    """

    def __init__(
        self,
        context: SearchContext,
        plan_round: PlanRound,
        install_features: Callable[[SearchContext, Sampler], None],
    ) -> None:
        self.context, self.plan_round, self.history = context, plan_round, History()
        self.sampler, self.selector = Sampler(context), CandidateSelector(context)
        install_features(context, self.sampler)
        self.features = self.sampler.features
        context.journal.follow(self.history.add)

    async def run(self) -> StopReason:
        """Run round after round until there is a reason to stop, which is returned."""
        history, unspent = self.history, ""
        # A resumed run comes to all recorded rounds, even if its limit is lower now.
        recorded = sum(1 for _ in self.context.journal.of_kind("round"))
        rounds = max(recorded, self.context.config.budget.rounds)
        try:
            await self.sampler.measure_initial(history)
            stop = await self._validate_initial()
            while not stop and history.rounds < rounds:
                stop = await self._round()
            if stop.kind == "model":
                return stop  # the steps that are left are for a resumed run, whose model answers again
            if not history.reaches(self.context.threshold):
                unspent = await self._spend_rest()
        except BudgetSpentError as spent:
            return StopReason(spent.kind, str(spent))
        stop = stop or StopReason(
            "rounds", "the one round is done" if rounds == 1 else f"all {rounds} rounds are done"
        )
        return replace(stop, sentence=f"{stop}{describe_unspent(self.context, history, unspent)}")

    async def _validate_initial(self) -> StopReason:
        """Validate the user's own policies if one may solve the task, so that nobody is asked where it does."""
        history, threshold, given = self.history, self.context.threshold, self.history.of_round(0)
        if history.reaches_in_training(threshold, given):
            await self.selector.validate_round(history, given, 1, part=".given")
        return early_stop_reason(self.context, history) if history.reaches(threshold) else StopReason()

    async def _round(self) -> StopReason:
        """One round: ask and measure, improve, validate, record; returns why the search ends with it, if it does."""
        history, best_before = self.history, self.history.best()
        number = history.rounds + 1
        await self.sampler.prepare_round(number, history)
        stop = self._reason_to_stop_before(number)
        if stop:
            return stop
        plans = self.plan_round(self.context, history, self.sampler.begin_round(history))
        snapshot = replace(history, attempts=[*history.attempts])  # samples do not see each other's answers
        samples = await gather(self.sampler.sample(plan, snapshot) for plan in plans)
        if not self.context.config.published:
            for remark in duplicate_remarks(history.of_round(number)):
                self.context.work.remark(remark)
        stop = sampling_stop_reason(samples, tried=bool(history.attempts))
        if stop:
            # Validate the candidates there are, so that one can be reported; the round stays open for a resume, which
            # may have more of them, so this comparison has a key of its own.
            with contextlib.suppress(BudgetSpentError):
                new = self._new_attempts()
                await self.selector.validate_round(history, new, number, part=f".only{len(new)}")
            return stop
        await self._improve_and_validate()
        reflection = await self.context.writer.reflect(history)
        summaries = merge(feature.summarize_round(history) for feature in self.features)
        record_round(self.context, history, samples, best_before, reflection, summaries)
        return early_stop_reason(self.context, history)

    def _reason_to_stop_before(self, number: int) -> StopReason:
        """Why a round is not begun: tuning that an interrupted process recorded solves the task, or too few steps are left.

        There is no reason where everything that the round requests is answered.
        """
        asks = self.sampler.has_unanswered(number)
        learnt = self.context.journal.catch_up(f"r{number}", new_work=asks)
        if not asks:
            return StopReason()
        if learnt and (stop := early_stop_reason(self.context, self.history)):
            return stop
        if pays_for_one(self.context, self.history):
            return StopReason()
        steps = self.context.config.budget.steps
        return StopReason(
            "steps", f"too few of the {steps:,} environment steps are left to try another policy"
        )

    def _new_attempts(self) -> list[Attempt]:
        """The round's candidates; the user's own are improved and validated with the first."""
        history = self.history
        return [*([] if history.rounds else history.of_round(0)), *history.of_round(history.rounds + 1)]

    async def _improve_and_validate(self) -> None:
        """Improve a round's candidates, then validate; where one may reach the threshold as it is, validate first."""
        history, threshold = self.history, self.context.threshold
        number, new = history.rounds + 1, self._new_attempts()
        hopeful = history.reaches_in_training(threshold, new)
        if not hopeful:
            await self._improve(new)
        await self.selector.validate_round(history, self._new_attempts(), number)
        if hopeful and not history.reaches(threshold):  # it was luck, and the steps are still there
            await self.selector.validate_round(history, await self._improve(new), number, part=".tuned")

    async def _improve(self, attempts: Sequence[Attempt]) -> list[Attempt]:
        """Let features record better versions of some candidates; returns these."""
        return [
            better for feature in self.features for better in await feature.improve(self.history, attempts)
        ]

    async def _spend_rest(self) -> str:
        """Validate the best of the run, let features improve it, and validate again; returns why steps are left after that."""
        history, journal = self.history, self.context.journal
        key = f"r{history.rounds}.last.{self.context.config.budget.steps}"
        journal.catch_up(key, new_work=journal.find("decision", key) is None)
        await self.selector.validate_best(history)
        before = len(history.attempts)
        reasons = [await feature.spend_rest(history) for feature in self.features]
        if len(history.attempts) > before:
            await self.selector.validate_best(history, "tuned")
        return ", and ".join(filter(None, reasons))
