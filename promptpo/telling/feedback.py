"""What happened in the rollouts of a candidate, as text for the next prompt.

Aggregates over all episodes come first, then the median and the worst episode: shown alone, a vivid
single failure misleads a model into throwing a good policy away (R2PO, 2026, reports it for CartPole).
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from promptpo.rollouts.evaluation import Evaluation
from promptpo.run.records import Attempt

if TYPE_CHECKING:
    from sandbox import Episode

MAX_SUMMARY = 1200
"""Characters of one episode's summary that reach a prompt."""

ROWS = 10
"""Steps of an episode that the built-in summary shows."""


def typical(episodes: Sequence[Episode]) -> list[tuple[str, Episode]]:
    """The median and the worst finished episode, by return; only one when they are the same."""
    finished = sorted((e for e in episodes if e.failure is None), key=lambda e: e.return_)
    if not finished:
        return []
    median, worst = finished[len(finished) // 2], finished[0]
    if worst.return_ == median.return_:
        return [("A typical episode", median)]
    return [("The median episode", median), ("The worst episode", worst)]


def aggregate(evaluation: Evaluation) -> str:
    """One or two sentences over all episodes of an evaluation."""
    if evaluation.outcome != "ok":
        where = _where(evaluation)
        finished = (
            f" ({len(evaluation.episodes)} episodes had finished before)" if evaluation.episodes else ""
        )
        return f"{OUTCOME_WORDS[evaluation.outcome].capitalize()}{where}: {evaluation.error}{finished}"
    returns = evaluation.returns
    text = f"Mean return {number(evaluation.mean_return)} over {_episodes(len(returns))}"
    if len(returns) > 1:
        text += (
            f" (min {number(min(returns))}, median {number(statistics.median(returns))}, "
            f"max {number(max(returns))})"
        )
    if evaluation.success_rate is not None:
        text += f"; success in {evaluation.success_rate:.0%} of them"
    lengths = [episode.steps for episode in evaluation.episodes]
    ended = sum(episode.terminated for episode in evaluation.episodes)
    text += f". Length {_range(lengths)} steps; {ended} of {len(lengths)} ended by termination, the others by the horizon."
    clipped = sum(episode.clipped for episode in evaluation.episodes)
    if clipped:
        text += (
            f" Actions were clipped into their bounds at {clipped / max(1, sum(lengths)):.0%} of the steps."
        )
    return text


OUTCOME_WORDS = {
    "ok": "ran",
    "rejected": "rejected before it ran",
    "crashed": "crashed",
    "timeout": "took too long",
    "memory": "used too much memory",
    "invalid_action": "returned an invalid action",
}


def one_line(attempt: Attempt) -> str:
    """An attempt in one line, for the list of those that are not shown in full."""
    evaluation = attempt.evaluation
    name = attempt.id
    if attempt.candidate.duplicate_of:
        return f"{name}: the same program as {attempt.candidate.duplicate_of}"
    if evaluation.outcome != "ok":
        return f"{name}: {OUTCOME_WORDS[evaluation.outcome]}: {evaluation.error}"
    line = f"{name}: mean return {number(evaluation.mean_return)}"
    if evaluation.success_rate is not None:
        line += f", success {evaluation.success_rate:.0%}"
    about = attempt.prose.strip().split("\n")[0][:140]
    return f"{line} ({about})" if about else line


def summary(label: str, episode: Episode, text: str) -> str:
    """One episode's part of the feedback."""
    ending = "terminated" if episode.terminated else "reached the horizon"
    head = f"{label} (return {number(episode.return_)}, {episode.steps} steps, {ending}):"
    return f"{head}\n{text.strip()[:MAX_SUMMARY]}"


def built_in_summary(episode: Episode) -> str:
    """A few steps of an episode, evenly spread, the last one included: observation, action, reward."""
    trajectory = episode.trajectory
    if trajectory is None or not len(trajectory.rewards):
        return ""
    n = len(trajectory.rewards)
    steps = sorted({round(i * (n - 1) / max(1, min(ROWS, n) - 1)) for i in range(min(ROWS, n))})
    rows = [
        f"step {t}: obs {compact(trajectory.observations[t])} action {compact(trajectory.actions[t])} "
        f"reward {number(float(trajectory.rewards[t]))}"
        for t in steps
    ]
    rows.append(f"after the last step: obs {compact(trajectory.observations[-1])}")
    return "\n".join(rows)


def for_feedback_class(episode: Episode, *, sees_all: bool) -> Any:
    """What the LLM-written feedback class is given, as plain data."""
    trajectory = episode.trajectory
    if trajectory is None:
        raise ValueError("the episode was not recorded")
    observations = [_plain(obs) for obs in trajectory.observations]
    if not sees_all:
        return observations[:-1]
    return {
        "observations": observations,
        "actions": [_plain(action) for action in trajectory.actions],
        "rewards": [float(reward) for reward in trajectory.rewards],
        "terminated": episode.terminated,
        "truncated": episode.truncated,
        "success": episode.success,
    }


def _plain(value: Any) -> Any:
    import numpy as np

    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(_plain(item) for item in value)
    return value


def compact(value: Any, limit: int = 240) -> str:
    """A value in few characters: three significant digits, long arrays cut."""
    import numpy as np

    if isinstance(value, np.ndarray):
        flat = value.ravel()
        shown = ", ".join(number(float(v)) if flat.dtype.kind != "U" else str(v) for v in flat[:24])
        text = f"[{shown}{', …' if flat.size > 24 else ''}]"  # noqa: PLR2004
    elif isinstance(value, Mapping):
        text = "{" + ", ".join(f"{key}: {compact(item, 100)}" for key, item in value.items()) + "}"
    elif isinstance(value, (tuple, list)):
        text = "(" + ", ".join(compact(item, 100) for item in value) + ")"
    elif isinstance(value, (float, np.floating)):
        text = number(float(value))
    else:
        text = str(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def number(value: float) -> str:
    """A number with as many digits as a reader needs."""
    if value != value:  # noqa: PLR0124 - NaN
        return "NaN"
    if abs(value) >= 1000:  # noqa: PLR2004
        return f"{value:.0f}"
    return f"{value:.4g}" if abs(value) >= 100 else f"{value:.3g}"  # noqa: PLR2004


def _episodes(n: int) -> str:
    return "1 episode" if n == 1 else f"{n} episodes"


def _range(values: Sequence[int]) -> str:
    return str(values[0]) if min(values) == max(values) else f"{min(values)} to {max(values)}"


def _where(evaluation: Evaluation) -> str:
    if evaluation.failed_at is None or evaluation.failed_at[1] is None:
        return ""
    return f" at step {evaluation.failed_at[1]} of an episode"
