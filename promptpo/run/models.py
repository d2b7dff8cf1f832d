"""What each model of a run has brought."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from promptpo.run.state import RunState
    from promptpo.run.state_values import CandidateState


def asked(call: Mapping[str, Any]) -> str:
    """The name under which a model counts: as it was asked for, where there are several."""
    return str(call.get("provider") or call["model"])


def writer_of(state: CandidateState) -> str:
    """The model that wrote a candidate first; empty where that is not recorded."""
    call = next(iter(state.calls.values()), None)
    return asked(call) if call else ""


def brought(state: RunState) -> list[dict[str, Any]]:
    """What each model has brought so far and what it took, by name, as ``result.json`` has it.

    Candidates are those that it wrote first; repairs by another model leave them its own. The best may be a tuned one.
    """
    calls = state.told["completion"].values()
    return [
        _one(state, model, [one for one in calls if asked(one) == model])
        for model in sorted(set(map(asked, calls)))
    ]


def _one(state: RunState, model: str, calls: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    own = [candidate for candidate in state.candidates if writer_of(candidate) == model]
    written = [one for one in own if not one.attempt.candidate.tuned]
    best = max((one for one in own if one.ran), key=lambda one: one.evidence.mean_return, default=None)
    return {
        "model": model,
        "answers": len(calls),
        "candidates": len(written),
        "candidates_that_ran": sum(one.ran for one in written),
        "best": best and best.id,
        "best_return": best and best.evidence.mean_return,
        "input_tokens": sum(call["usage"]["input_tokens"] for call in calls),
        "output_tokens": sum(call["usage"]["output_tokens"] for call in calls),
        "cost_usd": round(sum(call["cost_usd"] or 0.0 for call in calls), 6),
        "calls_of_unknown_price": sum(call["cost_usd"] is None for call in calls),
    }


def in_words(one: Mapping[str, Any]) -> str:
    """One model's part of a run, as a line."""
    best = f", best {one['best']} with {one['best_return']:.6g}" if one["best"] else ""
    unpriced = one["calls_of_unknown_price"]
    return (
        f"{one['model']}: answers: {one['answers']}; {one['candidates_that_ran']} of {one['candidates']} candidates "
        f"ran{best}; ${one['cost_usd']:.4f}{f' and {unpriced} calls of unknown price' if unpriced else ''}"
    )
