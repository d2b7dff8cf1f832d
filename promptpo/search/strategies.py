"""Which strategies have been tried on a task, and which are open."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptpo.telling.programs import idea
from promptpo.telling.prompting import is_continuous
from promptpo.telling.shortening import between_words

if TYPE_CHECKING:
    from promptpo.search.history import History
    from promptpo.spec import TaskSpec

RHYTHM = "a rhythm or schedule in time, corrected by the observation"

STRATEGIES = (
    "the simplest rule that could work, with few numbers",
    "feedback control: errors, gains and limits on named quantities",
    "phases: a small state machine that remembers within the episode what has been achieved",
    "planning: predict a few steps ahead with a model of your own and choose the best action",
    "physics: energy, momentum or geometry worked out from the quantities observed",
    RHYTHM,
    "a table or decision list over a few well-chosen features",
)
"""Ways of solving a control task, asked for by name where the model has named none for this one."""

ALIKE = 0.5
"""A strategy of whose words so large a share is in what a program says of itself has been tried by it."""

NAMED, MOST_TRIED = 110, 6
"""Characters of a strategy that was tried, and how many are named where a request asks for a structure unlike these."""

FEWEST_WORDS = 3
"""Fewer words than these may be in any program's text."""

_PROMISE = re.compile(r"\(up to ([-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)\)\W*$")
_WORDS = re.compile(r"[a-z]{3,}")
_COMMON = frozenset(
    [
        "with",
        "that",
        "this",
        "from",
        "into",
        "each",
        "when",
        "then",
        "them",
        "they",
        "both",
        "while",
        "policy",
        "and",
        "the",
        "for",
        "not",
        "all",
        "its",
        "one",
        "two",
        "any",
        "are",
        "out",
    ]
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a candidate was asked for.

    Attributes:
        direction: The kind of request.
        base: Id of the program to build on; empty without one.
        strategy: The strategy that was named, by the request or by the answer; empty where none was.
        respect: In which respect to improve, one word; empty where none was named.
        other: Id of the program to merge with; empty without one.
        dealt: The strategy that the request named, where the answer took another instead: one that nobody had tried.
    """

    direction: str
    base: str = ""
    strategy: str = ""
    respect: str = ""
    other: str = ""
    dealt: str = ""


def open_strategies(history: History, spec: TaskSpec | None) -> list[str]:
    """Strategies that nobody has tried: what the model named for this task, then what suits such tasks.

    Those of the list above only where the model has named none. One that an answer passed over, since a program that it was told of works like it, is tried as well. One of which the
    model said that it reaches less than the best has reached is not worth a request.
    """
    rhythmic = spec is None or is_continuous(spec.action_space)
    asked = {name for one in history.asked.values() for name in (one.strategy, one.dealt)}
    ideas = [_words(idea(a, 400)) for a in history.attempts if not a.candidate.tuned]
    tried = [*ideas, *map(_words, asked)]
    best = history.best()
    earned = history.evidence(best).mean_return if best is not None else -math.inf
    named = [
        s
        for s in history.strategies
        if s not in asked and not any(_alike(s, words) for words in tried) and not promised(s) <= earned
    ]
    if (
        history.strategies
    ):  # where these ran out, a name from a list fits no better than what the programs are
        return named
    return [
        s
        for s in STRATEGIES
        if s not in asked and (rhythmic or s != RHYTHM) and not any(_alike(s, words) for words in tried)
    ]


def tried_strategies(history: History) -> tuple[str, ...]:
    """A line for each strategy that was tried, the latest first: by the name that it was given, or by what a program says."""
    found: list[str] = []
    for attempt in reversed(history.attempts):
        if attempt.candidate.tuned or attempt.candidate.duplicate_of:
            continue
        asked = history.asked.get(attempt.id)
        said = asked.strategy if asked is not None and asked.strategy else idea(attempt, NAMED)
        words = _words(said)
        if words and not any(_alike(said, _words(other)) for other in found):
            found.append(between_words(said, NAMED))
    return tuple(found[:MOST_TRIED])


def promised(strategy: str) -> float:
    """The return that a strategy may reach at best, as the model said when it named it; infinity where it did not."""
    found = _PROMISE.search(strategy)
    return float(found[1].replace(",", "")) if found is not None else math.inf


def _alike(strategy: str, words: set[str]) -> bool:
    mine = _words(strategy)
    return len(mine) >= FEWEST_WORDS and len(mine & words) >= ALIKE * len(mine)


def _words(text: str) -> set[str]:
    """The beginnings of the words that carry meaning: "torques" and "torque" are one."""
    return {word[:5] for word in _WORDS.findall(text.lower()) if word not in _COMMON}
