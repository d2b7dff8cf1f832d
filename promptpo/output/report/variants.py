"""Returns by the variants of a family."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from promptpo.envs.task import Task
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.records import mean_interval


def by_variant(
    task: Task, episodes: Iterable[EpisodeRecord], failed: Mapping[int, float] | None = None
) -> dict[str, Any]:
    """``{"by_variant": [...]}`` of a family, in the order of `Task.playable`; nothing for a single environment.

    Args:
        task: What was played.
        episodes: Those that finished.
        failed: Seed to counted return of those in which the policy failed.
    """
    if not task.is_family:
        return {}
    finished: dict[int, list[EpisodeRecord]] = {}
    for episode in episodes:
        finished.setdefault(task.index_of(episode.seed), []).append(episode)
    lost: dict[int, list[float]] = {}
    for seed, counted in (failed or {}).items():
        lost.setdefault(task.index_of(seed), []).append(counted)
    rows = [
        _row(task, index, finished.get(index, []), lost.get(index, []))
        for index in sorted(finished.keys() | lost.keys())
    ]
    return {"by_variant": rows}


def _row(task: Task, index: int, episodes: Sequence[EpisodeRecord], lost: Sequence[float]) -> dict[str, Any]:
    variant = task.playable[index]
    returns = [*(episode.return_ for episode in episodes), *lost]
    known = [float(episode.success) for episode in episodes if episode.success is not None]
    low, high = mean_interval(returns)
    row = {
        "variant": variant.name,
        **({"env_id": variant.env_id} if variant.env_id else {}),
        "env_kwargs": dict(variant.env_kwargs),
        "mean_return": _finite(statistics.fmean(returns)) if returns else None,
        "ci95": [_finite(low), _finite(high)],
        "episodes": len(returns),
        "success_rate": sum(known) / (len(known) + len(lost)) if known else None,
    }
    return {**row, "failed_episodes": len(lost)} if lost else row


def counted_failures(test: Evaluation, seeds: Sequence[int]) -> dict[int, float]:
    """Seed to counted return of the test episodes in which a policy failed: the worst of those that finished."""
    finished = {episode.seed for episode in test.episodes}
    missing = [seed for seed in seeds if seed not in finished][: test.failed]
    return dict.fromkeys(missing, min(test.returns)) if test.episodes else {}


def table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The rows as lines of a small table of text."""
    width = max((len(row["variant"]) for row in rows), default=0)
    return [f"  {row['variant']:<{width}}  {_words(row)}" for row in rows]


def _words(row: Mapping[str, Any]) -> str:
    if row["mean_return"] is None:
        return "nothing ran"
    low, high = row["ci95"]
    text = f"{row['mean_return']:>10.6g}  ({low:.4g} to {high:.4g}, {row['episodes']} episodes)"
    if row["success_rate"] is not None:
        text += f", success {row['success_rate']:.0%}"
    return text


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
