"""Parts of an answer beside a policy: a refusal, the claim that the task is at its ceiling, a legend."""

from __future__ import annotations

import re

from promptpo.program import Program
from promptpo.prompts.limits import IDEA, SUMMARY
from promptpo.prompts.shortening import cut_between_words, tidy, whole_lines

_CEILING = re.compile(r"^\W*ceiling\W*:\W*(\w.*(?:\n.*\S.*)*)", re.IGNORECASE | re.MULTILINE)
"""To the end of its paragraph."""


_DECLINED = re.compile(r"^\W*NONE\b\W*(.*)$", re.MULTILINE)
"""How an answer says that it brings nothing, and why."""


def reason_to_decline(text: str) -> str | None:
    """Why an answer brings nothing, in its own words; None where it does not say that it brings nothing."""
    found = _DECLINED.search(text)
    return None if found is None else cut_between_words(tidy(found[1]).rstrip("."), IDEA)


def ceiling(prose: str) -> str:
    """Why nothing better is possible, where what an answer says beside code says so, in all its words; else nothing."""
    found = _CEILING.search(prose)
    return " ".join(found[1].split()).strip(" *_`") if found else ""


def legend(source: str) -> str:
    """Legend of a feedback class's labels: ``LEGEND``, or its docstring; empty if it has neither."""
    program = Program.from_source(source)
    text = program.text("LEGEND") or next(iter(program.class_docstrings()), "")
    return whole_lines(text, SUMMARY)
