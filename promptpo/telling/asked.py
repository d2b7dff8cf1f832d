"""What was asked for in earlier rounds and what came of it; strategies tried, and thoughts of giving up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from promptpo.program import Program
from promptpo.telling import scores
from promptpo.telling.shortening import between_words

if TYPE_CHECKING:
    from promptpo.run.records import Attempt
    from promptpo.search.history import History

MOST = 8
"""Lines at most: the latest."""

_REACH = re.compile(r"\(up to (?=[-+\d])")

NAMED = 110
"""Characters of a strategy's name in a list."""


def respects_in_words(history: History, base: str) -> str:
    """In which respects a program was to be improved before, and what came of each; empty where in none.

    What came of those of the last round is told where its candidates are.
    """
    lines = []
    for id_ in _of_earlier_rounds(history):
        asked = history.asked[id_]
        if asked.respect and asked.base == base:
            outcome = "" if _told_elsewhere(history, id_) else f": {_outcome(history, id_, asked.base)}"
            lines.append(f"- {asked.respect} ({id_}){outcome}")
    if not lines:
        return ""
    return "\n".join([f"# What {base} was to be improved in before", "", *lines[-MOST:]])


def _told_elsewhere(history: History, id_: str) -> bool:
    """Whether the list of the last round's candidates says what came of a request."""
    if _order(id_)[0] != history.rounds or history.find(id_) is None:
        return False
    return history.find(f"{id_}t") is None and id_ not in history.revisits


def strategies_in_words(history: History, *, short: bool = False) -> str:
    """Which strategies were asked for or named, and what came of each; empty where none was."""
    lines = []
    for id_ in _of_earlier_rounds(history):
        asked = history.asked[id_]
        if asked.strategy:
            name = between_words(guessed(asked.strategy), NAMED // 2 if short else NAMED)
            outcome = "" if short else f": {_outcome(history, id_, '')}"
            lines.append(f'- "{name}" ({id_}){outcome}')
    if not lines:
        return ""
    return "\n".join(["# Strategies that were tried", "", *lines[-MOST:]])


def guessed(strategy: str) -> str:
    """A strategy's name in which what it may reach is told as what it is: its author's guess."""
    return _REACH.sub("(guessed: up to ", strategy)


def thoughts_in_words(history: History) -> str:
    """That some answers of the last round saw no way to improve; empty where none did."""
    thoughts, answers = history.thoughts
    if not thoughts:
        return ""
    reasons = "; ".join(f'"{between_words(thought, 200)}"' for thought in dict.fromkeys(thoughts))
    many = f"{len(thoughts)} of the {answers} answers" if answers > 1 else "The one answer"
    return f"{many} of the last round saw no way to improve: {reasons}."


def _outcome(history: History, id_: str, base: str) -> str:
    """What a request brought: the better of the program as it was written and its tuned form."""
    found = [a for a in (history.find(id_), history.find(f"{id_}t")) if a is not None]
    if not found:
        return "no program came of it"
    running = [a for a in found if history.runs(a)]
    if not running:
        return f"it {'was rejected' if found[0].evaluation.outcome == 'rejected' else 'failed'}"
    best = running[0]
    for one in running[1:]:
        if history.better(one, best):
            best = one
    other: Attempt | None = history.find(base or history.leader_id)
    score = scores.score(history.evidence(best))
    name = "" if best.id == id_ else f"{best.id}, "
    tuned = _numbers(history, best)
    if other is None or other is best:
        return f"{name}{score}" + (", the best so far" if best.id == history.leader_id else "")
    against = f"{other.id} (tuned)" if other.candidate.tuned and tuned else other.id
    again = scores.on_bad_starts(history, best, other)
    text = f"{name}{tuned}{scores.difference(history.against(best, other), against)}"
    return "; ".join(filter(None, [text, again]))


def _numbers(history: History, attempt: Attempt) -> str:
    """Which numbers a return is of, where others were tuned: a structure's best numbers may not be known yet."""
    if (
        not any(a.candidate.tuned for a in history.attempts)
        or not Program.parse(attempt.candidate.source).params
    ):
        return ""
    return "tuned: " if attempt.candidate.tuned else "numbers as written: "


def _of_earlier_rounds(history: History) -> list[str]:
    """Whose requests are over, in their order; answers of the present round arrive in any."""
    return sorted((id_ for id_ in history.asked if _order(id_)[0] <= history.rounds), key=_order)


def _order(id_: str) -> tuple[int, int]:
    round_, _, slot = id_.removeprefix("r").partition("c")
    return int(round_), int(slot)
