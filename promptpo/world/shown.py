"""Which recorded steps a request for a world model shows: some in a row, those that end episodes, and what the data cover."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.world.numbers import quantities, rows

if TYPE_CHECKING:
    from promptpo_sandbox import Recorded

ROWS, RARE = 14, 8
"""Recorded steps that a request shows: consecutive ones, and endings and the highest rewards of episodes."""

LONGEST = 400
"""Characters of an observation or an action."""

MOST_NUMBERS = 20
"""Numbers of observations and actions whose range is told."""


def in_a_row(episodes: Sequence[Recorded]) -> list[str]:
    """The beginning of one episode and the end of another."""
    half = ROWS // 2
    first = [step_as_row(one, t) for one in episodes[:1] for t in range(len(one))[:half]]
    return first + [step_as_row(one, t) for one in episodes[-1:] for t in range(len(one))[-half:]]


def rare(episodes: Sequence[Recorded]) -> list[str]:
    """Steps that end episodes, and those that earn most: what few rows in a row show."""
    ends = [(one, len(one) - 1) for one in episodes if one.terminated]
    most = [(one, int(one.rewards.argmax())) for one in episodes]
    return list(dict.fromkeys(step_as_row(*place) for place in [*ends[:RARE], *most[:RARE]]))


def coverage(episodes: Sequence[Recorded], observation: spaces.Space[Any]) -> list[str]:
    """What the steps cover: how many there are, and the ranges of actions and of what was seen."""
    if not episodes:
        return []
    steps, ended = sum(map(len, episodes)), sum(one.terminated for one in episodes)
    count = f"{len(episodes)} episode{'' if len(episodes) == 1 else 's'}"
    lines = [f"{steps:,} steps in {count}, of which {ended or 'none'} ended before a time limit"]
    done = np.concatenate([rows(one.actions) for one in episodes])
    lines.append("actions: " + ", ".join(_ranges(done)))
    known = quantities(observation)
    if known is not None:
        seen = np.concatenate([rows(one.observations) for one in episodes])
        named = zip(known, _ranges(seen), strict=False)
        lines.append("seen: " + ", ".join(f"{quantity.name} {told}" for quantity, told in named))
    return lines


def _ranges(columns: Any) -> list[str]:
    bounds = zip(columns.min(axis=0)[:MOST_NUMBERS], columns.max(axis=0)[:MOST_NUMBERS], strict=True)
    return [f"{low:.4g} .. {high:.4g}" for low, high in bounds]


def step_as_row(episode: Recorded, t: int) -> str:
    """One recorded step as a row."""
    ended = ", ended" if episode.terminated and t == len(episode) - 1 else ""
    return (
        f"step {t}: obs {_short(episode.observations[t])}, action {_short(episode.actions[t])} -> "
        f"obs {_short(episode.observations[t + 1])}, reward {episode.rewards[t]:.6g}{ended}"
    )


def _short(value: Any) -> str:
    known = isinstance(value, np.ndarray)
    text = (
        np.array2string(value, precision=5, separator=", ", threshold=60, max_line_width=10**6)
        if known
        else str(value)
    )
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"
