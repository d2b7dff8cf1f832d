"""The steps of an episode around what went wrong in it, as a table."""

from __future__ import annotations

import itertools
import math
import re
import statistics
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from promptpo.telling.columns import components
from promptpo.telling.tables import SEEN_LAST, straight, table

if TYPE_CHECKING:
    from sandbox import Episode, Trajectory

STEPS, AFTER = 20, 5
"""Steps shown, and how many of them come after the event."""

BEFORE_END, APART, LAST, LAST_APART, CLOSE = 100, 10, 20, 4, 3
"""Of a long episode that was terminated: so many steps before its end are shown that far apart, the last ones closer,
and so many one by one, since what ends an episode begins long before."""

ENDING, KEPT_ENDING = 8, 3
"""Steps that are shown of the end of a terminated episode where what cost most was before, and rows of its short form."""

TO_THE_END = "and up to where the episode was terminated"

EARLIER = 5
"""Rows of what came before these, from the first step on."""

FEW, FEWEST, BESIDE = 10, 5, 2
"""Rows of its short form, of the shortest one that shows ``debug``, and columns of the observation in that."""

SHORTEST, LONGEST = 5, 25
"""Steps over which rewards before and after a step are averaged: a fiftieth of the episode within these."""

NOISE = 2.0
"""So many standard deviations of the rewards, over as many steps, a loss has to be."""

MOST_OBSERVED, MOST_DONE, MOST_KEPT = 7, 4, 4
"""Columns: of the observation, of the action, and of what a policy keeps in its ``debug``."""

BEGINNING, BEGINNING_ROWS = 40, 6
"""Steps at the beginning of a failed episode that are shown, in about so many rows."""

BEGUN, BEGUN_DONE, BEGUN_KEPT = 4, 2, 3
"""Columns of these rows."""

ROWS = 9
"""Steps of an episode that stand for all of it."""

CALM, ADJACENT = 10, 4
"""Steps of an episode that stand for how it usually goes, spread over it; of one that repeats itself fewer, consecutive ones,
beside coarse ones."""

COARSE, OF_STRIDE, WIDEST = 11, 7, 8
"""Rows that show strides, how many there are to one to and fro, and steps from one to the next at most."""

LEAST_OF_QUICK = 2.5
"""Rows, at least, to one to and fro of the quicker movements: fewer do not show which way they go."""

TWO_STRIDES, OF_TWO = 16, (5, 2, 2)
"""Rows of consecutive steps up to which two strides are shown by them, and their columns."""

STILL = 0.15
"""A row that is nearer than this share of a stride to a whole number of strides after another shows the same of it."""

STRIDES = (5, 1, 2)
"""Columns of these rows."""

ORDINAL = {2: "nd", 3: "rd"}

WINDOW, LEAST_CROSSINGS = 100, 3
"""Steps from which the length of a stride is read, and crossings of its mean from which on a quantity goes to and fro."""

SETTLED = 0.05
"""Share of the range of an episode's rewards by which a step may earn less than the best one and still earn about the most."""

STRAIGHT = 0.5
"""A quantity goes to and fro where it comes less far than this share of its way."""


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
    last = len(rewards) - 1
    end = min(len(rewards), max(STEPS, at + 1 + AFTER))
    steps: Sequence[int] = range(max(0, end - STEPS), end)
    if episode.terminated and at == last and len(rewards) >= BEFORE_END:
        steps = _before_the_end(trajectory)
    elif episode.terminated and end <= last:  # what ended it matters as well
        first = max(end, last + 1 - ENDING)
        steps = [*list(steps)[-(STEPS - (last + 1 - first)) :], *range(first, last + 1)]
        what = f"{what}, {TO_THE_END}"
    # What changes before the event, not after it, is what may have led to it.
    before = max(2, sum(t <= at for t in steps))
    most = (MOST_OBSERVED, MOST_DONE, MOST_KEPT)
    rows = table(trajectory, steps, names, posture, most, before, after=episode.terminated)
    return "\n".join([f"Steps {steps[0]} to {steps[-1]}, {what}:", *rows])


def overview(episode: Episode, names: Mapping[str, str], posture: Collection[str] = ()) -> str:
    """A few steps of an episode, evenly spread, the last one included: what is told where no feedback class says more."""
    trajectory = episode.trajectory
    if trajectory is None or not len(trajectory.rewards):
        return ""
    n = len(trajectory.rewards)
    steps = sorted({round(i * (n - 1) / max(1, min(ROWS, n) - 1)) for i in range(min(ROWS, n))})
    return "\n".join(
        table(trajectory, steps, names, posture, (MOST_OBSERVED + 1, MOST_DONE, BEGUN_KEPT), len(steps))
    )


