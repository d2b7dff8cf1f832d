"""The steps of an episode around what went wrong in it, as a table."""

from __future__ import annotations

import itertools
import math
import re
import statistics
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from promptpo.telling.columns import called, components, words
from promptpo.telling.feedback import brief, compact

if TYPE_CHECKING:
    from sandbox import Episode, Trajectory

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

MOST_OBSERVED, MOST_DONE, MOST_KEPT = 7, 4, 4
"""Columns: of the observation, of the action, and of what a policy keeps in its ``debug``."""

POSTURE = 3
"""Columns at most that are kept for how the body stands."""

SEEN = 100
"""Steps of an episode, evenly spread, from which the range of a quantity is read."""

BEGINNING, BEGINNING_ROWS = 40, 6
"""Steps at the beginning of a failed episode that are shown, in about so many rows; twice as many before its end."""

BEGUN, BEGUN_DONE, BEGUN_KEPT = 4, 2, 3
"""Columns of these rows."""

ROWS = 9
"""Steps of an episode that stand for all of it."""

CALM = 10
"""Steps in the middle of an episode that stand for how it usually goes."""


def trace(episode: Episode, names: Mapping[str, str], posture: Collection[str] = ()) -> str:
    """Some twenty consecutive steps around the event: observation and action with their names, and reward.

    Args:
        episode: Recorded, of at least one step.
        names: From `promptpo.spec.reading.names_of`.
        posture: From `promptpo.spec.reading.posture_of`: columns that are shown wherever they change.
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
    # What changes before the event, not after it, is what may have led to it.
    before = max(2, sum(t <= at for t in steps))
    rows = _table(trajectory, steps, names, posture, (MOST_OBSERVED, MOST_DONE, MOST_KEPT), before)
    return "\n".join([f"Steps {steps[0]} to {steps[-1]}, {what}:", *rows])


def overview(episode: Episode, names: Mapping[str, str], posture: Collection[str] = ()) -> str:
    """A few steps of an episode, evenly spread, the last one included: what is told where no feedback class says more."""
    trajectory = episode.trajectory
    if trajectory is None or not len(trajectory.rewards):
        return ""
    n = len(trajectory.rewards)
    steps = sorted({round(i * (n - 1) / max(1, min(ROWS, n) - 1)) for i in range(min(ROWS, n))})
    return "\n".join(_table(trajectory, steps, names, posture, (MOST_OBSERVED + 1, MOST_DONE, 0), len(steps)))


def usual(episode: Episode, names: Mapping[str, str], posture: Collection[str] = ()) -> str:
    """A few consecutive steps from the middle of an episode: how it goes when nothing special happens."""
    trajectory = episode.trajectory
    if trajectory is None or len(trajectory.rewards) < 2 * STEPS:
        return ""
    first = (len(trajectory.rewards) - CALM) // 2
    steps = range(first, first + CALM)
    rows = _table(trajectory, steps, names, posture, (MOST_OBSERVED, MOST_DONE, MOST_KEPT), CALM)
    return "\n".join([f"Steps {steps[0]} to {steps[-1]}, in its middle:", *rows])


def _table(
    trajectory: Trajectory,
    steps: Sequence[int],
    names: Mapping[str, str],
    posture: Collection[str],
    most: tuple[int, int, int],
    before: int,
) -> list[str]:
    """A heading and a row for each step, runs of equal steps in one: a robot that stands still needs no twenty."""
    seen, before = trajectory.observations, min(before, len(steps))
    spread = (
        [seen[round(i * (len(seen) - 1) / (SEEN - 1))] for i in range(SEEN)] if len(seen) > SEEN else seen
    )
    around = seen[max(0, steps[before - 1] - STEPS) : steps[before - 1] + 1]
    kind = "seen" if trajectory.perceived else "obs"
    observed = _observed([seen[t] for t in steps], spread, around, kind, names, posture, most[0], before)
    done = _columns([trajectory.actions[t] for t in steps], "action", names, most[1])
    done = {f"action.{name}" if name in observed else name: texts for name, texts in done.items()}
    columns = {**observed, **_debug(trajectory.debug, steps, most[2]), **done}
    rows = [
        [str(t), *(column[i] for column in columns.values()), cell(float(trajectory.rewards[t]))]
        for i, t in enumerate(steps)
    ]
    return ["|".join(["step", *columns, "reward"]), *_folded(rows)]


def _before_the_end(length: int) -> list[int]:
    """Steps before the end of an episode, the last ones closer to each other."""
    return [
        *range(length - BEFORE_END, length - LAST, APART),
        *range(length - LAST, length - 1, LAST_APART),
        length - 1,
    ]


def course(episode: Episode, names: Mapping[str, str], posture: Collection[str] = ()) -> str:
    """Steps of an episode that failed, in a few rows: its beginning, or, if it went on for long, what led to its end.

    Args:
        episode: Recorded, of at least one step.
        names: From `promptpo.spec.reading.names_of`.
        posture: From `promptpo.spec.reading.posture_of`.
    """
    trajectory = episode.trajectory
    if trajectory is None or not len(trajectory.rewards):
        return ""
    length = len(trajectory.rewards)
    at_once = length <= 2 * BEGINNING or not episode.terminated
    first, end = (0, min(length, BEGINNING)) if at_once else (length - 2 * BEGINNING, length)
    apart = max(1, math.ceil((end - first) / BEGINNING_ROWS))
    steps = [t for t in range(first, end) if (t - first) % apart == 0 or t == end - 1]
    rows = _table(trajectory, steps, names, posture, (BEGUN, BEGUN_DONE, BEGUN_KEPT), len(steps))
    about = (
        f"How it began (start of {length:,} step{'s' if length > 1 else ''}):"
        if at_once
        else f"How it ended (of {length:,} steps):"
    )
    return "\n".join([about, *rows])


def shorter(table: str) -> str:
    """The part of a trace nearest to the event."""
    about, heading, *rows = table.splitlines()
    kept = rows[-FEW:]
    poorest = re.search(r"\(from step (\d+) on\)", about)
    if poorest is not None:
        kept = ([row for row in rows if int(re.split(r"\D", row, maxsplit=1)[0]) >= int(poorest[1])] or rows)[
            :FEW
        ]
    if len(kept) < len(rows):
        until = f"to {about.partition(' to ')[2]}" if poorest is None else "on, where least was earned:"
        about = f"Steps {kept[0].split('|')[0]} {until}"
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
        return min(start + STEPS - 1 - AFTER, last), f"where least was earned (from step {start} on)"
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


def _observed(
    values: Sequence[Any],
    spread: Sequence[Any],
    around: Sequence[Any],
    kind: str,
    names: Mapping[str, str],
    posture: Collection[str],
    most: int,
    before: int,
) -> dict[str, list[str]]:
    """Name to one text for each step, for the parts of an observation that tell most, in their own order.

    Those that tell how the body stands come first, then those that went furthest before the event, as a share of
    what they range over in the episode. What never changes, what only repeats another part, a step later or not,
    and entries of large arrays, which say nothing one by one, are left out.

    Args:
        values: Observations, one for each row.
        spread: Observations from the whole episode.
        around: Consecutive ones until the event.
        kind: "obs"; "seen" where they are what a policy's ``perceive`` returned.
        names: What parts are called.
        posture: Names of those that tell how the body stands.
        most: Columns.
        before: Rows until the event.
    """
    parts, texts, labels = _texts(values, kind, names)
    if not labels and kind == "seen":
        return {}
    if not labels:  # nothing that has a value of its own
        return {"obs": [compact(value, 60) for value in values]}
    sizes = Counter(name.split("[")[0] for name in labels.values())
    kept = [n for n in labels if len(set(texts[n])) > 1 and sizes[labels[n].split("[")[0]] <= LARGE]
    whole = [dict(components(value, kind)) for value in spread] if kept else []
    went = {
        n: _went([p.get(n, math.nan) for p in parts[:before]], [p[n] for p in whole if n in p]) for n in kept
    }
    stands = [n for n in kept if labels[n].split("[")[0] in posture]
    ranked = sorted(stands, key=lambda n: -went[n])[:POSTURE]
    nearby = [dict(components(value, kind)) for value in around] if kept else []

    def course_of(label: str) -> list[float]:
        return [part[label] for part in nearby] if all(label in part for part in nearby) else []

    ranked += sorted((n for n in kept if n not in ranked), key=lambda n: (_counts(course_of(n)), -went[n]))
    shown: list[str] = []
    for label in ranked:
        if len(shown) == most:
            break
        mine, earlier = course_of(label), kept[: kept.index(label)]
        if not any(_repeats(mine, course_of(one)) for one in earlier):
            shown.append(label)
    return {labels[n]: texts[n] for n in labels if n in shown}


def _columns(values: Sequence[Any], kind: str, names: Mapping[str, str], most: int) -> dict[str, list[str]]:
    """Name to one text for each step; the columns that change most often, in their own order."""
    _, texts, labels = _texts(values, kind, names)
    if not labels:
        return {kind: [compact(value, 60) for value in values]}
    by_change = sorted(labels, key=lambda label: -len(set(texts[label])))[:most]
    return {labels[label]: texts[label] for label in labels if label in by_change}


def _texts(
    values: Sequence[Any], kind: str, names: Mapping[str, str]
) -> tuple[list[dict[str, float]], dict[str, list[str]], dict[str, str]]:
    """The numbers of each value by label, the texts of its cells, and what the labels are called."""
    parts = [dict(components(value, kind)) for value in values]
    said = [dict(words(value, kind)) for value in values]
    every: list[Mapping[str, Any]] = [*parts, *said]
    labels = {label: called(label, names) for part in every for label in part}
    numbers = {label for part in parts for label in part}
    texts = {
        label: [
            (cell(part[label]) if label in part else "")
            if label in numbers
            else _flat(compact(told.get(label, ""), 60))
            for part, told in zip(parts, said, strict=True)
        ]
        for label in labels
    }
    return parts, texts, labels


def _counts(values: Sequence[float]) -> bool:
    """Whether a quantity only counts the steps, which the table does too."""
    apart = {b - a for a, b in itertools.pairwise(values)}
    return len(values) > 3 and len(apart) == 1 and abs(apart.pop()) == 1  # noqa: PLR2004 - a short run may be chance


def _repeats(values: Sequence[float], other: Sequence[float]) -> bool:
    """Whether a quantity says what another one does, in the same consecutive steps or one step later."""
    if len(set(other[:-1])) < 3:  # noqa: PLR2004 - flags agree by chance
        return False
    return values == other or values[1:] == other[:-1]


def _went(values: Sequence[float], seen: Sequence[float]) -> float:
    """How far a quantity went, as a share of its range, and how straight: next to nothing for one that goes to and fro.

    How far is from the mean of the first rows to that of the last.
    """
    third = max(1, len(values) // 3)
    far = abs(statistics.fmean(values[-third:]) - statistics.fmean(values[:third]))
    way = sum(abs(b - a) for a, b in itertools.pairwise(values))
    finite = [v for v in (*seen, *values) if math.isfinite(v)]
    size = max(finite) - min(finite) if finite else 0.0
    return far / size * min(1.0, far / way) if size > 0 and way > 0 and math.isfinite(far) else 0.0


def _debug(kept: Sequence[Mapping[str, Any]], steps: Sequence[int], most: int) -> dict[str, list[str]]:
    """What the policy kept in its ``debug`` in these steps: the first names that it used."""
    if not kept:
        return {}
    names = list(dict.fromkeys(name for t in steps for name in kept[t]))[:most]
    return {f"debug.{_flat(name)}": [_kept(kept[t].get(name)) for t in steps] for name in names}


def _kept(value: Any) -> str:
    if value is None:
        return ""
    return _flat(value) if isinstance(value, str) else cell(float(value))


def _flat(text: str) -> str:
    """Text that stays inside its cell."""
    return text.replace("|", "/").replace("\n", " ")


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
