"""In which respect a program is to be improved: what the evidence on it suggests."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from promptpo.run.evidence import FAR, far_below
from promptpo.telling import scores
from promptpo.telling.feedback import number

if TYPE_CHECKING:
    from promptpo.run.evidence import Evidence
    from promptpo.run.records import Attempt
    from promptpo.search.history import History

LONG = 3000
"""Characters from which on a program is worth making simpler."""

RELATED = 0.6
"""Correlation of return and length from which on length is worth a request of its own."""

SPREAD = 0.2
"""Share of the median length by which lengths have to differ to say anything."""

OFTEN = 1 / 3
"""Share of the shared starts on which a clearly worse program has to be better to be worth merging."""

GAIN = 0.05
"""What taking the better of two programs on every start has to gain, as a share of the returns' size, for a merger:
programs that behave nearly alike take turns by chance."""

TWICE, BROKEN = 2, 0.5
"""Attempts at the same that have to break down, and what a start loses of its return where one did."""

WORST = 3
"""Starts named as the worst."""

WEAKEST = (
    "Weakest part: say which part of the program loses most of what is missing, by the evidence, and write that part anew "
    "by another idea; leave the rest as it is."
)


def respects(
    history: History, attempt: Attempt, *, final: bool = False, one_start: bool = False
) -> list[str]:
    """Respects in which to improve a program, the most promising first; at least one.

    Args:
        history: What is known.
        attempt: The program.
        final: Whether the numbers of what is written will not be tuned, so that nothing is written anew.
        one_start: Whether all episodes begin alike, so that no start is worse than another: what differs is chance.
    """
    evidence = history.evidence(attempt)
    names = scores.starts(history)
    found = [
        _mend(history),
        _success(evidence, names),
        "" if one_start else _robustness(history, attempt, names),
        _length(evidence, hopeful=_above_nothing(history, evidence)),
        _level(history, evidence),
        "" if final else _bounds(attempt),
        WEAKEST,
        "" if final else _simplicity(attempt),
    ]
    return [text for text in found if text]


def _mend(history: History) -> str:
    """A program that fell early and was far better per step than the leader is to be kept from falling."""
    fell = scores.faster(history)
    if fell is None:
        return ""
    return (
        f"Mending: {fell.id} ended early, and a step of it earned far more than one of the best. Keep what {fell.id} does and "
        "find out what ends its episodes; change that alone, so that it lasts."
    )


def merger(history: History, one: Attempt, other: Attempt) -> str:
    """What either program is better at, by start; empty where the other has little to give."""
    mine = {e.seed: e.return_ for e in history.evidence(one).episodes}
    theirs = {e.seed: e.return_ for e in history.evidence(other).episodes}
    gains = {seed: theirs[seed] - mine[seed] for seed in mine if seed in theirs and theirs[seed] > mine[seed]}
    difference = history.against(other, one)
    size = statistics.fmean(map(abs, history.evidence(one).returns)) if gains else 0.0
    if sum(gains.values()) <= GAIN * size * len(difference.returns):
        return ""
    if not gains or (difference.verdict < 0 and len(gains) < OFTEN * len(difference.returns)):
        return ""
    names = scores.starts(history)
    best = sorted(gains, key=lambda seed: -gains[seed])[:WORST]
    listed = ", ".join(f"{names.get(seed, seed)} (+{number(gains[seed])})" for seed in best)
    return (
        f"Of {len(difference.returns)} starts that both played, {other.id} is better than {one.id} on {len(gains)}, most on "
        f"{listed}. On the whole: {scores.difference(difference, one.id)}."
    )


def _success(evidence: Evidence, names: Mapping[int, str]) -> str:
    failed = [e for e in evidence.episodes if e.success is False]
    if not failed or len(failed) == len(evidence.episodes):
        return ""
    listed = ", ".join(names.get(e.seed, str(e.seed)) for e in failed[: 2 * WORST])
    if len(failed) > 2 * WORST:
        listed += f" and {len(failed) - 2 * WORST} more"
    return (
        f"Success: {len(failed)} of {len(evidence.episodes)} episodes do not succeed (starts {listed}). Make these "
        "succeed without losing the others."
    )


def _robustness(history: History, attempt: Attempt, names: Mapping[int, str]) -> str:
    """Where some starts are clearly worse than the others, by `far_below`; what is left of a spread is noise.

    First those on which another program of its level did better. A start on which none of them did is hard for all.
    """
    evidence = history.evidence(attempt)
    values = evidence.returns
    low = far_below(values)
    if not low or 2 * len(low) >= len(values):
        return ""
    middle = statistics.median(values)
    told = {i: _elsewhere(history, attempt, evidence.episodes[i].seed, values[i]) for i in low}
    gains = {i: found[1] for i, found in told.items() if found is not None}
    hard = [i for i in low if gains.get(i, math.inf) <= FAR * abs(middle)]
    open_ = sorted((i for i in low if i not in hard), key=lambda i: -gains.get(i, 0.0))

    def listed(some: Sequence[int]) -> str:
        named = []
        for i in some[: 2 * WORST]:
            other = told[i]
            better = f"; {other[0]} earns {number(other[1])} more" if other is not None and i in open_ else ""
            named.append(f"{names.get(evidence.episodes[i].seed, '?')} ({number(values[i])}{better})")
        return ", ".join(named) + (f" and {len(some) - 2 * WORST} more" if len(some) > 2 * WORST else "")

    them = "them" if len(low) > 1 else "it"
    bad = f"Robustness: on {len(low)} of {len(values)} starts it is far worse than its median of {number(middle)}: "
    if not open_:
        return (
            f"{bad}{listed(hard)}. Every program of its level that played {them} is bad there too, so it may be the start "
            f"and not the program: find out whether anything can be done about {them}, and do it without losing the others."
        )
    also = f" Every program of its level is bad on start {listed(hard)}." if hard else ""
    it = "them" if len(open_) > 1 else "it"
    return f"{bad}{listed(open_)}.{also} Find out what is special about {it}, and make {it} go well without losing the others."


def _elsewhere(history: History, attempt: Attempt, seed: int, own: float) -> tuple[str, float] | None:
    """Which other program of its level earned most on a start, and how much more; None where none has played it.

    A program whose median is far below this one's is bad everywhere, and its bad episode there says nothing of the start.
    """
    middle = statistics.median(history.evidence(attempt).returns)
    found: list[tuple[float, str]] = []
    for other in history.attempts:
        if other.id == attempt.id or other.candidate.duplicate_of or not history.runs(other):
            continue
        evidence = history.evidence(other)
        level = statistics.median(evidence.returns) if evidence.returns else -math.inf
        if other.id in history.alike or middle - level > FAR * abs(middle):
            continue
        found += [(e.return_ - own, other.id) for e in evidence.episodes if e.seed == seed]
    if not found:
        return None
    more, name = max(found)
    return name, more


def _above_nothing(history: History, evidence: Evidence) -> bool:
    """Whether a program earns more than policies that know nothing; where it does not, a short episode is a failed one."""
    return all(
        known.mean_return < evidence.mean_return for known in history.references.values() if known.episodes
    )


def _length(evidence: Evidence, *, hopeful: bool) -> str:
    """Where longer episodes earn more or less, to last longer or, where something is achieved, to be quicker."""
    lengths = [float(e.steps) for e in evidence.episodes]
    if not lengths or max(lengths) - min(lengths) <= SPREAD * statistics.median(lengths):
        return ""
    if len(set(lengths)) < 3 or len(set(evidence.returns)) < 3:  # noqa: PLR2004 - too few to be related
        return ""
    related = statistics.correlation(lengths, evidence.returns)
    middle = f"{statistics.median(lengths):.0f}"
    if related > RELATED:
        return (
            f"Lasting longer: episodes of {number(min(lengths))} to {number(max(lengths))} steps (median {middle}), and "
            "those that end early earn least. See what ends them, and prevent it earlier."
        )
    if related < -RELATED and hopeful:
        return (
            f"Speed: episodes take {number(min(lengths))} to {number(max(lengths))} steps (median {middle}), and short "
            "ones earn most. Find the steps that are wasted, and get there in fewer."
        )
    return ""


def _level(history: History, evidence: Evidence) -> str:
    """To earn more in every episode, with what came of the last attempt at that."""
    tried = _tried(history, "Level")
    last = f" {_outcome(history, tried[-1])}" if tried else ""
    both_fell = len(tried) >= TWICE and all(_fell(history, one) for one in tried[-TWICE:])
    return f"{_more(evidence, steady=both_fell)}{last}"


def _tried(history: History, respect: str) -> list[Attempt]:
    """The programs that improving the best in a respect gave, oldest first; tuned forms count for what they were made from."""
    found = [history.find(id_) for id_, asked in history.asked.items() if asked.respect == respect]
    return sorted(
        (one for one in found if one is not None and history.runs(one)), key=lambda one: one.candidate.round
    )


def _fell(history: History, attempt: Attempt) -> bool:
    """Whether some of a program's episodes broke down: far below its others, or far below what it was to improve."""
    asked = history.asked[attempt.id]
    base = history.find(asked.base)
    if base is None:
        return False
    theirs = {e.seed: e.return_ for e in history.evidence(base).episodes}
    return any(
        theirs[e.seed] - e.return_ > BROKEN * abs(theirs[e.seed])
        for e in history.evidence(attempt).episodes
        if e.seed in theirs
    )


