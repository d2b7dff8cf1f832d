"""What an answer may hold besides a policy: the word that the task is at its ceiling, a legend."""

from __future__ import annotations

import re

from promptpo.program import Program
from promptpo.telling.limits import SUMMARY
from promptpo.telling.shortening import whole_lines

_CEILING = re.compile(r"^\W*ceiling\W*:\W*(\w.*(?:\n.*\S.*)*)", re.IGNORECASE | re.MULTILINE)
"""To the end of its paragraph."""


def ceiling(prose: str) -> str:
    """Why nothing better is possible, where what an answer says beside code says so, in all its words; else nothing."""
    found = _CEILING.search(prose)
    return " ".join(found[1].split()).strip(" *_`") if found else ""


def legend(source: str) -> str:
    """What a feedback class says about its labels: ``LEGEND``, or a docstring; empty where it says nothing."""
    program = Program.parse(source)
    text = program.text("LEGEND") or next(iter(program.class_docstrings()), "")
    return whole_lines(text, SUMMARY)
