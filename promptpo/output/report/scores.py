"""Statistics of episodes' returns, overall and by variants of a family."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from promptpo.core.returns import Evidence, PairedDifference
from promptpo.envs.task import Task
from promptpo.files import Json
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation


def by_variant(task: Task, episodes: Sequence[EpisodeRecord]) -> dict[str, Any]:
    """Return ``{"by_variant": [...]}`` for a family, in the order of `Task.playable`; empty for a single environment.

    Args:
        task: The task that was played.
        episodes: Episodes from `count_failures_as_worst`.
    """
    if not task.is_family:
        return {}
    rows = []
    for index in sorted({task.index_of(episode.seed) for episode in episodes}):
        variant = task.playable[index]
        own = [episode for episode in episodes if task.index_of(episode.seed) == index]
        row: dict[str, Any] = {
            "variant": variant.name,
            "env_kwargs": dict(variant.env_kwargs),
            **of_episodes(own),
        }
        del row["returns"]
        more = {"env_id": variant.env_id, "failed_episodes": sum(not episode.steps for episode in own)}
        rows.append(row | {name: value for name, value in more.items() if value})
    return {"by_variant": rows}


def of_episodes(episodes: Sequence[EpisodeRecord]) -> dict[str, Any]:
    """Return mean, interval, success rate and individual returns of episodes."""
    all_of_them = Evidence(tuple(episodes))
    return {
        "mean_return": finite(all_of_them.mean_return),
        "ci95": list(map(finite, bootstrap_interval(all_of_them.returns))),
        "episodes": len(episodes),
        "success_rate": all_of_them.success_rate,
        "returns": list(map(finite, all_of_them.returns)),
    }


EpisodeKind = Literal["paired", "unpaired", "replayed", "identical"]
INDEPENDENT = ("paired", "unpaired")
"""Kinds of episodes whose spread gives a standard error."""


def kind_of_episodes(result: Json) -> EpisodeKind:
    """Return how test episodes depend on each other and on their seeds.

    Returns:
        "paired" if a seed repeats its episode; "unpaired" if it does not; "replayed" if all take their data from one
        recorded series; "identical" if a seed changes nothing.
    """
    ahead, test = result.get("preflight") or {}, result.get("test") or {}
    if ahead.get("series"):
        return "replayed"
    if ahead.get("one_episode") and len({*test.get("returns", ())}) < 2:  # noqa: PLR2004 - two differ
        return "identical"
    return "paired" if ahead.get("repeats", True) else "unpaired"


def noise_of(known: Evidence | PairedDifference, kind: EpisodeKind) -> float:
    """Return the standard error of a mean over episodes of a kind; NaN if they do not give one."""
    return known.standard_error if kind in INDEPENDENT else math.nan


def drop_dependent_intervals(result: Json) -> dict[str, Any]:
    """Return a result whose intervals are null if its episodes are not independent."""
    return dict(result) if kind_of_episodes(result) in INDEPENDENT else _without_intervals(result)


def _without_intervals(part: Any) -> Any:
    if not isinstance(part, Mapping):
        return part
    return {
        name: [None, None] if name == "ci95" else _without_intervals(value) for name, value in part.items()
    }


def count_failures_as_worst(test: Evaluation, seeds: Sequence[int]) -> tuple[EpisodeRecord, ...]:
    """Return the episodes of a held-out test, with those in which the policy failed, if any was played to its end.

    These count as the worst of the others and as no success, so that crashing in one initial state of a hundred does
    not help a policy; they have no steps.
    """
    if not test.episodes:
        return ()
    finished, success = (
        {episode.seed for episode in test.episodes},
        None if test.success_rate is None else False,
    )
    missing = [seed for seed in seeds if seed not in finished][: test.failed]
    return (*test.episodes, *(EpisodeRecord(seed, min(test.returns), 0, success) for seed in missing))


def finite(value: float) -> float | None:
    """Return the number as JSON can hold it: None for NaN and infinities."""
    return value if math.isfinite(value) else None


def bootstrap_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % bootstrap percentile interval of the mean, with a fixed seed so that it repeats.

    Args:
        values: Returns of independent episodes.

    Returns:
        (low, high); (nan, nan) for fewer than two values, or if one is not finite.
    """
    import numpy as np

    if len(values) < 2 or not all(map(math.isfinite, values)):  # noqa: PLR2004 - one has no spread
        return (math.nan, math.nan)
    data = np.asarray(values, dtype=float)
    draws = np.random.default_rng(0).choice(data, size=(2000, data.size)).mean(axis=1)
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(low), float(high)
