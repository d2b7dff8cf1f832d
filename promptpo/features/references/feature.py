"""Reference policies: random and zero actions, against which every result is compared.

Both are programs like those that the model writes: they run in the sandbox, on the same seeds as the
candidates, so that they are compared in pairs.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from promptpo.core.budget import affordable_units, step_allotment
from promptpo.core.candidate import REFERENCE_TEST, Attempt, Candidate
from promptpo.core.feature import Feature
from promptpo.errors import BudgetSpentError, EnvironmentFaultError
from promptpo.program import Program
from promptpo.program.reference_policies import REFERENCE_POLICIES, constant_policies, programs
from promptpo.prompts import feedback

if TYPE_CHECKING:
    from gymnasium import spaces

    from promptpo.core.feature import SearchContext
    from promptpo.core.history import History
    from promptpo.core.sample import Sampler
    from promptpo.rollouts.evaluation import Episodes, Evaluation

PARTS = 5
"""Of the steps for references: one each for random actions and for none, the others for constant ones."""

MAX_CONSTANT_EPISODES = 20
"""Episodes of the zero action that are compared."""

TEST_FIRST = 10
"""So many test episodes tell how long all of them take."""

MIN_REFERENCE_SECONDS = 20.0
"""Seconds that all test episodes of a reference may take in any case; else twice the winner's own test. The first few
of both may take as long together as that test."""


class References(Feature):
    """Plays the reference policies beside the candidates.

    Args:
        context: Of the run.
    """

    def __init__(self, context: SearchContext) -> None:
        self._context = context

    async def start(self) -> None:
        """Play them before anything is asked, so that a reward that does not distinguish policies is noticed before answers are paid for."""
        await _measure_at_start(self._context)

    async def conclude(self, history: History) -> None:
        """Have those that always do the same join the candidates where they beat the best."""
        await _compare_with_best(self._context, history)

    async def test_beside(self, seeds: Sequence[int], test: Evaluation) -> Mapping[str, Evaluation]:
        """Play random and zero actions on the seeds of the test."""
        return await _measure_on_test(self._context, seeds, test)


async def _measure_at_start(context: SearchContext) -> None:
    """Roll both out on training seeds and on the validation seeds that judging begins with.

    There are fewer episodes, or none, where they could take more than a small share of the step budget; more follow
    where the first ones turn out to be short. What has no result, since the budget is spent or the environment fails, is left out.

    Args:
        context: Of the run.
    """
    work, horizon, seeds = context.work, context.horizon, context.seeds
    steps, wanted = context.config.budget.steps, context.config.train_episodes
    allowed = step_allotment("reference", steps, parts=PARTS)
    certain = affordable_units("reference", steps, PARTS * horizon, 2 * wanted)
    pairs = zip(seeds.train(wanted), seeds.validation(wanted), strict=True)
    chosen = [seed for pair in pairs for seed in pair]

    def are_short(early: Evaluation) -> bool:
        expected = early.steps / max(1, len(early.episodes)) * len(chosen)
        return early.outcome == "ok" and (allowed is None or expected <= allowed)

    async def play(name: str, source: str) -> Evaluation | None:
        if not certain and work.journal.find("reference", name) is None:
            return None
        with contextlib.suppress(BudgetSpentError, EnvironmentFaultError):
            played = await work.roll_out(
                "reference",
                name,
                Candidate(name, source, 0),
                chosen,
                horizon=horizon,
                early=(certain, are_short),
            )
            return played.evaluation
        return None

    found = await _each(play, context.spec.action_space)
    length = (
        found[REFERENCE_POLICIES[1]].steps / len(found[REFERENCE_POLICIES[1]].episodes)
        if REFERENCE_POLICIES[1] in found
        else horizon
    )
    constants = {
        k: v for k, v in constant_policies(context.spec.action_space).items() if k != REFERENCE_POLICIES[1]
    }
    paid = (
        wanted
        if allowed is None
        else int((PARTS - len(REFERENCE_POLICIES)) * allowed / max(1.0, len(constants) * length))
    )
    if constants and paid:
        certain, chosen = wanted, [*seeds.train(min(wanted, paid))]
        await asyncio.gather(*(play(name, source) for name, source in constants.items()))


async def _compare_with_best(context: SearchContext, history: History) -> None:
    """Have the zero action, and the other constant ones that were tried, join the candidates where they beat the best.

    That is when the search is over, so that no request is about them. Few episodes show that no action is better: the zero action that nothing paid for at the
    start, and the best that looks better, play those of the best candidate, outside the budget, like a test's.
    """
    best = history.best()
    if best is None:
        return
    seeds = [episode.seed for episode in history.evidence(best).episodes][:MAX_CONSTANT_EPISODES]
    constants, known = constant_policies(context.spec.action_space), history.reference_evaluations
    gains = {name: _gains(known[name], history.evidence(best)) for name in constants if name in known}
    means = {name: statistics.fmean(gain) for name, gain in gains.items() if gain}
    leading = max(means, key=means.__getitem__, default="")
    for name, source in constants.items():
        candidate = Candidate(
            name, source, history.rounds + 1, Program.from_source(source).digest, origin="reference"
        )
        played = known.get(name)
        if (name == leading and means[name] > 0) if played else name == REFERENCE_POLICIES[1]:
            key = f"{name}.compared{REFERENCE_TEST}"
            with contextlib.suppress(BudgetSpentError, EnvironmentFaultError):
                rolled = await context.work.roll_out(
                    "reference", key, candidate, seeds, horizon=context.horizon
                )
                played = rolled.evaluation
        if played is not None and played.outcome == "ok" and _clearly_better(played, history.evidence(best)):
            attempt = Attempt(candidate, played, feedback.aggregate(played))
            context.journal.once("attempt", name, functools.partial(replace, attempt))


def _gains(one: Evaluation, other: Episodes) -> list[float]:
    """By how much one returned more in each of the episodes that both have played."""
    theirs = {episode.seed: episode.return_ for episode in other.episodes}
    return [episode.return_ - theirs[episode.seed] for episode in one.episodes if episode.seed in theirs]


def _clearly_better(one: Evaluation, other: Episodes) -> bool:
    """Whether the mean return over the episodes that both have played is larger by two standard errors."""
    gains = _gains(one, other)
    return len(gains) > 1 and statistics.fmean(gains) > max(
        0.0, 2 * statistics.stdev(gains) / math.sqrt(len(gains))
    )


async def _measure_on_test(
    context: SearchContext, seeds: Sequence[int], test: Evaluation
) -> dict[str, Evaluation]:
    """Roll both out on the seeds of the final test, outside the step budget like the test itself.

    Args:
        context: Of the run.
        seeds: Those of the test.
        test: The winner's, which says how long an episode may take. Where all episodes of a reference would take
            much longer, the first few stand for them.
    """
    horizon, seconds = context.horizon, test.seconds
    longest = horizon * seconds / max(1, test.steps)  # of one episode, in seconds
    both = max(MIN_REFERENCE_SECONDS, seconds) / max(longest, 1e-9)
    first = max(1, min(TEST_FIRST, int(both / len(REFERENCE_POLICIES))))

    def worth_it(early: Evaluation) -> bool:
        expected = early.seconds / max(1, len(early.episodes)) * len(seeds)
        return early.outcome == "ok" and expected <= max(MIN_REFERENCE_SECONDS, 2 * seconds)

    async def play(name: str, source: str) -> Evaluation | None:
        with contextlib.suppress(EnvironmentFaultError):
            played = await context.work.roll_out(
                "reference",
                f"{name}{REFERENCE_TEST}",
                Candidate(name, source, 0),
                seeds,
                horizon=horizon,
                early=(first, worth_it),
            )
            return played.evaluation
        return None

    return await _each(play, context.spec.action_space)


async def _each(measure: Callable[[str, str], Any], action_space: spaces.Space[Any]) -> dict[str, Evaluation]:
    sources = programs(action_space)
    found = await asyncio.gather(*(measure(name, source) for name, source in sources.items()))
    return {
        name: evaluation
        for name, evaluation in zip(sources, found, strict=True)
        if evaluation is not None and evaluation.outcome == "ok" and evaluation.episodes
    }


def install(context: SearchContext, _: Sampler) -> Feature:
    """Make the feature for a run."""
    return References(context)
