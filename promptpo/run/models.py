"""What each model of a run has brought."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from promptpo.run.state import RunState
    from promptpo.run.state_values import CandidateState, ModelCall


@dataclass(frozen=True, slots=True)
class Brought:
    """What one model has brought, and what it took.

    Attributes:
        model: Its name.
        answers: How many it gave, to whatever was asked.
        candidates: How many candidates it wrote first; repairs by another model leave them its own.
        ran: How many of them ran.
        best: Id of the best of them, tuned ones included; empty where none ran.
        best_return: Its mean return over its training and validation episodes; NaN where none ran.
        tokens: (input, output).
        cost_usd: Of the calls whose price is known.
        unpriced: Calls whose price is not known.
    """

    model: str
    answers: int
    candidates: int
    ran: int
    best: str
    best_return: float
    tokens: tuple[int, int]
    cost_usd: float
    unpriced: int

    def as_json(self) -> dict[str, Any]:
        """As the result file has it."""
        return {
            "model": self.model,
            "answers": self.answers,
            "candidates": self.candidates,
            "candidates_that_ran": self.ran,
            "best": self.best or None,
            "best_return": self.best_return if math.isfinite(self.best_return) else None,
            "input_tokens": self.tokens[0],
            "output_tokens": self.tokens[1],
            "cost_usd": round(self.cost_usd, 6),
            "calls_of_unknown_price": self.unpriced,
        }


def asked(call: ModelCall) -> str:
    """The name under which a model counts: as it was asked for, where there are several."""
    return call.provider or call.model


def writer_of(state: CandidateState) -> str:
    """The model that wrote a candidate first; empty where that is not recorded."""
    named = state.attempt.candidate.calls[:1]
    calls = [call for call in state.calls if call.key in named] or list(state.calls)
    return asked(calls[0]) if calls else ""


def origin_of(state: RunState, candidate: str) -> str:
    """Who wrote a candidate where not those that the run asked: "user", "goal" or "world model"; else empty.

    Tuned numbers change no author: what was tuned is followed to what it was tuned from.
    """
    found = state.candidate(candidate)
    while found is not None and found.attempt.candidate.tuned:
        before = state.candidate(next(iter(found.attempt.candidate.parents), ""))
        if before is None or before is found:
            break
        found = before
    if found is None or found.round:
        return ""
    if found.id.startswith("w"):
        return "world model"
    return "goal" if state.config.is_written(found.id) else "user"


def brought(state: RunState) -> tuple[Brought, ...]:
    """What each model has brought so far, by name."""
    return tuple(_one(state, model) for model in sorted({asked(call) for call in state.calls}))


def _one(state: RunState, model: str) -> Brought:
    calls = [call for call in state.calls if asked(call) == model]
    own = [candidate for candidate in state.candidates if writer_of(candidate) == model]
    written = [one for one in own if not one.attempt.candidate.tuned]
    best = max((one for one in own if one.ran), key=lambda one: one.evidence.mean_return, default=None)
    return Brought(
        model=model,
        answers=len(calls),
        candidates=len(written),
        ran=sum(one.ran for one in written),
        best=best.id if best else "",
        best_return=best.evidence.mean_return if best else math.nan,
        tokens=(sum(call.tokens[0] for call in calls), sum(call.tokens[1] for call in calls)),
        cost_usd=sum(call.cost_usd or 0.0 for call in calls),
        unpriced=sum(call.cost_usd is None for call in calls),
    )


def in_words(one: Brought) -> str:
    """One model's part of a run, as a line."""
    parts = [f"{one.answers} {'answer' if one.answers == 1 else 'answers'}"]
    if one.candidates:
        best = f", best {one.best} with {one.best_return:.6g}" if one.best else ""
        parts.append(f"{one.ran} of {one.candidates} candidates ran{best}")
    if one.cost_usd or not one.unpriced:
        parts.append(f"${one.cost_usd:.4f}")
    if one.unpriced:
        parts.append(f"{one.unpriced} calls of unknown price")
    return f"{one.model}: {'; '.join(parts)}"
