"""Behaviour of a policy in figures: ranges, rhythms and the time spent at limits, for whoever improves its program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from promptpo_sandbox import Recorded

Array = np.ndarray[Any, Any]

SATURATED = 0.98
"""Part of a bound from which an action counts as saturated."""

PEAK_SHARE = 0.15
"""Part of the variance at one frequency (and its neighbours) from which a rhythm is named."""

MIN_STEPS = 32


def describe_behaviour(
    episodes: Sequence[Recorded], action_space: Any, names: Sequence[str] = (), step_seconds: float = 0.0
) -> str:
    """Return lines about episodes: their lengths, and of each observation and action mean, spread, range and rhythm.

    Args:
        episodes: Real or simulated ones.
        action_space: Of the task.
        names: Of the coordinates of an observation.
        step_seconds: Length of a step; nought where it is not known.
    """
    if not episodes:
        return "no episode was recorded"
    lengths = [len(episode) for episode in episodes]
    returns = [float(episode.rewards.sum()) for episode in episodes]
    ended = sum(episode.terminated for episode in episodes)
    count = f"{len(episodes)} episodes of {min(lengths)} to {max(lengths)} steps, {ended} of them terminated"
    lines = [f"{count}; returns {min(returns):.4g} to {max(returns):.4g}"]
    longest = episodes[int(np.argmax(lengths))]
    observations = np.asarray(longest.observations[:-1], float).reshape(len(longest), -1)
    actions = np.asarray(longest.actions, float).reshape(len(longest), -1)
    for i, column in enumerate(observations.T):
        name = names[i] if i < len(names) else f"obs[{i}]"
        lines.append(f"{name}: {_figures(column, step_seconds)}")
    low, high = getattr(action_space, "low", None), getattr(action_space, "high", None)
    for i, column in enumerate(actions.T):
        bounds = () if low is None or high is None else (float(low.ravel()[i]), float(high.ravel()[i]))
        lines.append(f"action[{i}]: {_figures(column, step_seconds)}{_saturation(column, bounds)}")
    return "\n".join(lines)


def _figures(column: Array, step_seconds: float) -> str:
    text = (
        f"mean {column.mean():.3g}, spread {column.std():.2g}, range {column.min():.3g} .. {column.max():.3g}"
    )
    return text + _rhythm(column, step_seconds)


def _rhythm(column: Array, step_seconds: float) -> str:
    """The strongest frequency of the second half, where one stands out."""
    half = column[len(column) // 2 :]
    if len(half) < MIN_STEPS or half.std() < 1e-6:  # noqa: PLR2004
        return ""
    power = np.abs(np.fft.rfft((half - half.mean()) * np.hanning(len(half)))) ** 2
    peak = int(np.argmax(power[1:])) + 1
    if power[max(1, peak - 1) : peak + 2].sum() < PEAK_SHARE * power[1:].sum():
        return ""
    period = len(half) / peak
    return f", period {period * step_seconds:.3g} s" if step_seconds else f", period {period:.3g} steps"


def _saturation(column: Array, bounds: tuple[float, ...]) -> str:
    if len(bounds) != 2 or not np.isfinite(bounds).all():  # noqa: PLR2004
        return ""
    middle, half = (bounds[0] + bounds[1]) / 2, (bounds[1] - bounds[0]) / 2
    share = float((np.abs(column - middle) >= SATURATED * half).mean())
    return f", at a bound {share:.0%} of the time"
