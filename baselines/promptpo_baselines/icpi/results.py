"""``result.json`` of an ICPI run: the format of all runs, and regret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from promptpo.output.report import versions
from promptpo.run.records import mean_interval
from promptpo_baselines.icpi.play import last_quarter
from promptpo_baselines.same_run import asked

if TYPE_CHECKING:
    from promptpo.run.ledger import Ledger
    from promptpo_baselines.icpi.model import Tally
    from promptpo_baselines.icpi.values import EpisodeLog

AVERAGED = 10
"""Training episodes that one point of the curve is of; ICPI evaluates nothing on the way."""


def result_of(
    env_id: str,
    config: Mapping[str, Any],
    trained: Sequence[EpisodeLog],
    tested: Sequence[EpisodeLog],
    *,
    steps: int,
    steps_taken: int,
    tally: Tally,
    ledger: Ledger,
    stop: str,
) -> dict[str, Any]:
    """The content of ``result.json``.

    Args:
        env_id: The environment.
        config: What decided the run.
        trained: Finished training episodes.
        tested: Held-out episodes.
        steps: Training steps that were planned; the last quarter is counted from them.
        steps_taken: Training steps that were taken, those of an unfinished last episode included.
        tally: What the agent asked.
        ledger: What was paid.
        stop: Why the run ended.
    """
    regrets = [{"step": log.end_step, "regret": log.regret} for log in trained if log.regret is not None]
    return {
        "format": 1,
        "method": config["method"],
        "env_id": env_id,
        "env_kwargs": config["env_kwargs"],
        "model": config["engine"],
        "seed": config["seed"],
        "config": dict(config),
        "test": _scored(tested),
        "max_episode_steps": config["max_episode_steps"],
        "curve": _curve(trained),
        "train": _scored(trained),
        "regret": regrets if regrets or not trained else None,
        "regret_last_quarter": last_quarter(trained, steps),
        "steps": {
            "train": steps_taken,
            "validation": 0,
            "test": (testing := sum(len(log.transitions) for log in tested)),
            "tune": 0,
            "total": steps_taken + testing,
        },
        "llm": asked(ledger),
        "completions": {
            "asked": dict(tally.calls),
            "invalid": dict(tally.invalid),
            "without_examples": dict(tally.skipped),
            "rounds": tally.rounds,
        },
        "wall_seconds": round(ledger.seconds, 3),
        "stop_reason": stop,
        "versions": versions(),
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
    returns = [log.return_ for log in logs]
    low, high = mean_interval(returns) if returns else (None, None)
    return {
        "outcome": "ok",
        "mean_return": sum(returns) / len(returns) if returns else None,
        "ci95": [low, high],
        "episodes": len(returns),
        "success_rate": None,
        "returns": returns,
    }