def _outcome(history: History, attempt: Attempt) -> str:
    """What became of the last attempt, in a sentence."""
    base = history.find(history.asked[attempt.id].base)
    evidence = history.evidence(attempt)
    few = len(evidence.returns) <= 2 * WORST
    earned = ", ".join(map(number, evidence.returns)) if few else scores.score(evidence)
    against = "" if base is None else f": {scores.difference(history.against(attempt, base), base.id)}"
    return f"The last attempt at this, {attempt.id}, returned {earned}{against}."


def _more(evidence: Evidence, *, steady: bool) -> str:
    middle = statistics.median(evidence.returns) if evidence.returns else 0.0
    if len(set(evidence.returns)) == 1:
        return (
            f"Level: every episode earns {number(middle)}; each of them shall earn more. Work out from the reward what limits "
            "it, and change that, though it may need another way of moving or deciding."
        )
    ended = sum(e.terminated and not e.success for e in evidence.episodes)
    if 2 * ended > len(evidence.episodes) and not _paid_at_the_end(evidence):
        return (
            f"Level: every episode shall earn more (median {number(middle)}, best "
            f"{number(max(evidence.returns, default=0.0))}). {ended} of {len(evidence.episodes)} end before their time is up: "
            "work out from the reward whether that end, or what is earned until then, limits them, and change that, though it "
            "may need another way of moving or deciding."
        )
    head = (
        f"Level: every episode shall earn more, the good ones too (median {number(middle)}, best "
        f"{number(max(evidence.returns, default=0.0))})"
    )
    if steady:
        return (
            f"{head}. The last two attempts broke down on some starts: change one thing, by little, and only as far as every "
            "start still goes well."
        )
    return (
        f"{head}; mending the bad ones is not what is asked for here. Work out from the "
        "reward what limits the good ones, and change that, though it may need another way of moving or deciding."
    )


