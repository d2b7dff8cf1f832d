"""``result.json`` of a run of the agent: the format of all runs, and the cost of an episode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from promptpo.rollouts.evaluation import Evaluation
from promptpo_baselines.llm_agent.play import COUNTS
from promptpo_baselines.result_parts import scores_of

if TYPE_CHECKING:
    from promptpo.envs.task import Task
    from promptpo_baselines.llm_agent.play import AgentEpisode


def summarize_episodes(
    task: Task, found: Mapping[str, Sequence[AgentEpisode]], seeds: Mapping[str, Sequence[int]]
) -> dict[str, Any]:
    """Summarise finished episodes for ``result.json``.

    Args:
        task: The task that was played.
        found: The episodes: "test", and "held_out" if the task has held-out variants.
        seeds: Seeds of the planned episodes, likewise.
    """
    test, *beyond = (
        _test_result(task, found[kind], seeds[kind]) for kind in found if found[kind] or kind == "test"
    )
    episodes = [episode for played in found.values() for episode in played]
    return {
        "language_model": True,
        "best": {"steps": 0},
        "validation": None,
        "test": test | ({"held_out": beyond[0]} if beyond else {}),
        "curve": [],
        "per_episode": per_episode(episodes),
        "answers": {name: sum(episode.counts.get(name, 0) for episode in episodes) for name in COUNTS},
    }


def per_episode(episodes: Sequence[AgentEpisode]) -> dict[str, float | None] | None:
    """Return the mean cost of a finished episode: calls, tokens, seconds of waiting, dollars; None without episodes.

    The dollars are None if the price of a call is unknown.
    """
    if not episodes:
        return None
    n = len(episodes)
    counts = sum((Counter(episode.counts) for episode in episodes), Counter[str]())
    return {
        "steps": sum(episode.record.steps for episode in episodes) / n,
        "calls": counts["calls"] / n,
        "tokens": counts["tokens"] / n,
        "seconds": round(sum(episode.seconds for episode in episodes) / n, 3),
        "cost_usd": None if counts["unpriced"] else round(sum(episode.usd for episode in episodes) / n, 9),
    }


def _test_result(task: Task, episodes: Sequence[AgentEpisode], seeds: Sequence[int]) -> dict[str, Any]:
    """Return the episodes as results show them, with None as the return of seeds whose episode did not finish."""
    records = tuple(sorted((episode.record for episode in episodes), key=lambda record: record.seed))
    content = scores_of(task, Evaluation("ok", records, sum(record.steps for record in records)))
    by_seed = dict(zip((record.seed for record in records), content["returns"], strict=True))
    last = max((n for n, seed in enumerate(seeds) if seed in by_seed), default=-1)
    return content | {"returns": [by_seed.get(seed) for seed in seeds[: last + 1]]}
