"""Evidence in words: the one number that is told of a candidate, and how candidates differ."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from promptpo.rollouts.evaluation import extremes
from promptpo.run.evidence import bad_starts as bad_starts_of
from promptpo.run.evidence import far_below
from promptpo.telling.feedback import brief, number, span

if TYPE_CHECKING:
    from promptpo.rollouts.evaluation import EpisodeRecord
    from promptpo.run.evidence import Difference, Evidence
    from promptpo.run.records import Attempt
    from promptpo.search.history import History

EARLY = 0.5
"""An episode of less than this share of another's steps, terminated with less return, has ended early."""

WIDE, LITTLE = 0.25, 0.1
"""Returns differ much where their standard deviation is above this share of what lies between the best and the worst
program, and is not a little of their own size."""

MOST_NAMED = 6
"""Starts that are named."""

ALL = 20
"""So many returns are listed; of more the quartiles are told."""


def score(evidence: Evidence) -> str:
    """Mean and standard error: ``293.1 ± 3.2 over 26 episodes``."""
    n = len(evidence.episodes)
    if not n:
        return "no finished episode"
    error = evidence.standard_error
    about = f" ± {brief(error)}" if not math.isnan(error) else ""
    success = f", success in {evidence.success_rate:.0%}" if evidence.success_rate is not None else ""
    return f"{number(evidence.mean_return)}{about} over {'1 episode' if n == 1 else f'{n} episodes'}{success}"


def difference(difference: Difference, other: str) -> str:
    """``3.1 ± 0.8 below r3c1 over 20 shared episodes``, or that there is none."""
    n = len(difference.returns)
    if not n:
        return f"no episode shared with {other}"
    shared = f"over {n} shared episode{'s' if n > 1 else ''}"
    if difference.tie:
        same = (
            "the same return in the one shared episode"
            if n == 1
            else f"the same return in all {n} shared episodes"
        )
        return f"no difference from {other}: {same}"
    mean, error = difference.mean, difference.standard_error
    about = "" if math.isnan(error) else f" ± {brief(error)}"
    if n > 1 and difference.verdict == 0:
        return f"no clear difference from {other} ({'+' if mean >= 0 else ''}{number(mean)}{about} {shared})"
    text = f"{number(abs(mean))}{about} {'above' if mean > 0 else 'below'} {other} {shared}"
    if any(difference.successes) and difference.verdict * mean < 0:
        more = "more" if difference.verdict > 0 else "fewer"
        text += f", but with {more} successes"
    return text


def starts(history: History) -> Mapping[int, str]:
    """A short name for each seed: training starts are 1, 2, ...; those of validation v1, v2, ..."""
    from promptpo.run.records import SEEDS_PER_PURPOSE

    seeds = {e.seed for a in history.attempts for e in a.evaluation.episodes}
    trained = {seed: str(n) for n, seed in enumerate(sorted(seeds), 1)}
    looked = {e.seed for looks in history.looks.values() for look in looks for e in look.episodes}
    return {**trained, **{seed: f"v{seed - SEEDS_PER_PURPOSE + 1}" for seed in sorted(looked - set(trained))}}


def returns(evidence: Evidence, names: Mapping[int, str]) -> str:
    """All returns by start; of many the quartiles."""
    episodes = evidence.episodes
    if len(episodes) < 2:  # noqa: PLR2004 - the mean says it
        return ""
    if len(set(evidence.returns)) == 1:
        return f"Every episode returned {number(evidence.returns[0])}."
    if len(episodes) <= ALL:
        ended = [e.terminated and not e.success for e in episodes]
        some = any(ended) and not all(ended) and len({e.steps for e in episodes}) > 1
        listed = ", ".join(
            f"{names.get(e.seed, e.seed)}: {number(e.return_)}"
            + (f" (ended at {e.steps})" if some and early else "")
            for e, early in zip(episodes, ended, strict=True)
        )
        return f"Return by start: {listed}."
    low, middle, high = statistics.quantiles(evidence.returns, n=4)
    return (
        f"Returns: lowest {number(min(evidence.returns))}, quartiles {number(low)}, {number(middle)} and "
        f"{number(high)}, highest {number(max(evidence.returns))}."
    )


def spreads(evidence: Evidence, means: Sequence[float]) -> bool:
    """Whether a program's returns differ so much that its mean says little.

    Args:
        evidence: Of the program.
        means: Mean returns of all programs that run.
    """
    values = evidence.returns
    if len(values) < 2 or len(means) < 2:  # noqa: PLR2004 - nothing to differ from
        return False
    apart, size = statistics.stdev(values), max(map(abs, values))
    return apart > max(WIDE * (max(means) - min(means)), LITTLE * size)


def on_bad_starts(history: History, attempt: Attempt, leader: Attempt) -> str:
    """What a candidate earned on another's bad starts, which it played for that; empty where it did not.

    Such episodes were chosen for the other's bad luck as well, and are no part of what is told as its return.
    """
    if not history.changed(attempt, leader):
        return ""
    before = {e.seed: e.return_ for e in history.evidence(leader).episodes}
    revisited = history.revisits.get(attempt.id, ())
    again = {e.seed: e.return_ for e in (*history.evidence(attempt).episodes, *revisited)}
    bad = {
        *bad_starts_of(history.evidence(leader)),
        *(e.seed for e in revisited),
    }  # which were bad when it was asked
    names = starts(history)
    listed = ", ".join(
        f"{names.get(seed, seed)}: {number(before[seed])} before, now {number(again[seed])}"
        for seed in before
        if seed in bad and seed in again
    )
    return f"on the bad starts of {leader.id}: {listed}"


