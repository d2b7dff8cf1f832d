"""``result.json`` of a run of the agent: the format of all runs, and what an episode took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.records import Seeds
from promptpo_baselines.llm_agent.agent import COUNTS
from promptpo_baselines.result_parts import head, scores_of, steps_of
from promptpo_baselines.same_run import asked

if TYPE_CHECKING:
    from promptpo.envs.task import Task
    from promptpo.run.ledger import Ledger
    from promptpo_baselines.llm_agent.play import AgentEpisode


def result_of(
    task: Task,
    config: Mapping[str, Any],
    tested: Sequence[AgentEpisode],
    held_out: Sequence[AgentEpisode],
    *,
    steps: Mapping[str, int],
    ledger: Ledger,
    stop: str,
) -> dict[str, Any]:
    """The content of ``result.json``.

    Args:
        task: What was played.
        config: What decided the run.
        tested: Finished test episodes.
        held_out: Finished episodes on variants held out.
        steps: Environment steps by purpose, those of unfinished episodes included.
        ledger: What was paid.
        stop: Why the run ended.
    """
    episodes, planned = [*tested, *held_out], config["test_episodes"]
    return {
        **head("llm-agent", task, config["seed"]),
        "model": config["engine"],
        "language_model": True,
        "config": dict(config),
        "best": {"steps": 0},
        "validation": None,
        "test": _tested(task, tested, Seeds().test(planned))
        | ({"held_out": _tested(task, held_out, Seeds().held_out(planned))} if held_out else {}),
        "curve": [],
        "steps": steps_of(**steps),
        "llm": asked(ledger),
        "per_episode": per_episode(episodes),
        "answers": {name: sum(one.counts[name] for one in episodes) for name in COUNTS},
        "wall_seconds": round(ledger.seconds, 3),
        "stop_reason": stop,
    }


def per_episode(episodes: Sequence[AgentEpisode]) -> dict[str, float | None] | None:
    """What a finished episode took in the mean: calls, tokens, seconds of waiting, dollars; None without episodes.

    The dollars are None where a call's price is not known.
    """
    if not episodes:
        return None
    n = len(episodes)
    priced = not any(one.counts["unpriced"] for one in episodes)
    return {
        "steps": sum(one.steps for one in episodes) / n,
        "calls": sum(one.counts["calls"] for one in episodes) / n,
        "tokens": sum(one.input_tokens + one.output_tokens for one in episodes) / n,
        "seconds": round(sum(one.seconds for one in episodes) / n, 3),
        "cost_usd": round(sum(one.usd for one in episodes) / n, 9) if priced else None,
    }


def _tested(task: Task, episodes: Sequence[AgentEpisode], seeds: Sequence[int]) -> dict[str, Any]:
    """The episodes as results show them; a seed whose episode did not finish has None in place of a return."""
    records = tuple(
        EpisodeRecord(one.seed, one.return_, one.steps, one.success, one.terminated, one.truncated)
        for one in episodes
    )
    content = scores_of(task, Evaluation("ok", records, sum(one.steps for one in episodes)))
    by_seed = dict(zip((one.seed for one in episodes), content["returns"], strict=True))
    last = max((n for n, seed in enumerate(seeds) if seed in by_seed), default=-1)
    return content | {"returns": [by_seed.get(seed) for seed in seeds[: last + 1]]}
