"""What an answer may hold besides a policy: the word that the task is at its ceiling, a legend."""

from __future__ import annotations

import re

from promptpo.program import Program
from promptpo.telling.limits import LEGEND
from promptpo.telling.shortening import between_words, whole_lines

MOST_REASON = 300
"""Characters of a reason that are kept."""

_FENCES = re.compile(r"(`{3,}|~{3,}).*?(\1|\Z)", re.DOTALL)
_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_CEILING = re.compile(r"^\W*ceiling\W*:\W*(\w.*)$", re.IGNORECASE | re.MULTILINE)


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
