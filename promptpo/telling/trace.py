"""The steps of an episode around what went wrong in it, as a table."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from promptpo.telling.columns import called, components, words
from promptpo.telling.feedback import brief, compact

if TYPE_CHECKING:
    from sandbox import Episode

STEPS, AFTER = 20, 5
"""Steps shown, and how many of them come after the event."""

BEFORE_END, APART, LAST, LAST_APART = 100, 10, 20, 2
"""Of a long episode that was terminated: so many steps before its end are shown that far apart, and the last ones
closer, since what ends an episode begins long before."""

FEW = 10
"""Rows of its short form."""

SHORTEST, LONGEST = 5, 25
"""Steps over which rewards before and after a step are averaged: a fiftieth of the episode within these."""

NOISE = 2.0
"""So many standard deviations of the rewards, over as many steps, a loss has to be."""

MOST_EXACT, NOTHING = 1e6, 1e-4
"""Whole numbers below the one are told exactly; numbers below the other as 0."""

LARGE = 40
"""Entries of an array from which on its entries are not shown."""

MOST_OBSERVED, MOST_DONE = 8, 6
"""Columns; of an observation those that change most are shown."""


MOST_KEPT = 4
"""Columns of what a policy keeps in its ``debug``."""

BEGINNING, BEGINNING_ROWS = 40, 8
"""Steps at the beginning of a failed episode that are shown, in about so many rows; twice as many before its end."""

BEGUN, BEGUN_DONE = 5, 3
"""Columns of these rows: of the observation, and of the action."""


def trace(episode: Episode, names: Mapping[str, str]) -> str:
    """Some twenty consecutive steps around the event: observation and action with their names, and reward.

    Args:
        episode: Recorded, of at least one step.
        names: From `promptpo.spec.reading.names_of`.
    """
    trajectory = episode.trajectory
    if trajectory is None or not len(trajectory.rewards):
        return ""
    rewards = [float(reward) for reward in trajectory.rewards]
    at, what = event(rewards, terminated=episode.terminated)
    end = min(len(rewards), max(STEPS, at + 1 + AFTER))
    steps: Sequence[int] = range(max(0, end - STEPS), end)
    if episode.terminated and at == len(rewards) - 1 and len(rewards) >= BEFORE_END:
        steps = _before_the_end(len(rewards))
    kind = "seen" if trajectory.perceived else "obs"
    observed = _columns([trajectory.observations[t] for t in steps], kind, names, MOST_OBSERVED)
    done = _columns([trajectory.actions[t] for t in steps], "action", names, MOST_DONE)
    columns = {**observed, **_debug(trajectory.debug, steps), **done}
    heading = ["step", *columns, "reward"]
    rows = [
        [str(t), *(column[i] for column in columns.values()), cell(rewards[t])] for i, t in enumerate(steps)
    ]
    # Runs of equal steps are one row: a robot that stands still needs no twenty.
    table = _folded(rows)
    return "\n".join([f"Steps {steps[0]} to {steps[-1]}, {what}:", "|".join(heading), *table])


def _before_the_end(length: int) -> list[int]:
    """Steps before the end of an episode, the last ones closer to each other."""
    return [
        *range(length - BEFORE_END, length - LAST, APART),
        *range(length - LAST, length - 1, LAST_APART),
        length - 1,
    ]


def course(episode: Episode, names: Mapping[str, str]) -> str:
    """Steps of an episode that failed, in a few rows: its beginning, or, if it went on for long, what led to its end.

    The columns are those that went furthest, seen against how much they go to and fro.

    Args:
        episode: Recorded, of at least one step.
        names: From `promptpo.spec.reading.names_of`.
    """
    trajectory = episode.trajectory
    if trajectory is None or not len(trajectory.rewards):
        return ""
    length = len(trajectory.rewards)
    at_once = length <= 2 * BEGINNING or not episode.terminated
    first, end = (0, min(length, BEGINNING)) if at_once else (length - 2 * BEGINNING, length)
    apart = max(1, math.ceil((end - first) / BEGINNING_ROWS))
    steps = [t for t in range(first, end) if (t - first) % apart == 0 or t == end - 1]
    kind = "seen" if trajectory.perceived else "obs"
    observed = _columns([trajectory.observations[t] for t in steps], kind, names, BEGUN, moved=True)
    done = _columns([trajectory.actions[t] for t in steps], "action", names, BEGUN_DONE)
    columns = {**observed, **_debug(trajectory.debug, steps), **done}
    rows = [
        [str(t), *(column[i] for column in columns.values()), cell(float(trajectory.rewards[t]))]
        for i, t in enumerate(steps)
    ]
    about = (
        f"How it began (start of {length:,} steps):" if at_once else f"How it ended (of {length:,} steps):"
    )
    return "\n".join([about, "|".join(["step", *columns, "reward"]), *_folded(rows)])


def shorter(table: str) -> str:
    """The part of a trace nearest to the event."""
    about, heading, *rows = table.splitlines()
    kept = rows[-FEW:]
    if len(kept) < len(rows):
        first = kept[0].split("|")[0]
        about = f"Steps {first} to {about.partition(' to ')[2]}"
    return "\n".join([about, heading, *kept])


def event(rewards: Sequence[float], *, terminated: bool) -> tuple[int, str]:
    """The step that matters most, and why in words: where reward fell most, or was least, or else the end.

    A fall counts from the smaller of what was earned just before and what is usual in the episode, so that
    the step after a rare bonus is none; it has to be larger than the noise of the rewards makes likely.
    """
    last = len(rewards) - 1
    usual, spread = statistics.median(rewards), statistics.pstdev(rewards)
    window = min(max(SHORTEST, len(rewards) // 50), LONGEST)
    most, at, base = 0.0, last, usual
    for t in range(1, len(rewards)):
        before = min(usual, statistics.fmean(rewards[max(0, t - window) : t]))
        loss = sum(before - reward for reward in rewards[t : t + window])
        if loss > most:
            most, at, base = loss, t, before
    if most > NOISE * spread * math.sqrt(window) or (most > 0 and len(rewards) <= STEPS):
        after = range(at, min(len(rewards), at + window))
        lowest = min(after, key=lambda t: rewards[t])
        if base - rewards[lowest] > most / 2:  # one step did it
            at = lowest
        if at < last:
            return at, f"around step {at}, where reward fell most"
    if terminated:
        return last, "up to where the episode was terminated"
    start, least = _poorest(rewards, window)
    if statistics.fmean(rewards[-window:]) - least > NOISE * spread / math.sqrt(window):
        return min(start + window - 1, last), "where least was earned"
    return last, "the last ones"


def _poorest(rewards: Sequence[float], window: int) -> tuple[int, float]:
    """The first of the consecutive steps in which least was earned, and their mean reward."""
    window = min(window, len(rewards))
    sums = [math.fsum(rewards[t : t + window]) for t in range(len(rewards) - window + 1)]
    start = min(range(len(sums)), key=lambda t: sums[t])
    return start, sums[start] / window


def cell(value: float) -> str:
    """A number in a table: whole ones exactly, as codes are, others with two digits; next to nothing as 0."""
    if abs(value) < MOST_EXACT and float(value).is_integer():
        return f"{value + 0.0:.0f}"  # never "-0"
    return "0" if abs(value) < NOTHING else brief(value)


def _columns(
    values: Sequence[Any], kind: str, names: Mapping[str, str], most: int, *, moved: bool = False
) -> dict[str, list[str]]:
    """Name to one text for each step; the columns that change most, or `moved` furthest, in their own order.

    Parts of an observation that never change, and entries of large arrays, which say nothing one by one,
    are left out.
    """
    parts = [dict(components(value, kind)) for value in values]
    said = [dict(words(value, kind)) for value in values]
    every: list[Mapping[str, Any]] = [*parts, *said]
    labels = {label: called(label, names) for part in every for label in part}
    if not labels and kind == "seen":
        return {}
    if not labels:  # nothing that has a value of its own
        return {kind: [compact(value, 60) for value in values]}
    texts = {
        label: [
            cell(part[label]) if label in part else _flat(compact(told.get(label, ""), 60))
            for part, told in zip(parts, said, strict=True)
        ]
        for label in labels
    }
    sizes = Counter(name.split("[")[0] for name in labels.values())
    kept = [
        label
        for label, name in labels.items()
        if kind not in {"obs", "seen"} or (len(set(texts[label])) > 1 and sizes[name.split("[")[0]] <= LARGE)
    ]
    changes = {label: float(len(set(texts[label]))) for label in kept}
    if moved:
        changes = {label: _went([part.get(label, math.nan) for part in parts]) for label in kept}
    by_change = sorted(kept, key=lambda label: -changes[label])[:most]
    return {labels[label]: texts[label] for label in labels if label in by_change}


def _debug(kept: Sequence[Mapping[str, Any]], steps: Sequence[int]) -> dict[str, list[str]]:
    """What the policy kept in its ``debug`` in these steps: the first names that it used."""
    if not kept:
        return {}
    names = list(dict.fromkeys(name for t in steps for name in kept[t]))[:MOST_KEPT]
    return {f"debug.{_flat(name)}": [_kept(kept[t].get(name)) for t in steps] for name in names}


def _kept(value: Any) -> str:
    if value is None:
        return ""
    return _flat(value) if isinstance(value, str) else cell(float(value))


def _flat(text: str) -> str:
    """Text that stays inside its cell."""
    return text.replace("|", "/").replace("\n", " ")


def _went(values: Sequence[float]) -> float:
    """How far a quantity went from where it began, as a share of all its way: 1 for one that only rises."""
    way = sum(abs(b - a) for a, b in itertools.pairwise(values))
    far = max(abs(value - values[0]) for value in values)
    return far / way if way > 0 else 0.0  # NaN, where a part is missing, compares as 0


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
            lines.append("|".join(row))
    return lines
