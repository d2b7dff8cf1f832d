"""Summarise a policy's behaviour for its author: ranges, periods, and the time spent at limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from promptpo.simulator.errors import merge_alike
from promptpo.simulator.network_source import span
from promptpo_sandbox import Recorded
from promptpo_sandbox.simulators import Array

SATURATED = 0.98
"""Distance from the middle of the range, in half widths, from which an action counts as saturated."""

PEAK_SHARE = 0.15
"""Share of the variance at one frequency and its neighbours from which its period is given."""

MIN_STEPS = 32


def describe_behaviour(episodes: Sequence[Recorded], action_space: Any, labels: Sequence[str] = ()) -> str:
    """Describe episodes: their lengths, and the mean, spread, range and period of each observation and action.

    Args:
        episodes: Real or simulated episodes.
        action_space: The task's action space.
        labels: Names of the coordinates of an observation.
    """
    if not episodes:
        return "no episode was recorded"
    lengths, returns = [len(e) for e in episodes], [float(e.rewards.sum()) for e in episodes]
    ended = sum(episode.terminated for episode in episodes)
    count = f"{len(episodes)} episodes of {min(lengths)} to {max(lengths)} steps, {ended} of them terminated"
    title = f"{count}; returns {min(returns):.4g} to {max(returns):.4g}"
    longest, lines = max(episodes, key=len), []
    for kind, rows in (("obs", longest.observations[:-1]), ("action", longest.actions)):
        for i, column in enumerate(np.asarray(rows, float).reshape(len(longest), -1).T):
            label = labels[i] if kind == "obs" and i < len(labels) else f"{kind}[{i}]"
            figures = f"mean {column.mean():.3g}, spread {column.std():.2g}, range {column.min():.3g} .. {column.max():.3g}"
            bound = _saturation(column, action_space, i) if kind == "action" else ""
            lines.append((label, f": {figures}{_rhythm(column)}{bound}"))
    return "\n".join([title, *merge_alike(lines)])


def _rhythm(column: Array) -> str:
    """Describe the period of the strongest frequency in the second half; empty if none stands out."""
    half = column[len(column) // 2 :]
    if len(half) < MIN_STEPS or half.std() < 1e-6:  # noqa: PLR2004
        return ""
    power = np.abs(np.fft.rfft((half - half.mean()) * np.hanning(len(half)))) ** 2
    peak = int(np.argmax(power[1:])) + 1
    if power[max(1, peak - 1) : peak + 2].sum() < PEAK_SHARE * power[1:].sum():
        return ""
    return f", period {len(half) / peak:.3g} steps"


def _saturation(column: Array, space: Any, place: int) -> str:
    """Describe how often an action is at one of its bounds; empty if the space is not bounded."""
    if not isinstance(space, spaces.Box) or not space.is_bounded():
        return ""
    middle, half = span(space)
    share = (np.abs(column - middle[place]) >= SATURATED * half[place]).mean()
    return f", at a bound {share:.0%} of the time"
