"""Early stopping: whether another round is worth its calls and steps, by what recorded runs gained from there.

`benchmarks/results/stopping` has the rows that the numbers come from, and what other rules would have lost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from promptpo.core.control import StopReason
from promptpo.core.sample import Sample, round_event
from promptpo.program.reference_policies import REFERENCE_POLICIES

if TYPE_CHECKING:
    from promptpo.core.candidate import Attempt
    from promptpo.core.feature import SearchContext
    from promptpo.core.history import History

EQUAL_SHARE = 0.02
"""Programs that were written apart have come together where they differ by no more than this share of what the best returns
above policies that know nothing."""

LEFT_SHARE = 5
"""Less than the step budget divided by this may stay without a word."""

STALLED = 2
"""Rounds in a row without anything better that end program search."""

NOTHING_BETTER = StopReason(
    "stalled",
    "program search found nothing better in two rounds; a controller of your own (--start) or a language model "
    "(--model) usually does better from here",
)


GAIN_APART = (
    "in past runs 42% of 104 further rounds improved the return by more than 2%; the average gain was 20.7%"
)
"""What another round may gain; one that gained more than the best returned above reference policies counts as all of that."""

GAIN_TOGETHER = "in past runs, once independent programs returned the same, 7% of 30 further rounds improved the return by more than 2%; the average gain was 0.6%"
"""The same where programs that were written apart have come together: no more than noise."""


def prospect(history: History, threshold: float | None) -> str:
    """Estimate what the next round may gain.

    Nothing counts as come together below a known threshold, which says that more can be had.
    """
    met = threshold is None and distance(history) <= EQUAL_SHARE
    return GAIN_TOGETHER if met else GAIN_APART


def distance(history: History) -> float:
    """How far the nearest program that was written apart from the best may be from it, as in `EQUAL_SHARE`; infinity without one.

    The far end of the 95 % interval counts: that nothing is known of a difference does not make it small.

    One that returns the same in every episode behaves the same, and says nothing.
    """
    leader = history.best()
    if leader is None:
        return math.inf
    references = [
        history.references[name].mean_return for name in REFERENCE_POLICIES if name in history.references
    ]
    above = history.evidence(leader).mean_return - max(filter(math.isfinite, references), default=0.0)
    others = [a for a in history.ranking() if _original_id(a) != _original_id(leader)]
    found = [history.difference(leader, other) for other in others]
    near = [abs(difference.mean) + difference.margin for difference in found]
    return min(near, default=math.inf) / above if above > 0 else math.inf


def _original_id(attempt: Attempt) -> str:
    """The candidate that a program's text is from: tuning changes numbers only."""
    candidate = attempt.candidate
    return candidate.parents[0] if candidate.tuned and candidate.parents else candidate.id


def record_round(
    context: SearchContext,
    history: History,
    samples: Sequence[Sample],
    before: Attempt | None,
    reflection: str,
    said: Mapping[str, Any],
) -> None:
    """Count a round, and write what it came to.

    Args:
        context: Of the run.
        history: All that is known.
        samples: Of the round.
        before: The best before it.
        reflection: What the model concluded from it; empty where it was not asked.
        said: What features say of it.
    """
    number = history.rounds + 1
    told = {"reflection": reflection, **round_event(samples), **said}
    if number < context.config.budget.rounds and context.learns:
        told["prospect"] = prospect(history, context.threshold)
    context.journal.once("round", f"r{number}", lambda: {**history.standing(before), **told})


def early_stop_reason(context: SearchContext, history: History) -> StopReason:
    """Why another round is not worth its calls and steps; false where it is."""
    if not context.config.switches.early_stop:
        return StopReason()
    if history.reaches(context.threshold):
        reached = f"solved: the best policy's mean return over all its episodes reached {context.threshold:g}"
        return StopReason("solved", reached)
    if history.rounds >= context.config.budget.rounds:
        return StopReason()
    if history.ceiling:
        return StopReason("ceiling", f"the model sees no way to improve noticeably: {history.ceiling}")
    if not context.learns:
        return NOTHING_BETTER if history.stalled >= STALLED else StopReason()
    if prospect(history, context.threshold) == GAIN_APART:
        return StopReason()
    return StopReason(
        "no_gain",
        f"another round is not worth it ({GAIN_TOGETHER}; --option early_stop=false runs all rounds)",
    )


def describe_unspent(context: SearchContext, history: History, why: str) -> str:
    """How many steps a run leaves, as the end of its reason to stop; empty where few are left.

    Args:
        context: Of the run.
        history: All that is known.
        why: Why they buy nothing, as features say.
    """
    steps, left = context.config.budget.steps, context.work.ledger.steps_left()
    if (
        steps is None
        or left is None
        or history.best() is None
        or LEFT_SHARE * left < steps
        or not context.learns
    ):
        return ""
    reasons = [why, "more episodes are not expected to change the choice"]
    if history.reaches(context.threshold):
        reasons = ["the threshold is reached"]
    return f"; {left:,} of {steps:,} steps are left: {', and '.join(filter(None, reasons))}"
