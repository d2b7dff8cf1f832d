"""Which recorded steps a request for a world model shows: some in a row, seldom ones, and what the data hold little of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product, zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.world.data import some_of
from promptpo.world.numbers import quantities, rows

if TYPE_CHECKING:
    from sandbox import Recorded

ROWS, RARE, SPARSE = 14, 8, 4
"""Recorded steps that a request shows: consecutive ones, endings and rewards that are seldom seen, and steps that are
unlike all others."""

SELDOM = 0.02
"""Rewards of which a handful of kinds come, and actions that so few steps have, are seldom."""

MOST_COMPARED = 1500
"""Steps among which those are looked for that are unlike all others."""

MOST_ACTIONS, MOST_NAMED = 200, 12
"""Kinds of actions that are counted, and of those that are named."""

MOST_NUMBERS = 20
"""Numbers of observations whose range is told."""

MOST_SHORT = 150
"""Characters of a value in a step that leads to another."""

Place = tuple["Recorded", int]


def in_a_row(episodes: Sequence[Recorded]) -> list[str]:
    """The beginning of one episode and the end of another."""
    found = []
    for episode, first in ((episodes[:1], True), (episodes[-1:], False)):
        for one in episode:
            steps = range(len(one))[: ROWS // 2] if first else range(len(one))[-(ROWS // 2) :]
            found += [step_as_row(one, t) for t in steps]
    return found


def rare(episodes: Sequence[Recorded]) -> list[str]:
    """Steps that end episodes, and those whose rewards are seldom: what few rows in a row show."""
    places = _places(episodes)
    rewards = np.concatenate([one.rewards for one in episodes]) if episodes else np.empty(0)
    unusual = np.flatnonzero(seldom(rewards)).tolist()
    ends = [n for n, (one, t) in enumerate(places) if one.terminated and t == len(one) - 1]
    chosen: dict[tuple[float, bool], list[int]] = {}
    for n in sorted({*ends, *unusual}):
        chosen.setdefault((round(float(rewards[n]), 6), n in ends), []).append(n)
    turns = [n for turn in zip_longest(*chosen.values()) for n in turn if n is not None]
    return [step_as_row(*places[n]) for n in sorted(turns[:RARE])]


def seldom(rewards: Any) -> Any:
    """Which of some rewards are of a kind that comes seldom; none of them where they are numbers of many values."""
    _, kind, counts = np.unique(np.round(rewards, 6), return_inverse=True, return_counts=True)
    few = len(counts) <= len(rewards) // 10
    return few & (counts[kind] <= SELDOM * len(rewards))


def sparse(episodes: Sequence[Recorded], observation: spaces.Space[Any]) -> list[str]:
    """Steps whose observation and action are unlike those of all other episodes' steps, and of their own far from them."""
    chosen = some_of(episodes, MOST_COMPARED)
    places = _places(chosen)
    places = places[:: max(1, len(places) // MOST_COMPARED)]
    if quantities(observation) is None or len(places) <= SPARSE:
        return []
    numbers = _inputs(observation, places)
    middle = np.median(numbers, axis=0)
    size = np.maximum(np.std(numbers, axis=0), 1e-9)
    numbers = (numbers - middle) / size
    apart = np.array([_nearest(numbers, n, places) for n in range(len(places))])
    order = [n for n in np.argsort(-apart, kind="stable") if np.isfinite(apart[n]) and apart[n] > 0]
    found: list[Place] = []
    for n in order:
        one, t = places[n]
        if all(one is not other or abs(t - at) > SPARSE for other, at in found):
            found.append((one, t))
        if len(found) == SPARSE:
            break
    return [step_as_row(one, t) for one, t in found]


def _inputs(observation: spaces.Space[Any], places: Sequence[Place]) -> Any:
    """What the environment was given in some steps, one row each: the observation and the action."""
    seen = {id(one): rows(observation, one.observations) for one, _ in places}
    return np.array([[*seen[id(one)][t], *_numbers(one.actions[t])] for one, t in places])


def _numbers(action: Any) -> list[float]:
    if isinstance(action, dict):
        return [number for part in action.values() for number in _numbers(part)]
    if isinstance(action, tuple):
        return [number for part in action for number in _numbers(part)]
    if isinstance(action, str):
        return []
    return [float(value) for value in np.ravel(np.asarray(action, float))]


def _nearest(numbers: Any, place: int, places: Sequence[Place]) -> float:
    """How far the nearest other step is that is not of the same moment; infinity where there is none."""
    apart = np.abs(numbers - numbers[place]).mean(axis=1)
    one, at = places[place]
    for n in range(max(0, place - SPARSE), min(len(places), place + SPARSE + 1)):
        if places[n][0] is one and abs(places[n][1] - at) <= SPARSE:
            apart[n] = np.inf
    return float(apart.min())


def coverage(episodes: Sequence[Recorded], observation: spaces.Space[Any], action: Any) -> list[str]:
    """What the steps cover: how many there are, how often each action was taken, and the ranges of what was seen."""
    if not episodes:
        return []
    steps, ended = sum(map(len, episodes)), sum(one.terminated for one in episodes)
    count = f"{len(episodes)} episode{'' if len(episodes) == 1 else 's'}"
    lines = [f"{steps:,} steps in {count}, of which {ended or 'none'} ended before a time limit"]
    lines += _actions_taken(episodes, action)
    known = quantities(observation)
    if known is not None:
        seen = np.concatenate([rows(observation, one.observations) for one in episodes])
        ranges = [
            f"{quantity.name} {low:.4g} .. {high:.4g}"
            for quantity, low, high in zip(known, seen.min(axis=0), seen.max(axis=0), strict=True)
        ]
        more = f", and {len(ranges) - MOST_NUMBERS} numbers more" if len(ranges) > MOST_NUMBERS else ""
        lines.append(f"seen: {', '.join(ranges[:MOST_NUMBERS])}{more}")
    return lines


def _actions_taken(episodes: Sequence[Recorded], action: Any) -> Iterator[str]:
    """Actions that were taken seldom, or never; the ranges of those that are numbers."""
    if isinstance(action, spaces.Box) and np.issubdtype(action.dtype or float, np.floating):
        taken = np.concatenate([np.asarray(one.actions, float).reshape(len(one), -1) for one in episodes])
        ranges = zip(taken.min(axis=0)[:MOST_NUMBERS], taken.max(axis=0)[:MOST_NUMBERS], strict=True)
        yield "actions: " + ", ".join(f"{low:.4g} .. {high:.4g}" for low, high in ranges)
        return
    kinds = _kinds(action)
    if kinds is None:
        return
    counts = Counter(_key(one.actions[t]) for one, t in _places(episodes))
    total = sum(counts.values())
    few = sorted((counts[kind], kind) for kind in kinds if counts[kind] <= SELDOM * total)
    named = [f"{_named(kind)} {_times(count)}" for count, kind in few[:MOST_NAMED]]
    more = f", and {len(few) - MOST_NAMED} others" if len(few) > MOST_NAMED else ""
    told = f"seldom taken: {', '.join(named)}{more}" if named else "each taken often"
    yield f"actions: {told} ({len(kinds)} kinds)"


def _kinds(action: Any) -> list[tuple[int, ...]] | None:
    """All actions of a small discrete space; None for others."""
    if isinstance(action, spaces.Discrete):
        return [(int(action.start + n),) for n in range(action.n)] if action.n <= MOST_ACTIONS else None
    if isinstance(action, spaces.MultiDiscrete) and action.nvec.prod() <= MOST_ACTIONS:
        each = [
            range(int(low), int(low + n))
            for low, n in zip(action.start.ravel(), action.nvec.ravel(), strict=True)
        ]
        return list(product(*each))
    return None


def _key(action: Any) -> tuple[int, ...]:
    return tuple(int(value) for value in np.ravel(action))


def _times(count: int) -> str:
    return "never" if not count else "once" if count == 1 else f"{count} times"


def _named(kind: tuple[int, ...]) -> str:
    return str(kind[0]) if len(kind) == 1 else str(list(kind))


def _places(episodes: Sequence[Recorded]) -> list[Place]:
    return [(one, t) for one in episodes for t in range(len(one))]


def step_as_row(episode: Recorded, t: int) -> str:
    """One recorded step as a row."""
    ended = ", ended" if episode.terminated and t == len(episode) - 1 else ""
    return (
        f"step {t}: obs {_short(episode.observations[t])}, action {_short(episode.actions[t])} -> "
        f"obs {_short(episode.observations[t + 1])}, reward {episode.rewards[t]:.6g}{ended}"
    )


def step_in_short(episode: Recorded, t: int) -> str:
    """What was seen and done in one recorded step, and what that earned; the next step tells what followed."""
    seen, done = _short(episode.observations[t], MOST_SHORT), _short(episode.actions[t], MOST_SHORT)
    return f"step {t}: obs {seen}, action {done}, reward {episode.rewards[t]:.6g}"


def _short(value: Any, most: int = 400) -> str:
    if isinstance(value, np.ndarray):
        text = np.array2string(value, precision=5, separator=", ", threshold=60, max_line_width=10**6)
    elif isinstance(value, dict):
        text = "{" + ", ".join(f"{key!r}: {_short(part, most)}" for key, part in value.items()) + "}"
    else:
        text = str(value)
    return text if len(text) <= most else text[:most] + "…"
