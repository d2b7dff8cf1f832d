"""Cleaning of untrusted text, so that it can neither control a terminal nor break a file of lines.

All text is cleaned here: where it enters (answers of models, output of the sandbox, files of runs), and once more
before it is written to a terminal.
"""

from __future__ import annotations

import re
from typing import Any

_INVISIBLE = (
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # change the direction in which text is shown
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"  # invisible
    "\U000e0000-\U000e0fff"  # invisible copies of ASCII, and other invisible characters
)

_ODD = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters except tab and newline; escape sequences begin with one
    f"{_INVISIBLE}"
    "\u2028\u2029"  # end a line for some readers and not for others
    "\ud800-\udfff"  # lone surrogates: cannot be encoded
    "]"
)

_UNSEEN = re.compile(f"\x1b\\[[0-9;:?]*[A-Za-z]|[{_INVISIBLE}]")
"""Control sequences of a terminal, such as colours, and invisible characters."""

_LINE_END = re.compile("\r\n|[\r\f\v]|\n?[\x85\u2028\u2029]\n?")


def clean(text: str) -> str:
    r"""Return a text with its invisible and control characters escaped.

    Control characters (except tab and newline), lone surrogates, and characters that hide or reorder others become
    Python escapes such as ``\x1b`` and ``\ud800``; ``\r\n`` becomes ``\n``. Clean text is unchanged.
    """
    return _ODD.sub(lambda odd: ascii(odd.group())[1:-1], text.replace("\r\n", "\n"))


def clean_answer(text: str) -> str:
    r"""Clean a text that contains a program: every line ending becomes ``\n``, and invisible characters are dropped.

    An escaped character of no width would break the code around it.
    """
    return clean(_LINE_END.sub("\n", _UNSEEN.sub("", text)))


def clean_line(text: str) -> str:
    """Return a text as one clean line, so that no part of it passes for a line of ours."""
    return clean(text).replace("\n", " ")


def clean_lines(*lines: str) -> str:
    """Join texts with newlines, each of them cleaned to one line."""
    return "\n".join(map(clean_line, lines))


def clean_name(text: str) -> str:
    """Return a name or short message as one clean line; runs of spaces collapse, unprintable characters are escaped."""
    line = clean(" ".join(text.split()))
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)


def clean_values(value: Any) -> Any:
    """Return a JSON value with all of its texts cleaned, keys included."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): clean_values(item) for key, item in value.items()}
    return [clean_values(item) for item in value] if isinstance(value, list) else value


def is_clean(text: str) -> bool:
    r"""Whether a text has nothing to escape, and no ``\u`` escapes of JSON."""
    return _ODD.search(text) is None and "\\u" not in text
