"""Rewards that a task's text promises, held against what single steps have earned."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from promptpo.spec.prose import sentences_of
from promptpo.spec.reading import read
from promptpo.telling.feedback import number
from promptpo.telling.shortening import between_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptpo.spec.reading import Reading

CLEARLY = 1.5
"""A promised amount is one that nobody has earned where it is so many times the most that a step has brought."""

MOST, LONGEST = 2, 200
"""Sentences that are quoted, and characters of each."""

_REWARD = re.compile(
    r"\b(?:rewards?|rewarded|bonus(?:es)?|points?|pays?|earns?|prize|payoff)\b", re.IGNORECASE
)
_TOTAL = re.compile(
    r"\b(?:total(?:ing|s)?|sum|return|cumulative|per episode|threshold|solved|range)\b", re.IGNORECASE
)
_AMOUNT = re.compile(r"(?<![\w.^*/-])(?<![*/-] )\+?(\d+(?:,\d{3})*(?:\.\d+)?)(?!\w|\.\d|\s*[\^*/%])")
_LARGE = re.compile(
    r"\b(?:bonus(?:es)?|(?:large|big|high|positive) (?:reward|payoff|prize))\b", re.IGNORECASE
)
_COST = re.compile(r"\b(?:costs?|costly|fines?|penal\w+|loses?|minus|negative)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Promise:
    """A reward that a text speaks of.

    Attributes:
        amount: The largest that it names; 0 where it names none.
        words: The sentence, or a piece of code.
    """

    amount: float
    words: str


@lru_cache(maxsize=8)
def promises(spec: str) -> tuple[Promise, ...]:
    """What a spec's text and its reward's code promise for single steps, the largest amount first."""
    try:
        reading = read(spec)
    except SyntaxError:
        return ()
    found = [*_told(reading), *_coded(reading)]
    return tuple(sorted(found, key=lambda one: -one.amount))


def _told(reading: Reading) -> Iterator[Promise]:
    docstring = ast.get_docstring(reading.reward) or "" if reading.reward is not None else ""
    entries = [value for value in (reading.episode or {}).values() if isinstance(value, str)]
    for sentence in sentences_of("\n\n".join([reading.docstring, docstring, *entries])):
        if not _REWARD.search(sentence) or _TOTAL.search(sentence):
            continue
        amounts = [float(text.replace(",", "")) for text in _AMOUNT.findall(sentence)]
        if amounts or (_LARGE.search(sentence) and not _COST.search(sentence)):
            yield Promise(max(amounts, default=0.0), sentence)


def _coded(reading: Reading) -> Iterator[Promise]:
    """Plain numbers that the code gives as a reward: ``reward = 10.0``."""
    for function in reading.functions:
        for node in ast.walk(function):
            if not isinstance(node, ast.Assign | ast.AugAssign) or not isinstance(node.value, ast.Constant):
                continue
            if isinstance(node, ast.AugAssign) and not isinstance(node.op, ast.Add):
                continue
            target = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
            value = node.value.value
            if "reward" in target and isinstance(value, int | float) and value > 0:
                yield Promise(float(value), ast.unparse(node))


def unseen(found: Sequence[Promise], most: float) -> list[Promise]:
    """Promises that no step has kept, if none has earned more than `most`."""
    high = max(most, 0.0)
    return [one for one in found if one.amount > CLEARLY * high or (not one.amount and most <= 0)]


def in_words(found: Sequence[Promise], least: float, most: float) -> str:
    """What single steps have earned, and what the task's text promises beyond that."""
    quoted = list(dict.fromkeys(one.words for one in unseen(found, most)))[:MOST]
    if not quoted:
        return f"Single steps have earned from {number(least)} to {number(most)} so far."
    listed = " and ".join(f'"{between_words(words, LONGEST)}"' for words in quoted)
    return (
        f"No step of any program has earned more than {number(most)} so far (least {number(least)}), but the task text "
        f"says: {listed}"
    )
