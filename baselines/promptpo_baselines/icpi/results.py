"""``result.json`` of an ICPI run: the format of all runs, and regret."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from promptpo.output.report import summarize_evaluation
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo_baselines.icpi.play import last_quarter

if TYPE_CHECKING:
    from promptpo_baselines.icpi.values import EpisodeLog

AVERAGED = 10
"""Training episodes per point of the curve; ICPI is not evaluated during training."""


def summarize_episodes(
    trained: Sequence[EpisodeLog], tested: Sequence[EpisodeLog], steps: int
) -> dict[str, Any]:
    """Summarise finished episodes for ``result.json``.

    Args:
        trained: Training episodes.
        tested: Held-out episodes.
        steps: Training steps in total.
    """
    regrets = [{"step": log.end_step, "regret": log.regret} for log in trained if log.regret is not None]
    return {
        "test": _score(tested),
        "curve": _curve(trained),
        "train": _score(trained),
        "regret": regrets if regrets or not trained else None,
        "regret_last_quarter": last_quarter(trained, steps),
    }


def _curve(logs: Sequence[EpisodeLog]) -> list[dict[str, Any]]:
    """Return the mean return of consecutive groups of training episodes, by the step at which they ended."""
    return [
        {
            "steps": logs[n - 1].end_step,
            "mean_return": sum(log.return_ for log in logs[n - AVERAGED : n]) / AVERAGED,
        }
        for n in range(AVERAGED, len(logs) + 1, AVERAGED)
    ]


def _score(logs: Sequence[EpisodeLog]) -> dict[str, Any]:
    """Return the mean undiscounted return with its interval; None without episodes."""
    records = tuple(EpisodeRecord(log.seed, log.return_, len(log.transitions)) for log in logs)
    return summarize_evaluation(Evaluation("ok", records, sum(record.steps for record in records))) or {}
