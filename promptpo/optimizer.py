"""Prompted policy optimization: the loop.

A large language model is shown what a policy sees, does and is rewarded for, never the dynamics. It
writes N policies; each is rolled out in the sandbox; the best of them and what happened go into the next
prompt; and so on (Prompted Policy Optimization, 2026). Three things differ from the published procedure
in every recipe: the result is the best candidate of the whole run by validation seeds, not the last; the
number reported comes from test seeds that nothing else ever saw; and numbers declared in ``PARAMS`` are
tuned by CMA-ES between rounds. What is asked for in each round is decided in `promptpo.search.population`, how
a candidate is tried out in `promptpo.search.attempts`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from promptpo.errors import BudgetSpentError, FatalProviderError, ProviderError
from promptpo.run.control import together
from promptpo.run.records import Attempt, Evaluation
from promptpo.search.attempts import Laboratory
from promptpo.search.population import History, Plan, plan_round, runs

if TYPE_CHECKING:
    from promptpo.llm.base import LLM
    from promptpo.rollouts import Executor
    from promptpo.run.config import Config
    from promptpo.run.control import Control
    from promptpo.run.journal import Journal
    from promptpo.run.ledger import Ledger
    from promptpo.spec import TaskSpec

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a search ended.

    Attributes:
        history: All attempts and their validation scores.
        best: The best of the run by validation; None when nothing ran.
        test: Its score on held-out test seeds.
        stop: Why it ended, as a sentence without a full stop.
    """

    history: History
    best: Attempt | None
    test: Evaluation | None
    stop: str


async def optimize(
    spec: TaskSpec,
    *,
    llm: LLM,
    executor: Executor,
    config: Config,
    journal: Journal,
    ledger: Ledger,
    control: Control,
    observe: Callable[[History], None] = lambda _: None,
) -> Outcome:
    """Search for a policy.

    Args:
        spec: What the model is told, and the spaces.
        llm: Who writes the policies.
        executor: Where they are rolled out.
        config: What decides the run.
        journal: Everything is written there first; a journal with events in it is a run to be resumed.
        ledger: The budget.
        control: Ends the search from outside.
        observe: Called after every attempt and round.

    Raises:
        ProviderError: The model could not be reached at all and there is nothing to report.
        EnvironmentFaultError: The environment failed.
        RunError: The journal cannot be written.
    """
    laboratory = Laboratory(spec, llm, executor, config, journal, ledger)
    history = History()
    search = asyncio.ensure_future(_rounds(laboratory, history, config, journal, observe))
    control.watch(search)
    try:
        stop = await asyncio.wait_for(search, ledger.seconds_left)
    except BudgetSpentError as spent:
        stop = str(spent)
    except FatalProviderError as error:
        if not (history.attempts or history.arrived):
            raise
        stop = f"the model no longer answers: {str(error).rstrip('.')}"
    except TimeoutError:
        stop = f"the limit of {config.budget.seconds:g} seconds is reached"
    except asyncio.CancelledError:
        if not control.reason:
            raise
        stop = control.reason
    best = await _best(laboratory, history)
    test = await laboratory.arena.test(best.candidate.source) if best else None
    return Outcome(history, best, test, stop)


async def _rounds(
    laboratory: Laboratory,
    history: History,
    config: Config,
    journal: Journal,
    observe: Callable[[History], None],
) -> str:
    """Round after round until there is a reason to stop, which is returned."""
    await laboratory.prepare()
    while history.rounds < config.budget.rounds:
        before = history.best_validation()
        plans = plan_round(history, config.switches, candidates=config.candidates, seed=config.seed)
        tried = await together(_try_out(laboratory, plan, history, observe) for plan in plans)
        for reason in tried:
            if isinstance(reason, FatalProviderError):
                raise reason  # now that what was answered, and paid for, has been tried out
        unanswered = {str(plan.slot): str(why) for plan, why in zip(plans, tried, strict=True) if why}
        attempts = history.absorb()
        if not attempts:
            if not history.attempts:
                raise ProviderError(unanswered["0"])
            return f"the model no longer answers: {unanswered['0'].rstrip('.')}"
        if laboratory.may_be_solved(attempts):
            await laboratory.validate(attempts, history)
        if not _solved(history, laboratory.threshold):
            rounds_left = config.budget.rounds - history.rounds
            history.attempts.extend(await laboratory.tune(history, attempts, rounds_left))
            await laboratory.validate(history.of_round(history.rounds + 1), history)
        solved = _solved(history, laboratory.threshold)
        winner = max(
            (a for a in history.of_round(history.rounds + 1) if runs(a)), key=Attempt.rank, default=None
        )
        if winner is not None and not solved:
            history.reflection = await laboratory.reflect(history, winner)
        history.rounds += 1
        after = history.best_validation()
        history.stalled = 0 if _better(after, before) else history.stalled + 1
        _note_round(journal, history, unanswered)
        observe(history)
        if solved:
            return f"solved: the validation mean return reached {laboratory.threshold:g}"
    rounds = config.budget.rounds
    return "the one round is done" if rounds == 1 else f"all {rounds} rounds are done"


async def _try_out(
    laboratory: Laboratory, plan: Plan, history: History, observe: Callable[[History], None]
) -> str | FatalProviderError:
    """Put the attempt of one sample into the history; returns why there is none, if so."""
    try:
        attempt = await laboratory.try_out(plan, history)
    except FatalProviderError as error:
        return error
    if isinstance(attempt, str):
        return attempt
    history.arrived[plan.slot] = attempt
    observe(history)
    return ""


async def _best(laboratory: Laboratory, history: History) -> Attempt | None:
    """The best of the run; a search that ended early may still have to validate what it has."""
    history.absorb()
    unfinished = [a for a in history.attempts if runs(a) and a.id not in history.validations]
    if history.best() is None and unfinished:
        with contextlib.suppress(BudgetSpentError):
            await laboratory.validate(unfinished, history)
    ranked = history.ranked()
    return history.best() or (ranked[0] if ranked else None)


def _solved(history: History, threshold: float | None) -> bool:
    """Whether the best's validation mean return reaches the threshold, where there is one."""
    best = history.best_validation()
    return best is not None and threshold is not None and best.mean_return >= threshold


def _better(after: Evaluation | None, before: Evaluation | None) -> bool:
    return after is not None and (before is None or after.score() > before.score())


def _note_round(journal: Journal, history: History, unanswered: Mapping[str, str]) -> None:
    if journal.find("round", f"r{history.rounds}") is None:
        best, value = history.best(), history.best_validation()
        summary = {
            "best": best.id if best else None,
            "validation_mean_return": value.mean_return if value else None,
            "stalled": history.stalled,
            "unanswered": dict(unanswered),
        }
        journal.add("round", f"r{history.rounds}", summary)
