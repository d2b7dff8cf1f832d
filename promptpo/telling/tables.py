"""Steps of an episode as a table: which quantities are its columns, and in how many digits they are told."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.telling.columns import called, components, words
from promptpo.telling.feedback import brief, compact

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sandbox import Trajectory

MOST_EXACT, NOTHING = 1e6, 1e-4
"""Whole numbers below the one are told exactly; numbers below the other as 0."""

LARGE = 40
"""Entries of an array from which on its entries are not shown."""

POSTURE = 3
"""Columns at most that are kept for how the body stands."""

SEEN = 100
"""Steps of an episode, evenly spread, from which the range of a quantity is read."""

SAME, FEW_STEPS = 1e-3, 5
"""A column whose numbers differ by less than this share of their size says nothing; one whose range is less than so many
units of the last digit that is shown gets more digits."""

SEEN_LAST = "(seen last)"
"""Marks the row of what was seen after the final step."""

PAID, PAID_OVER, LEAST_PAID = 0.6, 200, 20
"""Correlation with the reward from which on a quantity is what is paid for, steps over which it is read, spread over the
episode, and different rewards of these at least."""

RARE = (0.02, 0.98)
"""Rewards below or above these quantiles count as much as these do."""

LIKE = 0.8
"""Correlation from which on a quantity is how fast another one changes."""

ROUGH = 0.02
"""Steps of a quantity below this share of its range do not make it smoother."""

NEARBY = 20
"""Consecutive steps until the event in which quantities are compared with each other."""


def table(
    trajectory: Trajectory,
    steps: Sequence[int],
    names: Mapping[str, str],
    posture: Collection[str],
    most: tuple[int, int, int],
    before: int,
    *,
    after: bool = False,
    swings: bool = False,
) -> list[str]:
    """A heading and a row for each step, runs of equal steps in one: a robot that stands still needs no twenty.

    Args:
        trajectory: The episode.
        steps: Which of its steps.
        names: From `promptpo.spec.reading.names_of`.
        posture: From `promptpo.spec.reading.posture_of`.
        most: Columns at most: of the observation, of the action, and of what the policy keeps in its ``debug``.
        before: Rows until the event: what changes in these decides on the columns.
        after: Show in a last row what was seen after the last of these steps, where that was recorded.
        swings: Rather show what goes smoothly to and fro than what goes on.
    """
    at = [*steps, steps[-1] + 1] if after and steps[-1] + 1 < len(trajectory.observations) else steps
    observed = _observed(trajectory, at, names, posture, most[0], min(before, len(steps)), swings=swings)
    done = _columns([trajectory.actions[t] for t in steps], "action", names, most[1])
    done = {f"action.{name}" if name in observed else name: texts for name, texts in done.items()}
    columns = {**observed, **_debug(trajectory.debug, steps, most[2]), **done}
    columns["reward"] = cells([float(trajectory.rewards[t]) for t in steps])
    cells_of = list(columns.values())
    rows = [[str(t), *(column[i] for column in cells_of)] for i, t in enumerate(steps)]
    last = [f"{at[-1]} {SEEN_LAST}", *(column[-1] if len(column) > len(steps) else "" for column in cells_of)]
    more = ["|".join(last)] if any(last[1:]) else []
    return ["|".join(["step", *columns]), *_folded(rows, steps), *more]


def cell(value: float) -> str:
    """A number in a table: whole ones exactly, as codes are, others with two digits; next to nothing as 0."""
    if abs(value) < MOST_EXACT and float(value).is_integer():
        return f"{value + 0.0:.0f}"  # never "-0"
    return "0" if abs(value) < NOTHING else brief(value)


def cells(values: Sequence[float]) -> list[str]:
    """A column of a table: each number as `cell` tells it, unless that hides how the column changes.

    A height that goes from 1.14 to 1.12 is 1.1 in two digits. Such columns get the decimals that show their range by about
    ten steps or more; what changes by next to nothing of its size is left as it is.
    """
    plain = [cell(value) for value in values]
    size, spread = _extent(values)
    if not SAME * size < spread or all(v.is_integer() for v in map(float, values)):
        return plain
    shown = 10.0 ** (math.floor(math.log10(size)) - 1)  # the last digit that `brief` tells
    decimals = math.ceil(1 - math.log10(spread))
    if spread >= FEW_STEPS * shown or decimals < 0:
        return plain
    return [
        f"{value + 0.0:.{decimals}f}" if math.isfinite(value) else told
        for value, told in zip(values, plain, strict=True)
    ]


def _extent(values: Sequence[float]) -> tuple[float, float]:
    """The largest size of some numbers, and how far they lie apart."""
    finite = [float(value) for value in values if math.isfinite(value)]
    return (max(map(abs, finite)), max(finite) - min(finite)) if finite else (0.0, 0.0)


def _observed(
    trajectory: Trajectory,
    steps: Sequence[int],
    names: Mapping[str, str],
    posture: Collection[str],
    most: int,
    before: int,
    *,
    swings: bool = False,
) -> dict[str, list[str]]:
    """Name to one text for each step, for the parts of an observation that tell most, in their own order.

    Those that tell how the body stands come first, then those that went furthest before the event, as a share of
    what they range over in the episode. What never changes, what only repeats another part, a step later or not,
    and entries of large arrays, which say nothing one by one, are left out.

    Args:
        trajectory: The episode.
        steps: Those before which it was observed.
        names: What parts are called.
        posture: Names of those that tell how the body stands.
        most: Columns.
        before: Rows until the event.
        swings: Those that go smoothly to and fro come first instead.
    """
    seen, kind = trajectory.observations, "seen" if trajectory.perceived else "obs"
    values = [seen[t] for t in steps]
    parts, texts, labels = _texts(values, kind, names)
    if not labels and kind == "seen":
        return {}
    if not labels:  # nothing that has a value of its own
        return {"obs": [compact(value, 60) for value in values]}
    sizes = Counter(name.split("[")[0] for name in labels.values())
    kept = [n for n in labels if len(set(texts[n])) > 1 and sizes[labels[n].split("[")[0]] <= LARGE]
    spread = sorted({round(i * (len(seen) - 1) / (SEEN - 1)) for i in range(SEEN)})
    whole = [dict(components(seen[t], kind)) for t in spread] if kept else []
    went = {
        n: _went([p.get(n, math.nan) for p in parts[:before]], [p[n] for p in whole if n in p]) for n in kept
    }
    stands = [n for n in kept if labels[n].split("[")[0] in posture]
    ranked = sorted(stands, key=lambda n: -went[n])[:POSTURE]
    around = seen[max(0, steps[before - 1] - NEARBY) : steps[before - 1] + 1]
    nearby = [dict(components(value, kind)) for value in around] if kept else []

    def course_of(label: str) -> list[float]:
        return [part[label] for part in nearby] if all(label in part for part in nearby) else []

    if swings:
        span = [dict(components(value, kind)) for value in seen[steps[0] : steps[-1] + 1]] if kept else []
        speeds = _speeds(span, kept)
        went = {n: 0.0 if n in speeds else _share(span, whole, n) * _smooth(span, n) for n in kept}
    paid = paid_for(trajectory)
    ranked = [*(n for n in kept if n == paid), *(n for n in ranked if n != paid)]
    ranked += sorted((n for n in kept if n not in ranked), key=lambda n: (_counts(course_of(n)), -went[n]))
    shown: list[str] = []
    for label in ranked:
        if len(shown) == most:
            break
        mine, earlier = course_of(label), kept[: kept.index(label)]
        if not any(_repeats(mine, course_of(one)) for one in earlier):
            shown.append(label)
    first = [n for n in shown if n == paid]
    return {labels[n]: texts[n] for n in (*first, *labels) if n in shown}


def paid_for(trajectory: Trajectory) -> str:
    """The label of the quantity that goes with the reward from step to step, as a speed does that is rewarded.

    Empty where none does, or where the reward hardly changes or is paid seldom.
    """
    rewards = np.array([float(reward) for reward in trajectory.rewards])
    n = len(rewards)
    steps = (
        sorted({round(i * (n - 1) / (PAID_OVER - 1)) for i in range(PAID_OVER)}) if n >= LEAST_PAID else []
    )
    varied = len(set(rewards[steps].tolist())) >= LEAST_PAID
    if trajectory.perceived or not varied or not np.isfinite(rewards).all():
        return ""
    rewards = np.clip(rewards, *np.quantile(rewards, RARE))  # what is paid once, as at a fall, hides the rest
    seen = trajectory.observations
    later = [min(t + 1, len(seen) - 1) for t in steps]  # what a step earns shows after it
    before, after = ([dict(components(seen[t], "obs")) for t in some] for some in (steps, later))
    found: dict[str, float] = {}
    for label in before[0]:
        for parts in (before, after):
            values = np.array([part.get(label, math.nan) for part in parts])
            if np.isfinite(values).all() and values.std() > 0 and rewards[steps].std() > 0:
                alike = float(np.corrcoef(values, rewards[steps])[0, 1])
                found[label] = max(found.get(label, 0.0), abs(alike))
    best = max(found, key=lambda label: found[label], default="")
    return best if best and found[best] > PAID else ""


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
        label: _told([part.get(label) for part in parts])
        if label in numbers
        else [_flat(compact(told.get(label, ""), 60)) for told in said]
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
    finite = [v for v in (*seen, *values) if math.isfinite(v)]
    size = max(finite) - min(finite) if finite else 0.0
    far = _far(values)
    return far / size * straight(values) if size > 0 and math.isfinite(far) else 0.0


def _share(rows: Sequence[Mapping[str, float]], whole: Sequence[Mapping[str, float]], label: str) -> float:
    """What a quantity ranges over in some rows, as a share of what it does in the episode."""
    here, most = (_extent([row[label] for row in some if label in row])[1] for some in (rows, whole))
    return here / (max(here, most) or 1.0)


def _smooth(rows: Sequence[Mapping[str, float]], label: str) -> float:
    """How smoothly a quantity moves from step to step: angles do, speeds less, and noise not at all."""
    values = [row.get(label, math.nan) for row in rows]
    size = _extent(values)[1]
    steps = [abs(b - a) for a, b in itertools.pairwise(values) if math.isfinite(b - a)]
    return size / (ROUGH * size + statistics.fmean(steps)) if steps and size > 0 else 0.0


def _speeds(rows: Sequence[Mapping[str, float]], labels: Sequence[str]) -> set[str]:
    """Which quantities are how fast another one changes, in consecutive steps, so that the other says it too."""
    values = np.array([[row.get(label, math.nan) for label in labels] for row in rows], dtype=float)
    whole = np.isfinite(values).all(axis=0) if len(rows) > 3 else np.zeros(len(labels), dtype=bool)  # noqa: PLR2004 - too few
    names = [label for label, kept in zip(labels, whole, strict=True) if kept]
    if not names:
        return set()
    values = values[:, whole]
    changes, means = np.diff(values, axis=0), (values[1:] + values[:-1]) / 2
    of_each = _unit(means).T @ _unit(changes)  # how much each quantity is like the change of each
    alike = of_each > LIKE
    found = (alike & ~(np.abs(of_each.T) > LIKE)).any(axis=1)  # sine and cosine are each the other's
    return {name for name, is_speed in zip(names, found, strict=True) if is_speed}


def _unit(columns: NDArray[Any]) -> NDArray[Any]:
    """Columns about their means, of length one; of nothing but zeros where they do not change."""
    columns = columns - columns.mean(axis=0)
    size = np.linalg.norm(columns, axis=0)
    unit: NDArray[Any] = columns / np.where(size > 0, size, 1.0)
    return unit


def _far(values: Sequence[float]) -> float:
    third = max(1, len(values) // 3)
    return abs(statistics.fmean(values[-third:]) - statistics.fmean(values[:third]))


def straight(values: Sequence[float]) -> float:
    """How far a quantity came, as a share of the way that it took."""
    way = sum(abs(b - a) for a, b in itertools.pairwise(values))
    return min(1.0, _far(values) / way) if way > 0 else 0.0


def _debug(kept: Sequence[Mapping[str, Any]], steps: Sequence[int], most: int) -> dict[str, list[str]]:
    """What the policy kept in its ``debug`` in these steps: the first names that it used."""
    if not kept:
        return {}
    names = list(dict.fromkeys(name for t in steps for name in kept[t]))[:most]
    return {f"debug.{_flat(name)}": _told([kept[t].get(name) for t in steps]) for name in names}


def _told(values: Sequence[Any]) -> list[str]:
    """The cells of a column of numbers, texts and gaps."""
    numbers = [float(v) for v in values if v is not None and not isinstance(v, str)]
    told = iter(cells(numbers))
    return ["" if v is None else _flat(v) if isinstance(v, str) else next(told) for v in values]


def _flat(text: str) -> str:
    """Text that stays inside its cell."""
    return text.replace("|", "/").replace("\n", " ")


def _folded(rows: Sequence[Sequence[str]], steps: Sequence[int]) -> list[str]:
    """Rows as lines; of those that repeat the one before but for the step, only which steps they are of is told."""
    lines: list[str] = []
    for row, same in itertools.groupby(zip(rows, steps, strict=True), key=lambda pair: pair[0][1:]):
        at = [step for _, step in same]
        lines.append("|".join([str(at[0]), *row]) + _also(at))
    return lines


def _also(steps: Sequence[int]) -> str:
    """Which other steps a row stands for: consecutive ones by their number, others one by one."""
    more = len(steps) - 1
    if not more:
        return ""
    if steps[-1] - steps[0] > more:
        return f" (the same at {', '.join(map(str, steps[1:]))})"
    return f" (and the next {more})" if more > 1 else " (and the next step)"
