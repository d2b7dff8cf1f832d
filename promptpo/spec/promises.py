"""Rewards that a spec promises for single steps, in its prose and in its reward's code."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from promptpo.spec.prose import sentences_of
from promptpo.spec.reading import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptpo.spec.reading import Reading

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
_RESULT = re.compile(r"\d\)?\s*[-+*/^x]\s*\(?\d[^=;]*=\s*[-+]?\d")
"""What a formula comes to with some numbers in it, as documentation has it in an example of a whole episode."""

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
        if not _REWARD.search(sentence) or _TOTAL.search(sentence) or _RESULT.search(sentence):
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
