"""Reference policies: random and zero actions, with which every result is compared.

Both are programs like those that the model writes: they run in the sandbox on the candidates' seeds, so that they are
compared in pairs.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from promptpo.core.budget import affordable_units, step_allotment
from promptpo.core.candidate import REFERENCE_TEST, Attempt, Candidate
from promptpo.core.feature import Feature
from promptpo.core.returns import Evidence, PairedDifference
from promptpo.errors import BudgetSpentError, EnvironmentFaultError, RewardFaultError
from promptpo.program import Program
from promptpo.program.reference_policies import REFERENCE_POLICIES, constant_policies, programs
from promptpo.prompts import feedback

if TYPE_CHECKING:
    from promptpo.core.feature import SearchContext
    from promptpo.core.history import History
    from promptpo.core.sample import Sampler
    from promptpo.core.work import Early
    from promptpo.rollouts.evaluation import Evaluation

PARTS = 5
"""Parts of the references' steps: one for random actions, one for the zero action, the others for constant actions."""

MAX_CONSTANT_EPISODES = 20
"""Maximum number of episodes of a reference in the comparison with the best."""

TEST_FIRST = 10
"""Number of test episodes from which the time for all of them is estimated."""

MIN_REFERENCE_SECONDS = 20.0
"""Minimum time limit on a reference's test; otherwise the limit is twice the time of the winner's own test. The first few episodes
of both references may together take as long as that test."""

logger = logging.getLogger(__name__)


class References(Feature):
    """Plays the reference policies on the candidates' seeds.

    References without a result are left out, because the budget is spent or the environment fails.

    Args:
        context: Context of the run.
    """

    def __init__(self, context: SearchContext) -> None:
        self._context = context

    async def start(self) -> None:
        """Play references before the first request, so that a reward that does not distinguish policies is noticed before answers are paid for.

        They play training seeds and the first validation seeds. They play fewer episodes, or none, if these could take more than a small
        share of the step budget; more follow if the first ones turn out to be short.
        """
        work, horizon, seeds = self._context.work, self._context.horizon, self._context.seeds
        steps, wanted = self._context.config.budget.steps, self._context.config.train_episodes
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
            return await self._play(name, source, chosen, (certain, are_short))

        found = await self._play_both(play)
        zero = REFERENCE_POLICIES[1]
        length = found[zero].mean_steps if zero in found else horizon
        _, *constants = constant_policies(self._context.spec.action_space).items()  # the first one is zero
        paid = wanted
        if allowed is not None:
            paid = int((PARTS - len(REFERENCE_POLICIES)) * allowed / max(1.0, len(constants) * length))
        if constants and paid:
            certain, chosen = wanted, [*seeds.train(min(wanted, paid))]
            await asyncio.gather(*(play(name, source) for name, source in constants))

    async def conclude(self, history: History, *, stopped: bool) -> None:
        """Add random, zero and other constant actions to the candidates if they beat the best.

        This happens after the search, so that no request is about them. A few episodes suffice to show that none is better: the zero
        action, if not paid for at the start, and the best that looks better play the best candidate's episodes, outside the budget like
        a test. In a stopped run none plays: the test of the best comes first, and a resumed run compares them.
        """
        best = history.best()
        if best is None:
            return
        evidence, known = history.evidence(best), history.reference_evaluations
        seeds = [episode.seed for episode in evidence.episodes][:MAX_CONSTANT_EPISODES]
        space = self._context.spec.action_space
        policies = {**programs(space), **constant_policies(space)}
        leads = {
            name: ahead
            for name in policies
            if name in known and not math.isnan(ahead := _lead(known[name], evidence).mean)
        }
        leading = max(leads, key=leads.__getitem__, default="")
        for name, source in policies.items():
            played = known.get(name)
            if not stopped and (
                name == leading and leads[name] > 0 if played else name == REFERENCE_POLICIES[1]
            ):
                key = f"{name}.compared{REFERENCE_TEST}"
                played = await self._play(name, source, seeds, key=key) or played
            if played is None or played.outcome != "ok":
                continue
            lead = _lead(played, evidence)
            if len(lead.returns) > 1 and lead.mean > max(0.0, 2 * lead.standard_error):
                digest, number = Program.from_source(source).digest, history.rounds + 1
                candidate = Candidate(name, source, number, digest, origin="reference")
                attempt = Attempt(candidate, played, feedback.aggregate(played))
                self._context.journal.once("attempt", name, functools.partial(replace, attempt))

    async def test_beside(self, seeds: Sequence[int], test: Evaluation) -> Mapping[str, Evaluation]:
        """Play random and zero actions on the test seeds, outside the step budget like the test itself.

        If a reference's episodes would take much longer than the test of the best, only the first few are played.
        """
        seconds = test.seconds
        longest = self._context.horizon * seconds / max(1, test.steps)  # of one episode, in seconds
        both = max(MIN_REFERENCE_SECONDS, seconds) / max(longest, 1e-9)
        first = max(1, min(TEST_FIRST, int(both / len(REFERENCE_POLICIES))))

        def worth_it(early: Evaluation) -> bool:
            expected = early.seconds / max(1, len(early.episodes)) * len(seeds)
            return early.outcome == "ok" and expected <= max(MIN_REFERENCE_SECONDS, 2 * seconds)

        return await self._play_both(
            lambda name, source: self._play(
                name, source, seeds, (first, worth_it), key=f"{name}{REFERENCE_TEST}"
            )
        )

    async def _play(
        self, name: str, source: str, seeds: Sequence[int], early: Early | None = None, *, key: str = ""
    ) -> Evaluation | None:
        """Roll out one reference; None if it has no result."""
        late = (RewardFaultError,) if key else ()  # at the start, a failing reward must be noticed
        try:
            played = await self._context.work.roll_out(
                "reference",
                key or name,
                Candidate(name, source, 0),
                seeds,
                horizon=self._context.horizon,
                early=early,
            )
        except BudgetSpentError:
            return None
        except (EnvironmentFaultError, *late) as fault:
            logger.warning("the reference policy %s has no result: %s", name, fault)
            return None
        return played.evaluation

    async def _play_both(
        self, play: Callable[[str, str], Awaitable[Evaluation | None]]
    ) -> dict[str, Evaluation]:
        """Play random and zero actions concurrently, and return those that ran."""
        sources = programs(self._context.spec.action_space)
        found = await asyncio.gather(*(play(name, source) for name, source in sources.items()))
        return {
            name: evaluation
            for name, evaluation in zip(sources, found, strict=True)
            if evaluation is not None and evaluation.outcome == "ok" and evaluation.episodes
        }


def _lead(one: Evaluation, other: Evidence) -> PairedDifference:
    """Return the paired difference in return on the shared seeds."""
    return Evidence.of(one.episodes).paired_difference(other)


def install(context: SearchContext, _: Sampler) -> Feature:
    """Create the feature for a run."""
    return References(context)
