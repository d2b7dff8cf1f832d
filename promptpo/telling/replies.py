"""What an answer may hold besides a policy: strategies, the word that the task is at its ceiling, a legend."""

from __future__ import annotations

import re

from promptpo.program import Program
from promptpo.telling.limits import LEGEND
from promptpo.telling.shortening import between_words, whole_lines

MOST_STRATEGIES, LONGEST = 5, 200
"""Strategies that are kept, and characters of each."""

MOST_REASON = 300
"""Characters of a reason that are kept."""

_FENCES = re.compile(r"(`{3,}|~{3,}).*?(\1|\Z)", re.DOTALL)
_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_STRATEGY = re.compile(r"^\W*strategy\s*\d*\W*[:.)\u2013\u2014-]\W*(\w.*)$", re.IGNORECASE | re.MULTILINE)
_HEADING = re.compile(r"^\W*[^\n]*strateg[^\n]*:?\W*$", re.IGNORECASE | re.MULTILINE)
_ITEM = re.compile(r"^\s*(?:[-*•]|\(?\d+[.):])\s*(\S.*)$")
_CEILING = re.compile(r"^\W*ceiling\W*:\W*(\w.*)$", re.IGNORECASE | re.MULTILINE)


def strategies(text: str) -> tuple[str, ...]:
    """The strategies that an answer names, as asked (``STRATEGY 1: ...``) or as a list below a heading."""
    outside = _outside_code(text)
    found = [match[1] for match in _STRATEGY.finditer(outside)]
    if len(found) < 2:  # noqa: PLR2004 - one line that begins with the word may be prose
        found = _listed(outside)
    named = dict.fromkeys(between_words(item.strip(" *_`"), LONGEST) for item in found)
    return tuple(item for item in named if item)[:MOST_STRATEGIES]


def strategy(text: str) -> str:
    """The one strategy that an answer says it takes (``STRATEGY: ...``); empty where it names none, or several."""
    found = _STRATEGY.findall(_outside_code(text))
    return between_words(found[0].strip(" *_`"), LONGEST) if len(found) == 1 else ""


def _listed(text: str) -> list[str]:
    heading = _HEADING.search(text)
    if heading is None:
        return []
    items: list[str] = []
    for line in text[heading.end() :].splitlines():
        item = _ITEM.match(line)
        if item:
            items.append(item[1])
        elif line.strip():
            if items:
                break
            return []
    return items if len(items) > 1 else []


def without_strategies(text: str) -> str:
    """Prose without the lines that name strategies."""
    return re.sub(r"\n{3,}", "\n\n", _STRATEGY.sub("", text)).strip()


def ceiling(text: str) -> str:
    """Why nothing better is possible, where an answer says so instead of giving code; else nothing."""
    found = _CEILING.search(_outside_code(text))
    return between_words(found[1].strip(" *_`"), MOST_REASON) if found else ""


def legend(source: str) -> str:
    """What a feedback class says about its labels: ``LEGEND``, or a docstring; empty where it says nothing."""
    program = Program.parse(source)
    text = program.text("LEGEND") or next(iter(program.class_docstrings()), "")
    return whole_lines(text, LEGEND)


def _outside_code(text: str) -> str:
    text = _THINKING.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _FENCES.sub("\n", text)
