"""Statistics of a policy's test episodes, for the judge of a goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from promptpo.prompts.feedback import endings, number
from promptpo.prompts.limits import NAMED

if TYPE_CHECKING:
    from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation

COLUMNS = ("min", "5 %", "median", "95 %", "max", "zero in")


def all_episodes(evaluation: Evaluation) -> str:
    """Describe how episodes ended, how many succeeded, and the spread of their returns and reward terms.

    Args:
        evaluation: Episodes rewarded by a reward program.

    Returns:
        Some lines and a table; empty if no episode finished.
    """
    episodes = evaluation.episodes
    if not episodes:
        return ""
    lines = [endings(episodes)]
    ended = sorted(e.steps for e in episodes if e.terminated)
    if 0 < len(ended) < len(episodes) and len(ended) <= NAMED:
        lines.append(f"The terminated ones took {', '.join(map(str, ended))} steps.")
    if evaluation.failed:
        lines.append(f"In {evaluation.failed} more, the policy failed: {evaluation.error.rstrip('.')}.")
    known = [e.success for e in episodes if e.success is not None]
    if known:
        lines.append(f"`success()` was true in {sum(known)} of {len(known)}.")
    rows = _rows(episodes)
    table = ["|".join(["sum over an episode", *COLUMNS])]
    table += ["|".join([name, *_spread(values)]) for name, values in rows.items()]
    return "\n".join([*lines, "", *table])


def summarize_references(references: Mapping[str, Evaluation]) -> list[str]:
    """Describe other policies on the same episodes, one line each."""
    found = []
    for name, evaluation in references.items():
        if not evaluation.episodes:
            continue
        text = f"{name}: returns {number(evaluation.mean_return)} on average"
        if evaluation.env_mean_return is not None:
            text += f"; environment's own reward {number(evaluation.env_mean_return)}"
        if evaluation.success_rate is not None:
            text += f"; `success()` was true in {evaluation.success_rate:.0%}"
        steps = [e.steps for e in evaluation.episodes]
        found.append(f"{text}; {min(steps)} to {max(steps)} steps")
    return found


def _rows(episodes: Sequence[EpisodeRecord]) -> dict[str, list[float]]:
    """Return the numbers to show for each episode, by name."""
    rows = {"steps": [float(e.steps) for e in episodes], "the reward": [e.return_ for e in episodes]}
    for name in dict.fromkeys(name for e in episodes for name in e.parts):
        rows[f"its part {name}"] = [e.parts.get(name, 0.0) for e in episodes]
    own = [e.env_return for e in episodes if e.env_return is not None]
    if len(own) == len(episodes):
        rows["the environment's own reward"] = own
    return rows


def _spread(values: Sequence[float]) -> list[str]:
    cuts = np.quantile(values, [0.0, 0.05, 0.5, 0.95, 1.0])
    zeros = sum(not value for value in values)
    return [*map(number, cuts), f"{zeros} of {len(values)}"]
