"""Returns by the variants of a family."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from promptpo.envs.task import Task
from promptpo.files import Json
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.records import mean_interval
from promptpo.telling.feedback import episodes_in_words, number


def by_variant(
    task: Task, episodes: Sequence[EpisodeRecord], failed: Mapping[int, float] | None = None
) -> dict[str, Any]:
    """``{"by_variant": [...]}`` of a family, in the order of `Task.playable`; nothing for a single environment.

    Args:
        task: What was played.
        episodes: Those that finished.
        failed: Seed to counted return of those in which the policy failed.
    """
    if not task.is_family:
        return {}
    lost, rows = failed or {}, []
    for index in sorted({task.index_of(seed) for seed in (*(episode.seed for episode in episodes), *lost)}):
        variant = task.playable[index]
        its = [episode for episode in episodes if task.index_of(episode.seed) == index]
        missed = [value for seed, value in lost.items() if task.index_of(seed) == index]
        row = {
            "variant": variant.name,
            "env_id": variant.env_id,
            "env_kwargs": dict(variant.env_kwargs),
            **of_episodes(its, missed),
            "failed_episodes": len(missed),
        }
        left_out = {"returns", *(name for name in ("env_id", "failed_episodes") if not row[name])}
        rows.append({name: value for name, value in row.items() if name not in left_out})
    return {"by_variant": rows}


def of_episodes(episodes: Sequence[EpisodeRecord], failed: Sequence[float] = ()) -> dict[str, Any]:
    """Mean, interval, success rate and single returns of episodes.

    Args:
        episodes: Those that finished.
        failed: What those count in which the policy failed, and which are no success.
    """
    returns = [*(episode.return_ for episode in episodes), *failed]
    known = [float(episode.success) for episode in episodes if episode.success is not None]
    return {
        "mean_return": finite(statistics.fmean(returns)) if returns else None,
        "ci95": list(map(finite, mean_interval(returns))),
        "episodes": len(returns),
        "success_rate": sum(known) / (len(known) + len(failed)) if known else None,
        "returns": list(map(finite, returns)),
    }


def counted_failures(test: Evaluation, seeds: Sequence[int]) -> dict[int, float]:
    """Seed to counted return of the test episodes in which a policy failed: the worst of those that finished."""
    finished = {episode.seed for episode in test.episodes}
    missing = [seed for seed in seeds if seed not in finished][: test.failed]
    return dict.fromkeys(missing, min(test.returns)) if test.episodes else {}


def table(rows: Sequence[Json]) -> list[str]:
    """The rows as lines of a small table of text."""
    width = max((len(row["variant"]) for row in rows), default=0)
    return [f"  {row['variant']:<{width}}  {score_in_words(row) or 'nothing ran'}" for row in rows]


def score_in_words(part: Json | None) -> str:
    """A mean with its interval, for example "462.6 (95 % interval 453.9 to 471, 100 episodes, success 90%)"; empty without one."""
    if not part or part.get("mean_return") is None:
        return ""
    low, high = map(number, part["ci95"])
    rate = part.get("success_rate")
    success = "" if rate is None else f", success {rate:.0%}"
    return f"{number(part['mean_return'])} (95 % interval {low} to {high}, {episodes_in_words(part['episodes'])}{success})"


def finite(value: float) -> float | None:
    """The number as JSON can hold it: None for NaN and infinities."""
    return value if math.isfinite(value) else None