def _paid_at_the_end(evidence: Evidence) -> bool:
    """Whether one step earned all that an episode did, so that its end is what is wanted and limits nothing."""
    return all(
        len(e.extremes) > 1
        and e.return_ > 0
        and math.isclose(e.extremes[-1], e.return_)
        and e.extremes[0] >= 0
        for e in evidence.episodes
    )


def _bounds(attempt: Attempt) -> str:
    """Where tuning drove numbers to the ends of their ranges."""
    ends = [(name, one.at_bound) for name, one in attempt.candidate.sensitivity.items() if one.at_bound]
    if not attempt.candidate.tuned or not ends:
        return ""
    listed = ", ".join(f"{name} ({bound})" for name, bound in ends[:WORST])
    more = f" and {len(ends) - WORST} more" if len(ends) > WORST else ""
    return (
        f"Bounds: tuning drove {listed}{more} to the end of the range. Work out what the program tries to do there, and "
        "give it a better way of doing that: wider ranges, or another form of that part."
    )


def _simplicity(attempt: Attempt) -> str:
    source = attempt.candidate.source
    if len(source) < LONG:
        return ""
    return (
        f"Simplicity: the program has {len(source.splitlines())} lines. Write it anew with half of them, keeping the "
        "few parts that the evidence shows to matter, and spend what that saves on one better idea."
    )
