"""Text that others wrote, made safe to show: nothing in it can steer a terminal or break a file of lines.

The one cleaner of the project. Text is cleaned where it enters (answers of models, what leaves the sandbox,
files of runs), and once more where it leaves for a terminal.
"""

from __future__ import annotations

import re
from typing import Any

_INVISIBLE = (
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # change the direction in which text is shown
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"  # not seen
    "\U000e0000-\U000e0fff"  # invisible copies of ASCII, and more that is not seen
)

_ODD = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and newline; escape sequences begin with one
    f"{_INVISIBLE}"
    "\u2028\u2029"  # end a line for some readers and not for others
    "\ud800-\udfff"  # half a character: cannot be encoded
    "]"
)

_UNSEEN = re.compile(f"\x1b\\[[0-9;:?]*[A-Za-z]|[{_INVISIBLE}]")
"""Colours of a terminal, and characters of no width."""

_LINE_END = re.compile("\r\n|[\r\f\v]|\n?[\x85\u2028\u2029]\n?")


def clean(text: str) -> str:
    r"""The text with everything that is not plainly visible written out.

    Control characters (tab and newline apart), lone surrogates, and characters that hide or reorder others
    become escapes as Python writes them, such as ``\x1b`` and ``\ud800``; ``\r\n`` ends a line like ``\n``.
    Clean text stays as it is.
    """
    return _ODD.sub(lambda odd: ascii(odd.group())[1:-1], text.replace("\r\n", "\n"))


def clean_answer(text: str) -> str:
    r"""The same for a text with a program in it: every kind of line end is ``\n``, and what is not seen is dropped.

    Written out, a character of no width would break the code that it stands in.
    """
    return clean(_LINE_END.sub("\n", _UNSEEN.sub("", text)))


def clean_line(text: str) -> str:
    """The text as one clean line: what it says must not look like a line of ours."""
    return clean(text).replace("\n", " ")


def clean_lines(*lines: str) -> str:
    """Several texts, each of them one clean line."""
    return "\n".join(map(clean_line, lines))


def clean_name(text: str) -> str:
    """A name or a short message as one clean line without runs of spaces; what does not print is written out."""
    line = clean(" ".join(text.split()))
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)


def clean_values(value: Any) -> Any:
    """A JSON value whose texts, keys included, are clean."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): clean_values(item) for key, item in value.items()}
    return [clean_values(item) for item in value] if isinstance(value, list) else value


def is_clean(text: str) -> bool:
    """Whether there is nothing to write out, be it as JSON's escapes."""
    return _ODD.search(text) is None and "\\u" not in text
