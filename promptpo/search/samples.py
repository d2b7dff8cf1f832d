"""How one sample of a round ends, and what a round's samples say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from promptpo.errors import FatalProviderError, ProviderError
from promptpo.run.records import Attempt
from promptpo.telling.shortening import between_words

if TYPE_CHECKING:
    from promptpo.search.history import History

SAID = 600
"""Characters of all reasons together for which a model sees no way to improve."""


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


EARLY_ROUNDS, FAR_BELOW = 2, 0.1
"""In so many rounds one answer ends no run against others, nor where the best earns less than a single episode has shown by
more than this share."""

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


def ceiling_of(history: History, samples: Sequence[Sample], round_: int, threshold: float | None) -> str:
    """Why nothing better is possible, where half of a round's answers say so and it is not too early to believe them.

    Args:
        history: All that is known.
        samples: Of the round.
        round_: Its number.
        threshold: Mean return at which the task counts as solved; None where none is known.
    """
    thoughts, answers = thoughts_of(samples)
    if not thoughts or 2 * len(thoughts) < answers or premature(history, samples, round_, threshold):
        return ""
    different = list(dict.fromkeys(thoughts))
    most = SAID // len(different)
    return "; ".join(between_words(thought, most) for thought in different)


def premature(history: History, samples: Sequence[Sample], round_: int, threshold: float | None) -> bool:
    """Whether it is too early to believe that nothing better is possible.

    In the first two rounds no answer alone is believed against others, nor the only one where the best program is below the
    threshold, or far below the best single episode of the run.

    Args:
        history: All that is known.
        samples: Of the round.
        round_: Its number.
        threshold: Mean return at which the task counts as solved; None where none is known.
    """
    thoughts, answers = thoughts_of(samples)
    if round_ > EARLY_ROUNDS or len(thoughts) > 1:
        return False
    best = history.best()
    if best is None or answers > 1:
        return True
    mean = history.evidence(best).mean_return
    seen = [
        e.return_ for one in history.attempts if history.runs(one) for e in history.evidence(one).episodes
    ]
    far = max(seen) - mean > FAR_BELOW * max(map(abs, (max(seen), mean)))
    return far or (threshold is not None and mean < threshold)


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
