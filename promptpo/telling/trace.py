"""The steps of an episode around what went wrong in it, as a table."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from promptpo.telling.columns import called, components
from promptpo.telling.feedback import compact, number

if TYPE_CHECKING:
    from sandbox import Episode

STEPS, AFTER = 20, 5
"""Steps shown, and how many of them come after the event."""

WINDOW = 5
"""Steps over which rewards before and after a step are averaged."""

MOST_OBSERVED, MOST_DONE = 8, 6
"""Columns; of an observation those that change most are shown."""


def trace(episode: Episode, names: Mapping[str, str]) -> str:
    """Some twenty consecutive steps around the event: observation and action with their names, and reward.

    Args:
        episode: Recorded, of at least one step.
        names: From `promptpo.telling.columns.names_of`.
    """
    trajectory = episode.trajectory
    if trajectory is None or not len(trajectory.rewards):
        return ""
    rewards = [float(reward) for reward in trajectory.rewards]
    at, what = event(rewards, terminated=episode.terminated)
    end = min(len(rewards), max(STEPS, at + 1 + AFTER))
    steps = range(max(0, end - STEPS), end)
    observed = _columns([trajectory.observations[t] for t in steps], "obs", names, MOST_OBSERVED)
    done = _columns([trajectory.actions[t] for t in steps], "action", names, MOST_DONE)
    heading = ["step", *observed, *done, "reward"]
    rows = [
        [str(t), *(column[i] for column in (*observed.values(), *done.values())), number(rewards[t])]
        for i, t in enumerate(steps)
    ]
    # Runs of equal steps are one row: a robot that stands still needs no twenty.
    table = _folded(rows)
    return "\n".join([f"Steps {steps[0]} to {steps[-1]}, {what}:", " | ".join(heading), *table])


def event(rewards: Sequence[float], *, terminated: bool) -> tuple[int, str]:
    """The step that matters most, and why in words: where reward fell most, or else the end.

    A fall counts from the smaller of what was earned just before and what is usual in the episode, so that
    the step after a rare bonus is none.
    """
    usual = statistics.median(rewards)
    worst, at = 0.0, len(rewards) - 1
    for t in range(1, len(rewards)):
        before = min(usual, statistics.fmean(rewards[max(0, t - WINDOW) : t]))
        loss = before - statistics.fmean(rewards[t : t + WINDOW])
        if loss >= worst and loss > 0:
            worst, at = loss, t
    spread = statistics.pstdev(rewards)
    if worst > spread > 0 and at < len(rewards) - 1:
        return at, f"around step {at}, after which reward fell most"
    last = len(rewards) - 1
    return last, "up to where the episode was terminated" if terminated else "the last ones"


def _columns(values: Sequence[Any], kind: str, names: Mapping[str, str], most: int) -> dict[str, list[str]]:
    """Name to one text for each step; the columns that change most, in their own order."""
    parts = [dict(components(value, kind)) for value in values]
    labels = list(parts[0])
    if not labels:  # text, which has no numbers
        return {kind: [compact(value, 60) for value in values]}
    texts = {label: [number(part[label]) if label in part else "" for part in parts] for label in labels}
    by_change = sorted(labels, key=lambda label: -len(set(texts[label])))[:most]
    return {called(label, names): texts[label] for label in labels if label in by_change}


def _folded(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines; those that repeat the one before but for the step are counted."""
    lines: list[str] = []
    repeated = 0
    for n, row in enumerate(rows):
        same = n > 0 and row[1:] == rows[n - 1][1:]
        repeated = repeated + 1 if same else 0
        if same:
            more = f" (and the next {repeated})" if repeated > 1 else " (and the next step)"
            lines[-1] = lines[-1].split(" (and the next")[0] + more
        else:
            lines.append(" | ".join(row))
    return lines
