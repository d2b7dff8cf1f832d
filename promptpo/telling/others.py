"""The candidates that a prompt does not tell in detail: those of the last round with a diagnosis, others in a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from promptpo.telling import feedback, scores
from promptpo.telling.parts import Part
from promptpo.telling.programs import idea
from promptpo.telling.shortening import between_words

if TYPE_CHECKING:
    from promptpo.run.evidence import Evidence
    from promptpo.run.records import Attempt
    from promptpo.search.history import History
    from promptpo.search.planning import Plan
    from promptpo.telling.known import Known

FORMS = ((700, 700, 9), (420, 420, 9), (240, 0, 2), (0, 0, 1), (0, 0, 0))
"""Forms of what is told of the last round's candidates: characters of the worst episode's summary, of that of one that
failed, and how many of these show how they began, which says more than averages over what came after."""

WORTHS = (12, 35, 60, 76)


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
            "\n".join([title, "", *ways, *_entries(last, known, most, failed, began)])
            for most, failed, began in FORMS
        ]
        parts.append(Part(forms, [*WORTHS]))
    if earlier:
        every = [_line(a, known, 120) for a in earlier]
        few = [_line(a, known, 80) for a in earlier[-4:]]
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


def _entries(attempts: Sequence[Attempt], known: Known, most: int, failed: int, began: int) -> Iterator[str]:
    """What is told of each, the first so many of those that failed with how they began."""
    for attempt in attempts:
        bad = _failed(attempt, known)
        shows = (
            bad
            and began > 0
            and bool(attempt.diagnosis.beginning)
            and not scores.alike(known.history, attempt)
        )
        began -= shows
        yield _entry(attempt, known, failed if bad else most, began=shows)


def _told_by_parent(attempt: Attempt, known: Known) -> bool:
    """Whether a program as it was written is told by what tuning made of it."""
    leader = known.leader
    return leader is not None and bool(leader.candidate.tuned) and attempt.id in leader.candidate.parents


def _entry(attempt: Attempt, known: Known, most: int, *, began: bool) -> str:
    """A candidate of the last round: its score, its idea, what tuning gave, and its worst episode."""
    history = known.history
    same = scores.alike(history, attempt)
    if same:
        return f"- {same}."
    table = attempt.diagnosis.beginning if began and _failed(attempt, known) else ""
    if attempt.evaluation.outcome != "ok":
        text = f"- {attempt.id}: {feedback.failure(attempt.evaluation)}"
        tried = idea(attempt, 160)
        text += f" What it tries: {tried}" if tried else ""
        return "\n  ".join([text, *table.splitlines()])
    text = f"- {attempt.id}: {_compared(attempt, known)}. {_origin(attempt, 200 if most else 120)}"
    tuning = history.tuning.get(attempt.id, "")
    if tuning and history.find(f"{attempt.id}t") is None:
        text += f" {tuning}."
    if most or table:
        # Without a feedback class the summary is a table of the same steps.
        summary = worst(attempt, most, known) if (most and attempt.diagnosis.by) or not table else ""
        text = "\n".join(filter(None, [text, summary, table]))
    return text.rstrip().replace("\n", "\n  ")


def _failed(attempt: Attempt, known: Known) -> bool:
    """Whether a candidate broke, ended early, or earns no more than policies that know nothing."""
    history, leader = known.history, known.leader
    if attempt.evaluation.outcome != "ok":
        return True
    if leader is None or leader is attempt or history.against(attempt, leader).verdict >= 0:
        return False
    mine, theirs = history.evidence(attempt), history.evidence(leader)
    marks = [mark.mean_return for mark in history.references.values() if mark.episodes]
    bar = max([m for m in marks if m < theirs.mean_return], default=theirs.mean_return)
    low = mine.mean_return <= bar + scores.FEW * (theirs.mean_return - bar)
    early = any(e.terminated for e in mine.episodes) and _length(mine) < scores.EARLY * _length(theirs)
    return low or early


def _length(evidence: Evidence) -> float:
    return sum(e.steps for e in evidence.episodes) / max(1, len(evidence.episodes))


def _compared(attempt: Attempt, known: Known) -> str:
    history, leader = known.history, known.leader
    text = scores.score(history.evidence(attempt))
    if leader is None or leader is attempt:
        return text
    again = scores.on_bad_starts(history, attempt, leader)
    return "; ".join(filter(None, [f"{text}, {difference(attempt, leader, history)}", again]))


def _origin(attempt: Attempt, most: int = 200) -> str:
    """What a program is: tuned from another, or its idea."""
    if attempt.candidate.tuned and attempt.candidate.parents:
        return f"{attempt.candidate.parents[0]} with tuned numbers."
    return idea(attempt, most)


def _line(attempt: Attempt, known: Known, most: int) -> str:
    same = scores.alike(known.history, attempt)
    if same:
        return f"- {same}."
    if attempt.evaluation.outcome != "ok":
        return f"- {attempt.id}: {between_words(feedback.failure(attempt.evaluation), 160)}"
    history, leader = known.history, known.leader
    score = scores.score(history.evidence(attempt))
    if leader is not None and leader is not attempt and history.against(attempt, leader).verdict >= 0:
        failing = scores.mishaps(history.evidence(attempt), history.evidence(leader), leader.id)
        score = "; ".join(filter(None, [f"{score}, {difference(attempt, leader, history)}", failing]))
    return f"- {attempt.id}: {score}. {between_words(_origin(attempt), most)}"
