"""``result.json`` of an ICPI run: the format of all runs, and regret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from promptpo.output.report import scored
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo_baselines.icpi.play import last_quarter
from promptpo_baselines.result_parts import head, steps_of
from promptpo_baselines.same_run import asked

if TYPE_CHECKING:
    from promptpo.envs.task import Task
    from promptpo.run.ledger import Ledger
    from promptpo_baselines.icpi.values import EpisodeLog

AVERAGED = 10
"""Training episodes that one point of the curve is of; ICPI evaluates nothing on the way."""


def result_of(
    task: Task,
    config: Mapping[str, Any],
    trained: Sequence[EpisodeLog],
    tested: Sequence[EpisodeLog],
    *,
    steps_taken: int,
    ledger: Ledger,
    stop: str,
) -> dict[str, Any]:
    """The content of ``result.json``.

    Args:
        task: The environment.
        config: What decided the run.
        trained: Finished training episodes.
        tested: Held-out episodes.
        steps_taken: Training steps that were taken, those of an unfinished last episode included.
        ledger: What was paid.
        stop: Why the run ended.
    """
    regrets = [{"step": log.end_step, "regret": log.regret} for log in trained if log.regret is not None]
    return {
        **head(config["method"], task, config["seed"]),
        "model": config["engine"],
        "config": dict(config),
        "test": _scored(tested),
        "curve": _curve(trained),
        "train": _scored(trained),
        "regret": regrets if regrets or not trained else None,
        "regret_last_quarter": last_quarter(trained, config["steps"]),
        "steps": steps_of(train=steps_taken, test=sum(len(log.transitions) for log in tested)),
        "llm": asked(ledger),
        "wall_seconds": round(ledger.seconds, 3),
        "stop_reason": stop,
    }


def _curve(logs: Sequence[EpisodeLog]) -> list[dict[str, Any]]:
    """Mean return of each ten training episodes that follow on each other, by the step at which they ended."""
    return [
        {
            "steps": logs[n - 1].end_step,
            "mean_return": sum(log.return_ for log in logs[n - AVERAGED : n]) / AVERAGED,
        }
        for n in range(AVERAGED, len(logs) + 1, AVERAGED)
    ]


def _scored(logs: Sequence[EpisodeLog]) -> dict[str, Any]:
    """Mean undiscounted return with its interval; None without episodes."""
    records = tuple(EpisodeRecord(log.seed, log.return_, len(log.transitions)) for log in logs)
    return scored(Evaluation("ok", records, sum(record.steps for record in records))) or {}
