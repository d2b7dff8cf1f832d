"""The candidates that a prompt does not tell in detail: those of the last round with a diagnosis, others in a line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from promptpo.telling import feedback, scores
from promptpo.telling.descent import base_of, changed
from promptpo.telling.feedback import number
from promptpo.telling.parts import Part
from promptpo.telling.programs import changes, idea
from promptpo.telling.shortening import between_words, in_a_line

if TYPE_CHECKING:
    from promptpo.run.records import Attempt, Told
    from promptpo.search.history import History
    from promptpo.search.planning import Plan
    from promptpo.telling.known import Known

FORMS = ((600, 400), (320, 320), (120, 240), (0, 0))
"""Forms of what is told of the last round's candidates: characters of the worst episode's summary, and of that of an
episode in which one beats the best."""

WORTHS = (12, 35, 76)

MOST_BEATEN = 2
"""Candidates of a round of which an episode is told in which they beat the best."""

FEW = 200
"""Characters of a summary up to which it is told in a line."""

BESIDE = 80
"""Characters of its best episode that are told beside the worst, where returns differ much."""

TRIED = 110
"""Characters of what a program tried that came out like another."""

MOVED = 4
"""Numbers that tuning moved most, of a candidate that is told in short."""

CLEARLY = 0.1
"""Share of a return's size by which it has to be above that of the best on the same start."""


def others(plan: Plan, known: Known, in_detail: Sequence[Attempt]) -> list[Part]:
    """What is told of all that are not told in detail.

    Args:
        plan: The request.
        known: What may be told.
        in_detail: The others.
    """
    history = known.history
    shown = {attempt.id for attempt in in_detail}
    last = [a for a in history.of_round(history.rounds) if a.id not in shown]
    last.sort(key=history.runs)  # failures first; else as they came
    last = [a for a in last if not _told_by_parent(a, known)]
    earlier = [
        a for a in plan.lines if a.id not in shown and a not in last and a.candidate.round < history.rounds
    ]
    parts = []
    if last:
        title = "# The other candidates of the last round"
        ways = failures(last, known)
        forms = [
            "\n".join([title, "", *ways, *_entries(last, known, most, beaten)]) for most, beaten in FORMS
        ]
        parts.append(Part(forms, [*WORTHS]))
    if earlier:
        every = [_line(a, known, 160) for a in earlier]
        few = [_line(a, known, 100) for a in earlier[-4:]]
        worse = known.leader and any(history.against(a, known.leader).verdict < 0 for a in earlier)
        title = f"# Earlier candidates{', clearly worse where no difference is told' if worse else ''}"
        parts.append(Part(["\n".join([title, "", *every]), "\n".join([title, "", *few]), ""], [10, 65]))
    return parts


def worst(attempt: Attempt, most: int, known: Known) -> str:
    """The worst episode of a candidate in the words of the feedback class; empty where there is none."""
    told = attempt.diagnosis.of("worst", "typical")
    if told is None:
        return ""
    return feedback.episode_in_words(told, most, scores.starts(known.history))


def difference(attempt: Attempt, leader: Attempt, history: History) -> str:
    """The paired difference; the number of shared episodes only where it is not that of the candidate's."""
    found = history.against(attempt, leader)
    text = scores.difference(found, leader.id)
    n = len(found.returns)
    if n == len(history.evidence(attempt).episodes):
        text = text.replace(f" over {n} shared episodes", "").replace(f" over {n} shared episode", "")
    return text


def failures(attempts: Sequence[Attempt], known: Known) -> list[str]:
    """A line for each way in which candidates fail where means hide it: who, on which starts, and when.

    What several share is said once, and stands before what is told of each.
    """
    history, leader = known.history, known.leader
    if leader is None:
        return []
    names, theirs = scores.starts(history), history.evidence(leader)
    found: dict[str, list[str]] = {}
    for attempt in attempts:
        if attempt is leader or attempt.evaluation.outcome != "ok" or scores.alike(history, attempt):
            continue
        for way, where in scores.ways_to_fail(history.evidence(attempt), theirs, leader.id, names):
            found.setdefault(way, []).append(f"{attempt.id} {where}")
    return [f"{way}: {'; '.join(who)}." for way, who in found.items()]


def _entries(attempts: Sequence[Attempt], known: Known, most: int, beaten: int) -> Iterator[str]:
    """What is told of each; of the first ones that beat the best on a start, in which respect they did there."""
    ahead = [attempt.id for attempt in attempts if _beats(attempt, known) is not None][:MOST_BEATEN]
    remarks = Counter(_tuning(a, known.history) for a in attempts if not scores.alike(known.history, a))
    said = [remark for remark, times in remarks.items() if remark and times > 1]
    for remark in said:
        who = ", ".join(a.id for a in attempts if _tuning(a, known.history) == remark)
        yield f"{remark}: {who}."
    for attempt in attempts:
        yield _entry(attempt, known, most, beaten if attempt.id in ahead else 0, said)


def _beats(attempt: Attempt, known: Known) -> Told | None:
    """The episode of those told of a candidate in which it is furthest above the best on the same start.

    None where it is not clearly better on any of them.
    """
    history, leader = known.history, known.leader
    if leader is None or attempt is leader or attempt.evaluation.outcome != "ok":
        return None
    theirs = {e.seed: e.return_ for e in history.evidence(leader).episodes}
    gains = [(t.return_ - theirs[t.seed], t) for t in attempt.diagnosis.episodes if t.seed in theirs]
    gain, told = max(gains, key=lambda pair: pair[0], default=(0.0, None))
    if told is None or gain <= CLEARLY * max(abs(told.return_), abs(theirs[told.seed])) or not told.text:
        return None
    return told


