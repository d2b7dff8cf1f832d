"""A program on the agent's episodes, which shows the cost of acting once code is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from promptpo.core.candidate import Seeds
from promptpo.envs.task import Task
from promptpo.output.evaluating import evaluate
from promptpo.output.report import summarize_evaluation


def beside_program(policy: Path, task: Task, episodes: int) -> dict[str, Any]:
    """Play a program in the sandbox on the test seeds; return its score and the cost of an episode.

    Args:
        policy: An exported file, a bare policy module, or a run directory, which stands for its best policy.
        task: The task to play.
        episodes: Number of episodes.

    Raises:
        UsageError: The file cannot be read.
    """
    first = Seeds().test(1)[0]
    found = evaluate(policy, task, episodes=episodes, seed=first)
    played = found.evaluation
    return {
        "policy": str(policy),
        **(summarize_evaluation(played) or {}),
        "error": played.error or None,
        "per_episode": {
            "calls": 0,
            "seconds": round(played.policy_seconds / max(1, len(played.episodes)), 6),
            "cost_usd": 0.0,
        },
    }
