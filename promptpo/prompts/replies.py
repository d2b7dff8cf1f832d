"""Parts of an answer besides a policy: a refusal, the claim that the task is at its ceiling, a legend."""

from __future__ import annotations

import re

from promptpo.program import Program
from promptpo.prompts.limits import IDEA, SUMMARY
from promptpo.prompts.shortening import cut_between_words, tidy, whole_lines

_CEILING = re.compile(r"^\W*ceiling\W*:\W*(\w.*(?:\n.*\S.*)*)", re.IGNORECASE | re.MULTILINE)
"""Claim of a ceiling, to the end of its paragraph."""


_DECLINED = re.compile(r"^\W*NONE\b\W*(.*)$", re.MULTILINE)
"""Line with which an answer declines, with its reason."""


def reason_to_decline(text: str) -> str | None:
    """Return why an answer declines, in its own words; None if it does not decline."""
    found = _DECLINED.search(text)
    return None if found is None else cut_between_words(tidy(found[1]).rstrip("."), IDEA)


def ceiling(prose: str) -> str:
    """Return why no improvement is possible, in full, if the prose of an answer says so; otherwise empty."""
    found = _CEILING.search(prose)
    return " ".join(found[1].split()).strip(" *_`") if found else ""


def legend(source: str) -> str:
    """Return the legend of a feedback class: ``LEGEND``, or its docstring; empty if it has neither."""
    program = Program.from_source(source)
    text = program.text("LEGEND") or next(iter(program.class_docstrings()), "")
    return whole_lines(text, SUMMARY)