def _told_by_parent(attempt: Attempt, known: Known) -> bool:
    """Whether a program as it was written is told by what tuning made of it."""
    leader = known.leader
    return leader is not None and bool(leader.candidate.tuned) and attempt.id in leader.candidate.parents


def _tuning(attempt: Attempt, history: History) -> str:
    """What came of tuning a candidate that has no tuned form."""
    return history.tuning.get(attempt.id, "") if history.find(f"{attempt.id}t") is None else ""


def _entry(attempt: Attempt, known: Known, most: int, beaten: int, said: Collection[str]) -> str:
    """A candidate of the last round: its score, its idea, what tuning gave, its worst episode, and one that beats the best."""
    history = known.history
    same = scores.alike(history, attempt)
    if same:
        return _alike(attempt, same, known)
    if attempt.evaluation.outcome != "ok":
        text = f"- {attempt.id}: {feedback.failure(attempt.evaluation)}"
        tried = idea(attempt, 160)
        text += f" What it tries: {tried}" if tried else ""
        return "\n  ".join([text, *attempt.diagnosis.beginning.splitlines()])
    text = f"- {attempt.id}: {_compared(attempt, known)}."
    tuning = _tuning(attempt, history)
    said_of = [f"{tuning}."] if tuning and tuning not in said else []
    origin = _origin(attempt, known, 400 if most > FEW else 240)
    spread = _returns(attempt, known)
    text = f"{text} {spread}" if spread else text
    text = " ".join([text, *said_of, origin] if "\n" in origin else [text, origin, *said_of])
    better = _beats(attempt, known) if beaten else None
    if better is not None:
        text += f"\nWhere it beats {known.leader.id if known.leader else 'the best'}: "
        text += feedback.episode_in_words(better, beaten, scores.starts(history))
    if most and (better is None or better.role not in {"worst", "typical"}):
        text += f"\n{worst(attempt, most, known) if most > FEW else _in_short(attempt, most, known)}"
    if spread and most and better is None:
        text += f"\n{_in_short(attempt, BESIDE, known, 'best')}"
    return text.rstrip().replace("\n", "\n  ")


def _alike(attempt: Attempt, same: str, known: Known) -> str:
    """That a candidate came out like another, and what it tried, which so need not be tried again."""
    copied = bool(attempt.candidate.duplicate_of)
    tried = "" if copied else " ".join(_origin(attempt, known, TRIED, lines=False).split())
    tried = re.sub(r"^Against \w+: ", "", tried)
    return f"- {same}.{f' It tried: {between_words(tried, TRIED + TRIED // 2)}' if tried else ''}"


def _in_short(attempt: Attempt, most: int, known: Known, role: str = "worst") -> str:
    """The first of what the feedback class says of an episode, and how that went wrong, in a line."""
    told = attempt.diagnosis.of(*(("worst", "typical") if role == "worst" else (role,)))
    if told is None:
        return ""
    start = scores.starts(known.history).get(told.seed, "?")
    text = in_a_line(told.text, most)
    given = f"{told.given}, " if told.given else ""
    return f"{role.title()} (start {start}, {given}{number(told.return_)}, {told.steps} steps): {text}"


def _returns(attempt: Attempt, known: Known) -> str:
    """What a candidate earned on each start, where a mean and its error hide that; empty elsewhere."""
    history = known.history
    evidence = history.evidence(attempt)
    means = [history.evidence(a).mean_return for a in history.attempts if history.runs(a)]
    if not scores.spreads(evidence, means):
        return ""
    return scores.returns(evidence, scores.starts(history))


def _compared(attempt: Attempt, known: Known) -> str:
    history, leader = known.history, known.leader
    text = scores.score(history.evidence(attempt))
    if leader is None or leader is attempt:
        return text
    again = scores.on_bad_starts(history, attempt, leader)
    return "; ".join(filter(None, [f"{text}, {difference(attempt, leader, history)}", again]))


def _origin(attempt: Attempt, known: Known, most: int, *, lines: bool = True) -> str:
    """What a program is: tuned from another, what it changed against the one that it was to improve, or its idea."""
    if attempt.candidate.tuned and attempt.candidate.parents:
        parent = attempt.candidate.parents[0]
        before = known.history.find(parent)
        moved = changes(attempt.candidate.source, before.candidate.source, MOVED) if before else ""
        return f"{parent} with tuned numbers{f': {moved}' if moved else ''}."
    base = base_of(attempt, known.history)
    return (changed(attempt, base, most, lines=lines) if base is not None else "") or idea(attempt, most // 2)


def _line(attempt: Attempt, known: Known, most: int) -> str:
    same = scores.alike(known.history, attempt)
    if same:
        return _alike(attempt, same, known)
    if attempt.evaluation.outcome != "ok":
        return f"- {attempt.id}: {between_words(feedback.failure(attempt.evaluation), 160)}"
    history, leader = known.history, known.leader
    score = scores.score(history.evidence(attempt))
    if leader is not None and leader is not attempt and history.against(attempt, leader).verdict >= 0:
        failing = scores.mishaps(history.evidence(attempt), history.evidence(leader), leader.id)
        score = "; ".join(filter(None, [f"{score}, {difference(attempt, leader, history)}", failing]))
    spread = _returns(attempt, known)
    told = " ".join(filter(None, [f"{score}.", spread, _origin(attempt, known, most, lines=False)]))
    both = [_in_short(attempt, BESIDE, known, role) for role in ("worst", "best")] if spread else []
    return "\n  ".join([f"- {attempt.id}: {told}", *filter(None, both)])