def steps_earned(history: History) -> tuple[float, ...]:
    """The least and the most that single steps have earned, those of tuning included; empty where that is not known."""
    episodes = (e.extremes for a in history.attempts for e in history.evidence(a).episodes)
    return extremes([history.earned, *episodes, *(a.diagnosis.rewards for a in history.attempts)])


def bad_starts(evidence: Evidence, names: Mapping[int, str]) -> str:
    """Which starts go badly, where the returns fall into two groups."""
    low = far_below(evidence.returns)
    if not low or 2 * len(low) >= len(evidence.returns):
        return ""
    listed = ", ".join(
        names.get(evidence.episodes[i].seed, "?")
        + ("" if len(evidence.returns) <= ALL else f" ({number(evidence.returns[i])})")  # else all are listed
        for i in low[:6]
    )
    more = f" and {len(low) - 6} others" if len(low) > 6 else ""  # noqa: PLR2004
    few = "starts goes" if len(low) == 1 else "starts go"
    return (
        f"{len(low)} of {len(evidence.returns)} {few} far worse than the median of "
        f"{number(statistics.median(evidence.returns))}: {listed}{more}."
    )


def alike(history: History, attempt: Attempt) -> str:
    """That a candidate behaves as another does, in a sentence; empty where it does not.

    Where all fail alike, equal returns say little: what earns no more than policies that know nothing is told apart,
    and episodes must be equally long as well.
    """
    other = attempt.candidate.duplicate_of
    if other:
        return f"{attempt.id} is the same program as {other}"
    stands = history.find(history.alike.get(attempt.id, ""))
    if stands is None:
        return ""
    if _all_fail(history, attempt, stands):
        return ""
    lengths = {e.seed: e.steps for e in history.evidence(stands).episodes}
    if any(lengths.get(e.seed, e.steps) != e.steps for e in history.evidence(attempt).episodes):
        return ""
    n = len(history.against(attempt, stands).returns)
    return f"{attempt.id} cannot be told from {stands.id} (same return in all {n} shared episodes)"


def mishaps(evidence: Evidence, other: Evidence, name: str = "the other") -> str:
    """On how many starts a program fails where a mean hides it, as a part of a sentence.

    Args:
        evidence: Of the program.
        other: Of the one that it is compared with, on whose shared starts "nothing" and "early" are measured.
        name: What the other is called.
    """
    return "; ".join(
        f"{way[0].lower()}{way[1:]} {where}" for way, where in ways_to_fail(evidence, other, name, {})
    )


def ways_to_fail(
    evidence: Evidence, other: Evidence, name: str, names: Mapping[int, str]
) -> Iterator[tuple[str, str]]:
    """Each way in which a program fails where a mean hides it, and on which starts, how many and when.

    No success, nothing earned, a far earlier end; where there is none of these, a few starts far below the others.

    Args:
        evidence: Of the program.
        other: Of the one that it is compared with.
        name: What the other is called.
        names: What the starts are called; where there is none for one, only their number is told.
    """
    theirs = {episode.seed: episode for episode in other.episodes}
    shared = [e for e in evidence.episodes if e.seed in theirs]
    failed = [e for e in evidence.episodes if e.success is False]
    if 0 < len(failed) < len(evidence.episodes):  # of all or none the rate says it
        yield "No success", _on(failed, evidence.episodes, names)
    nothing = [e for e in shared if e.return_ == 0 < theirs[e.seed].return_]
    if nothing:
        yield "Earns 0", _on(nothing, shared, names)
    early = [
        e
        for e in shared
        if e.terminated and e.steps < EARLY * theirs[e.seed].steps and e.return_ < theirs[e.seed].return_
    ]
    if early:
        way = f"Ends before half of {name}'s steps, with less"
        yield way, f"{_on(early, shared, names)} (at step {span(sorted(e.steps for e in early))})"
    low = [evidence.episodes[i] for i in far_below(evidence.returns)]
    if not (early or nothing or failed) and 0 < 2 * len(low) < len(evidence.episodes):
        yield "Far below its median", _on(low, evidence.episodes, names)


def _on(some: Sequence[EpisodeRecord], every: Sequence[EpisodeRecord], names: Mapping[int, str]) -> str:
    """``on 2 of 3 starts (1, 3)``; on all of them no names are needed."""
    text = f"on {len(some)} of {len(every)} starts"
    named = [names[e.seed] for e in some if e.seed in names]
    if len(some) == len(every) or not named or len(named) > MOST_NAMED:
        return text
    return f"{text}: {', '.join(named)}"


def _all_fail(history: History, *attempts: Attempt) -> bool:
    """Whether some candidates earn the same in all episodes, and no more than what knows nothing: ways to fail differ."""
    values = {value for attempt in attempts for value in history.evidence(attempt).returns}
    marks = [mark.mean_return for mark in history.references.values() if mark.episodes]
    return len(values) == 1 and max(values) <= max(marks, default=0.0)
