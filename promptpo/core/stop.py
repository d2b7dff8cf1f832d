"""Early stopping: whether another round is worth its calls and steps, judged by the gains in recorded runs.

`benchmarks/results/stopping` has the data behind the numbers, and the losses under other rules.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from promptpo.core.candidate import Attempt
from promptpo.core.control import StopReason
from promptpo.core.feature import SearchContext
from promptpo.core.history import History
from promptpo.core.sample import Sample, round_event
from promptpo.program.reference_policies import REFERENCE_POLICIES

EQUAL_SHARE = 0.02
"""Largest difference of converged programs, as a share of the best's return above reference policies."""

LEFT_SHARE = 5
"""Unspent steps are mentioned if they are at least the step budget divided by this."""

STALLED = 2
"""Consecutive rounds without improvement that end program search."""

NOTHING_BETTER = StopReason(
    "stalled",
    "program search found nothing better in two rounds; a controller of your own (--start) or a language model "
    "(--model) usually does better from here",
)

GAIN_APART = (
    "in past runs 42% of 104 further rounds improved the return by more than 2%; the average gain was 20.7%"
)
"""Gains of further rounds; gains above the best's return over reference policies count as 100 %."""

GAIN_TOGETHER = "in past runs, once independent programs returned the same, 7% of 30 further rounds improved the return by more than 2%; the average gain was 0.6%"
"""The same once independently written programs have converged: no more than noise."""


def prospect(history: History, threshold: float | None) -> str:
    """Describe the gain to expect from the next round.

    Programs do not count as converged below a known threshold, which shows that more is possible.
    """
    converged = threshold is None and distance(history) <= EQUAL_SHARE
    return GAIN_TOGETHER if converged else GAIN_APART


def distance(history: History) -> float:
    """Return the distance of the nearest independently written program from the best, as `EQUAL_SHARE` is; infinite without one.

    This is the far end of the 95 % interval, as a difference that is not known well need not be small. Programs with the same
    return in every episode behave alike and are not counted.
    """
    leader = history.best()
    if leader is None:
        return math.inf
    references = [
        history.references[name].mean_return for name in REFERENCE_POLICIES if name in history.references
    ]
    above = history.evidence(leader).mean_return - max(filter(math.isfinite, references), default=0.0)
    others = [a for a in history.ranking() if _original_id(a) != _original_id(leader)]
    found = [history.value_difference(leader, other) for other in others]
    near = [abs(difference.mean) + difference.margin for difference in found]
    return min(near, default=math.inf) / above if above > 0 else math.inf


def _original_id(attempt: Attempt) -> str:
    """Return the id of the candidate whose text this program has: tuning changes numbers only."""
    candidate = attempt.candidate
    return candidate.parents[0] if candidate.tuned and candidate.parents else candidate.id


def record_round(
    context: SearchContext,
    history: History,
    samples: Sequence[Sample],
    before: Attempt | None,
    reflection: str,
    facts: Mapping[str, Any],
) -> None:
    """Record the end of a round, with the model's `reflection` on it and the `facts` that features add."""
    number = history.rounds + 1
    data = {"reflection": reflection, **round_event(samples), **facts}
    if number < context.config.budget.rounds and context.learns:
        data["prospect"] = prospect(history, context.threshold)
    context.journal.once("round", f"r{number}", lambda: {**history.standing(before), **data})


def early_stop_reason(context: SearchContext, history: History) -> StopReason | None:
    """Return why another round is not worth its calls and steps; None if it is."""
    if not context.config.switches.early_stop:
        return None
    if history.reaches(context.threshold):
        reached = f"solved: the best policy's mean return over all its episodes reached {context.threshold:g}"
        return StopReason("solved", reached)
    if history.rounds >= context.config.budget.rounds:
        return None
    if history.ceiling:
        why = textwrap.shorten(history.ceiling, 200, placeholder=" …")
        return StopReason("ceiling", f"the model sees no way to improve noticeably: {why}")
    if not context.learns:
        return NOTHING_BETTER if history.stalled >= STALLED else None
    if prospect(history, context.threshold) == GAIN_APART:
        return None
    return StopReason(
        "no_gain",
        f"another round is not worth it ({GAIN_TOGETHER}; --option early_stop=false runs all rounds)",
    )


def describe_unspent(context: SearchContext, history: History, why: str) -> str:
    """Describe unspent steps, and why they would gain nothing, to end the stop reason; empty if few are left."""
    steps, left = context.config.budget.steps, context.work.ledger.steps_left()
    few = steps is None or left is None or LEFT_SHARE * left < steps
    if few or history.best() is None or not context.learns:
        return ""
    reasons = [why, "more episodes are not expected to change the choice"]
    if history.reaches(context.threshold):
        reasons = ["the threshold is reached"]
    return f"; {left:,} of {steps:,} steps are left: {', and '.join(filter(None, reasons))}"
