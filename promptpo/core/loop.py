"""Prompted policy optimization: the loop.

A large language model is shown the environment: its source, or the spaces and the reward alone. It writes N policies;
each is rolled out in the sandbox; the best and what happened go into the next prompt; and so on (Prompted Policy
Optimization, 2026). Unlike in the published procedure, the result is the best candidate of the whole run, not the
last, and the number reported comes from test seeds that nothing else ever saw.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace

from promptpo.core.candidate import Attempt
from promptpo.core.control import Control, StopReason, gather, seconds_spent
from promptpo.core.feature import Plan, PlanRound, SearchContext, merge
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
    install: Callable[[SearchContext, Sampler], None],
    tested_so_far: Callable[[Outcome], object],
) -> Outcome:
    """Search for a policy.

    Args:
        context: The task, who asks and rolls out, and what decides the run.
        control: Ends the search from outside.
        plan_round: Plans the requests of a round; supplied by the recipe.
        install: Registers what the run asks for beside the loop.
        tested_so_far: Called with the outcome as soon as the best is tested, before references are.

    Raises:
        ProviderError: The model could not be reached at all and there is nothing to report.
        EnvironmentFaultError: The environment failed, and there is nothing to report.
        RewardFaultError: The reward program failed, and there is nothing to report.
        RunError: The journal cannot be written.
    """
    loop, seconds = _Loop(context, plan_round, install), context.config.budget.seconds
    try:
        stop = await control.until_stopped(loop.run(), seconds) or control.reason
    except TimeoutError:
        stop = seconds_spent(seconds)
    except FAULTS as fault:
        control.fault = fault
        stop = control.obstacle
    await context.work.receive()
    features = loop.sampler.features
    for feature in reversed(
        features
    ):  # references, which are compared with the best, come after what may become it
        await control.finish(feature.conclude(loop.history))
    # Rebuild from the whole journal: it may hold events that an interrupted loop never saw.
    history = History.of(context.journal.events)
    context.journal.follow(history.add)
    history.announce_leader(context.journal)
    products = merge(feature.record_products(history) for feature in features)
    if control.fault and history.best() is None:
        raise control.fault
    return await run_final_test(context, history, control, stop, tested_so_far, features, products)


class _Loop:
    """One search: its parts, and what is known so far.

    `history` follows the journal: whatever is recorded, an attempt, episodes, the end of a round, is in it at once.
    """

    def __init__(
        self, context: SearchContext, plan_round: PlanRound, install: Callable[[SearchContext, Sampler], None]
    ) -> None:
        self.context, self.plan_round, self.history = context, plan_round, History()
        self.sampler = Sampler(context)
        self.features = self.sampler.features
        self.selector = CandidateSelector(context)
        install(context, self.sampler)
        context.journal.follow(self.history.add)

    async def run(self) -> StopReason:
        """Round after round until there is a reason to stop, which is returned."""
        history, stop, unspent = self.history, StopReason(), ""
        recorded = sum(
            1 for _ in self.context.journal.of_kind("round")
        )  # a resumed run may have a lower limit
        rounds = max(recorded, self.context.config.budget.rounds)
        try:
            await self.sampler.measure_initial(history)
            while not stop and history.rounds < rounds:
                stop = await self._round()
            if stop.kind == "model":
                return stop  # the steps are for the rounds that follow when it answers again
            if not history.reaches(self.context.threshold):
                unspent = await self._spend_rest()
        except BudgetSpentError as spent:
            return StopReason(spent.kind, str(spent))
        stop = stop or StopReason(
            "rounds", "the one round is done" if rounds == 1 else f"all {rounds} rounds are done"
        )
        return replace(stop, sentence=f"{stop}{describe_unspent(self.context, history, unspent)}")

    async def _spend_rest(self) -> str:
        """Compare the best of the run, improve the first of them, and compare again; say why steps are left after that."""
        key = f"r{self.history.rounds}.last.{self.context.config.budget.steps}"
        self._catch_up(f"{key}.known", new=self.context.journal.find("decision", key) is None)
        await self.selector.validate_best(self.history)
        known = len(self.history.attempts)
        reasons = [await feature.spend_rest(self.history) for feature in self.features]
        if len(self.history.attempts) > known:
            await self.selector.validate_best(self.history, "tuned")
        return ", and ".join(filter(None, reasons))

    async def _round(self) -> StopReason:
        """One round: plan, ask and measure, improve, validate, record; returns why the search ends with it, if it does."""
        history, before, number = self.history, self.history.best(), self.history.rounds + 1
        plans = await self._begin_round()
        if isinstance(plans, StopReason):
            return plans
        known = replace(history, attempts=[*history.attempts])  # without the answers of this round
        samples = await gather(self.sampler.sample(plan, known) for plan in plans)
        if not self.context.config.published:
            for remark in duplicate_remarks(history.of_round(number)):
                self.context.work.remark(remark)
        stop = sampling_stop_reason(samples, tried=bool(history.attempts))
        if stop:
            # Validate the candidates there are, so that one can be reported; the round stays open for a resume, which
            # may have more of them, so this comparison has a key of its own.
            with contextlib.suppress(BudgetSpentError):
                new = self._round_attempts()
                await self.selector.validate_round(history, new, number, part=f".only{len(new)}")
            return stop
        await self._improve_and_validate()
        reflection = await self.context.writer.reflect(history)
        said = merge(feature.summarize_round(history) for feature in self.features)
        record_round(self.context, history, samples, before, reflection, said)
        return early_stop_reason(self.context, history)

    def _round_attempts(self) -> list[Attempt]:
        """The round's candidates; what the user gave is improved and judged with the first."""
        history = self.history
        return [*([] if history.rounds else history.of_round(0)), *history.of_round(history.rounds + 1)]

    async def _begin_round(self) -> list[Plan] | StopReason:
        """Plan the round's requests; none if a policy of the user's reached the threshold in training and is validated first.

        Where something new would be asked, returns instead why it is not worth it.
        """
        history, number = self.history, self.history.rounds + 1
        await self.sampler.prepare_round(number, history)
        asks = self.sampler.asks_in(number)
        if self._catch_up(f"r{number}.known", new=asks) and asks:
            stop = early_stop_reason(self.context, history)
            if stop:
                return stop
        hopeful = number == 1 and history.may_reach(self.context.threshold, history.of_round(0))
        if asks and not hopeful and not pays_for_one(self.context, history):
            steps = self.context.config.budget.steps or 0
            why = f"too few of the {steps:,} environment steps are left to try another policy"
            return StopReason("steps", why)
        candidates = self.sampler.begin_round(history)
        return [] if hopeful else self.plan_round(self.context, history, candidates)

    def _catch_up(self, key: str, *, new: bool) -> bool:
        """Learn what was tuned beside the rounds, at the places where the run has learnt it; returns whether there was something.

        Args:
            key: Of the decisions that say how many events are known there.
            new: Whether new work begins, before which all is to be known.
        """
        journal, n = self.context.journal, 1
        while (end := journal.find("decision", f"{key}{n}")) is not None:
            journal.catch_up(end)
            n += 1
        if new and journal.catch_up(len(journal.events)):
            journal.once("decision", f"{key}{n}", lambda: len(journal.events))
            n += 1
        return n > 1

    async def _improve_and_validate(self) -> None:
        """Improve a round's candidates, then validate; where one may reach the threshold as it is, validate first."""
        history, threshold, number = self.history, self.context.threshold, self.history.rounds + 1
        new = self._round_attempts()
        hopeful = history.may_reach(threshold, new)
        if not hopeful:
            await self._improve(new)
        await self.selector.validate_round(history, self._round_attempts(), number)
        if hopeful and not history.reaches(threshold):  # it was luck, and the steps are still there
            await self.selector.validate_round(history, await self._improve(new), number, part=".tuned")

    async def _improve(self, attempts: Sequence[Attempt]) -> list[Attempt]:
        """Let features improve a round's candidates; returns the better versions."""
        return [
            better for feature in self.features for better in await feature.improve(self.history, attempts)
        ]
