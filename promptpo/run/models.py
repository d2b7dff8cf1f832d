"""Contributions and costs of each model of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from promptpo.llm.base import Completion

if TYPE_CHECKING:
    from promptpo.run.state import CandidateState, RunState


def model_of_call(call: Completion) -> str:
    """Return the name under which a model counts: as requested, if there are several."""
    return call.provider or call.model


def writer_of(state: CandidateState) -> str:
    """Return the model that first wrote a candidate; empty if that is not recorded."""
    call = next(iter(state.calls.values()), None)
    return model_of_call(call) if call else ""


def summarize_models(state: RunState) -> list[dict[str, Any]]:
    """Summarise each model's contribution and cost so far, by name, as in ``result.json``.

    A candidate counts for the model that first wrote it, even if another repaired it. The best may be a tuned one.
    """
    calls = state.read("completion", Completion).values()
    return [
        _summarize_model(state, model, [call for call in calls if model_of_call(call) == model])
        for model in sorted(set(map(model_of_call, calls)))
    ]


def _summarize_model(state: RunState, model: str, calls: Sequence[Completion]) -> dict[str, Any]:
    own = [candidate for candidate in state.candidates if writer_of(candidate) == model]
    written = [candidate for candidate in own if not candidate.attempt.candidate.tuned]
    best = max(
        (candidate for candidate in own if candidate.ran),
        key=lambda candidate: state.history.value(candidate.attempt),
        default=None,
    )
    return {
        "model": model,
        "answers": len(calls),
        "candidates": len(written),
        "candidates_that_ran": sum(candidate.ran for candidate in written),
        "best": best and best.id,
        "best_return": best and best.evidence.mean_return,
        "input_tokens": sum(call.usage.input_tokens for call in calls),
        "output_tokens": sum(call.usage.output_tokens for call in calls),
        "cost_usd": round(sum(call.cost_usd or 0.0 for call in calls), 6),
        "calls_of_unknown_price": sum(call.cost_usd is None for call in calls),
    }


def describe_model(row: Mapping[str, Any]) -> str:
    """Describe one model's contribution in one line."""
    best = f", best {row['best']} with {row['best_return']:.6g}" if row["best"] else ""
    unpriced = row["calls_of_unknown_price"]
    return (
        f"{row['model']}: answers: {row['answers']}; {row['candidates_that_ran']} of {row['candidates']} candidates "
        f"ran{best}; ${row['cost_usd']:.4f}{f' and {unpriced} calls of unknown price' if unpriced else ''}"
    )
