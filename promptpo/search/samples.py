"""How one sample of a round ends, and what a round's samples say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from promptpo.errors import FatalProviderError, ProviderError
from promptpo.run.records import Attempt


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A sample for which the provider gave no answer.

    Attributes:
        reason: A sentence.
        fatal: No later call can succeed either.
    """

    reason: str
    fatal: bool = False


@dataclass(frozen=True, slots=True)
class OutOfBudget:
    """A sample that was not begun, or not rolled out, because a limit is reached.

    Attributes:
        reason: Which limit, without a full stop.
    """

    reason: str


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A sample whose answer is that nothing better is possible.

    Attributes:
        reason: The model's.
    """

    reason: str


GIVEN, TUNED_FROM_GIVEN = "Given by the user.", "Tuned from the user's."
"""What is said in place of an idea of a policy that nobody was asked for, and of the same with other numbers."""

Sample: TypeAlias = Attempt | Unanswered | OutOfBudget | Ceiling


def thoughts_of(samples: Sequence[Sample]) -> tuple[tuple[str, ...], int]:
    """Why answers saw no way to improve, each reason once a sample, and how many answers there were."""
    answered = [sample for sample in samples if not isinstance(sample, Unanswered)]
    return tuple(s.reason.rstrip(".") for s in answered if isinstance(s, Ceiling)), len(answered)


def told_of(samples: Sequence[Sample], untuned: str) -> dict[str, Any]:
    """What the journal keeps of a round's samples beside its candidates.

    Args:
        samples: Of the round.
        untuned: Why no candidate of it was tuned; empty where one was.
    """
    reasons = {
        name: {str(i): one.reason for i, one in enumerate(samples) if isinstance(one, kind)}
        for name, kind in (("unanswered", Unanswered), ("ceiling", Ceiling))
    }
    return {**reasons, **({"untuned": untuned} if untuned else {})}


def what_ends(samples: Sequence[Sample], *, tried: bool) -> str:
    """Why no further round can follow these samples, or nothing.

    Raises:
        ProviderError: Nothing was answered in the whole run.
    """
    for sample in samples:
        if isinstance(sample, OutOfBudget):
            return sample.reason
    unanswered = [sample for sample in samples if isinstance(sample, Unanswered)]
    fatal = next((sample for sample in unanswered if sample.fatal), None)
    if not samples or (fatal is None and len(unanswered) < len(samples)):
        return ""
    reason = (fatal or unanswered[0]).reason
    if not tried:
        raise FatalProviderError(reason) if fatal else ProviderError(reason)
    return f"the model no longer answers: {reason.rstrip('.')}"