def usual(episode: Episode, names: Mapping[str, str], posture: Collection[str] = ()) -> str:
    """A few steps of an episode: how it goes when nothing special happens.

    Where the greater part of it earns the most that any step does, only what comes before can earn more, and is shown.
    Where what is observed goes to and fro, as in a gait, these are a few consecutive ones from its middle, and coarser
    ones, which show strides; of what goes on, such as a way to a goal, they are spread over the whole episode.
    """
    trajectory = episode.trajectory
    if trajectory is None or len(trajectory.rewards) < 2 * STEPS:
        return ""
    length = len(trajectory.rewards)
    middle = trajectory.observations[(length - CALM) // 2 : (length + 3 * CALM) // 2]
    most = (MOST_OBSERVED, MOST_DONE, MOST_KEPT)
    settled = settled_from([float(reward) for reward in trajectory.rewards])
    if settled is not None:
        steps: Sequence[int] = sorted({n * settled // (CALM - 1) for n in range(CALM)})
        rows = table(trajectory, steps, names, posture, most, len(steps))
        return "\n".join(
            [f"Steps 0 to {settled}, evenly spread; from there on all earn about the most:", *rows]
        )
    if not _to_and_fro(middle):
        steps = [n * (length - 1) // (CALM - 1) for n in range(CALM)]
        rows = table(trajectory, steps, names, posture, most, CALM)
        return "\n".join([f"Steps 0 to {length - 1}, evenly spread:", *rows])
    slow, quick = _strides(trajectory, length // 2)
    rows_of_two = min(math.ceil(2 * slow), length)
    if rows_of_two <= TWO_STRIDES:
        steps = range((length - rows_of_two) // 2, (length - rows_of_two) // 2 + rows_of_two)
        rows = table(trajectory, steps, names, (), OF_TWO, rows_of_two, swings=True)
        return "\n".join([f"Steps {steps[0]} to {steps[-1]}, in its middle:", *rows])
    first = (length - ADJACENT) // 2
    steps = range(first, first + ADJACENT)
    rows = table(trajectory, steps, names, posture, most, ADJACENT)
    coarse = _coarse(trajectory, first, names, slow, quick)
    return "\n".join([f"Steps {first} to {steps[-1]}, in its middle:", *rows, "", *coarse])


def settled_from(rewards: Sequence[float]) -> int | None:
    """The step from which on all earn about the most that any does, where these are the greater part of the episode.

    Args:
        rewards: Of each step.

    Returns:
        None where it earns the same throughout, or never comes to rest there.
    """
    most, least = max(rewards), min(rewards)
    enough = most - SETTLED * (most - least)
    last = max((t for t, reward in enumerate(rewards) if reward < enough), default=-1)
    return last + 1 if 0 < last + 1 <= len(rewards) / 2 else None


def _coarse(
    trajectory: Trajectory, middle: int, names: Mapping[str, str], slow: float, quick: float
) -> list[str]:
    """Steps some way apart, so that a few rows show more than one stride, of few columns.

    Not so far apart that the quicker movements seem to stand still or to go the other way.
    """
    length = len(trajectory.rewards)
    apart = min(WIDEST, max(2, round(slow / OF_STRIDE)), int(quick / LEAST_OF_QUICK))
    apart = max(1, min(apart, (length - 1) // (COARSE - 1)))
    first = max(0, min(middle - apart * (COARSE - 1) // 2, length - 1 - apart * (COARSE - 1)))
    steps = range(first, first + apart * (COARSE - 1) + 1, apart)
    rows = table(trajectory, steps, names, (), STRIDES, COARSE, swings=True)
    return [f"Every {apart}{ORDINAL.get(apart, 'th')} of steps {steps[0]} to {steps[-1]}:", *rows]


def _strides(trajectory: Trajectory, middle: int) -> tuple[float, float]:
    """Steps of a to and fro of what changes there: of the slower movements, and of the usual ones."""
    begun = max(0, middle - WINDOW // 2)
    observations = trajectory.observations[begun : min(len(trajectory.rewards), begun + WINDOW)]
    parts = [dict(components(value, "obs")) for value in observations]
    found = []
    for label in parts[0]:
        values = [part[label] for part in parts if label in part]
        mean = statistics.fmean(values)
        crossed = [t for t, (a, b) in enumerate(itertools.pairwise(values)) if (a < mean) != (b < mean)]
        if len(crossed) >= LEAST_CROSSINGS:  # of what goes on there are fewer
            found.append(2 * (crossed[-1] - crossed[0]) / (len(crossed) - 1))
    found.sort()
    return (found[3 * len(found) // 4], found[len(found) // 2]) if found else (float(len(parts)),) * 2


def _to_and_fro(observations: Sequence[Any]) -> bool:
    """Whether most of what changes in these steps goes to and fro, as in a gait, rather than on."""
    parts = [dict(components(value, "obs")) for value in observations]
    courses = [[part[label] for part in parts] for label in parts[0] if all(label in part for part in parts)]
    shares = [straight(course) for course in courses if len(set(course)) > 1]
    return bool(shares) and statistics.median(shares) < STRAIGHT


def _before_the_end(trajectory: Trajectory) -> list[int]:
    """Steps of an episode from its first one to its end, the closer to each other the nearer the end is."""
    length = len(trajectory.rewards)
    stride = _strides(trajectory, length - WINDOW // 2)[0]
    far, near = (_beside_strides(apart, stride) for apart in (APART, LAST_APART))
    begun = length - BEFORE_END
    earlier = min(EARLIER, math.ceil(begun / APART))
    return [
        *(begun * n // earlier for n in range(earlier)),
        *range(length - BEFORE_END, length - LAST, far),
        *range(length - LAST, length - CLOSE, near),
        *range(length - CLOSE, length),
    ]


def _beside_strides(apart: int, stride: float) -> int:
    """About so many steps, and not about one stride or several: rows that far apart would look as if nothing moved."""
    for steps in (apart, apart - 1, apart + 1, apart - 2, apart + 2):
        strides = steps / stride
        if strides < STILL or abs(strides - round(strides)) >= STILL:
            return steps
    return apart


def course(episode: Episode, names: Mapping[str, str], posture: Collection[str] = ()) -> str:
    """Steps of an episode that failed, in a few rows: its beginning, or, if it ended later, how it came to that.

    Of the latter each row is half as far from the end as the one before, since what ends an episode may begin early in it.

    Args:
        episode: Recorded, of at least one step.
        names: From `promptpo.spec.reading.names_of`.
        posture: From `promptpo.spec.reading.posture_of`.
    """
    trajectory = episode.trajectory
    if trajectory is None or not len(trajectory.rewards):
        return ""
    length = len(trajectory.rewards)
    if length <= 2 * BEGINNING or not episode.terminated:
        end = min(length, BEGINNING)
        apart = max(1, math.ceil(end / BEGINNING_ROWS))
        apart = _beside_strides(apart, _strides(trajectory, 0)[0]) if apart > 2 else apart  # noqa: PLR2004 - fewer rows
        steps = [t for t in range(end) if t % apart == 0 or t == end - 1]
        about = f"How it began (start of {length:,} step{'s' if length > 1 else ''}):"
    else:
        steps = sorted({length - 1 - (length - 1) // 2**n for n in range(BEGINNING_ROWS)} | {length - 1})
        about = f"How it came to its end (of {length:,} steps):"
    ended = episode.terminated and steps[-1] == length - 1
    most = (BEGUN, BEGUN_DONE, BEGUN_KEPT)
    rows = table(trajectory, steps, names, posture, most, len(steps), after=ended)
    return "\n".join([about, *rows])


def shorter(table: str) -> str:
    """The part of a trace nearest to the event: what led to it, and the step after it."""
    if "\n\n" in table:  # rows that are further apart show more
        return table.partition("\n\n")[2]
    about, heading, *rows = table.splitlines()
    rows, end = _apart(rows)
    kept = rows[-FEW:]
    poorest = re.search(r"\(from step (\d+) on\)", about)
    if poorest is not None:
        kept = ([row for row in rows if _step_of(row) >= int(poorest[1])] or rows)[:FEW]
    elif (fell := re.search(r"around step (\d+)", about)) is not None:
        ended = rows[-KEPT_ENDING:] if TO_THE_END in about else []
        kept = [row for row in rows if _step_of(row) <= int(fell[1]) + 1 and row not in ended]
        kept = [*(kept or rows)[len(ended) - FEW :], *ended]
    if len(kept) < len(rows):
        until = f"to {_step_of(kept[-1])}, {about.partition(', ')[2]}"
        about = f"Steps {_step_of(kept[0])} {until if poorest is None else 'on, where least was earned:'}"
    return "\n".join([about, heading, *kept, *end])


def _apart(rows: Sequence[str]) -> tuple[list[str], list[str]]:
    """The rows of steps, and that of what was seen last, if there is one."""
    end = [row for row in rows[-1:] if SEEN_LAST in row]
    return list(rows[: len(rows) - len(end)]), end


def _step_of(row: str) -> int:
    return int(re.split(r"\D", row, maxsplit=1)[0])


def of_debug(table: str) -> str:
    """The least of a trace that shows what the policy kept in its ``debug``: beside few other columns, in few steps.

    Where it kept nothing the few steps alone.
    """
    if "\n\n" in table:
        return shorter(table)
    about, heading, *rows = shorter(table).splitlines()
    rows, end = _apart(rows)
    names = heading.split("|")
    kept = [n for n, name in enumerate(names) if name.startswith("debug.")]
    columns: Sequence[int] = range(len(names))
    if kept:
        done = range(kept[-1] + 1, len(names) - 1)  # what the policy did stands behind what it kept
        columns = [*range(min(1 + BESIDE, kept[0])), *kept, *done[:BESIDE], len(names) - 1]
    poorest = re.search(r"^Steps \d+ on", about)
    few = rows[:FEWEST] if poorest else rows[-FEWEST:]
    if len(rows) > FEWEST and _step_of(rows[-1]) - _step_of(rows[0]) >= BEFORE_END // APART * 2:
        few = [rows[n * (len(rows) - 1) // (FEWEST - 1)] for n in range(FEWEST)]  # how it came to its end
    about = re.sub(r"^Steps \d+", f"Steps {few[0].partition('|')[0]}", about)
    lines = [
        [row.split("|")[n] for n in columns]
        for row in (heading, *few, *end)
        if row.count("|") == len(names) - 1
    ]
    return "\n".join([about, *("|".join(line) for line in lines)])


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
