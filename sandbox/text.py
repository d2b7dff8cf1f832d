"""Text that others wrote, made safe to show: nothing in it can steer a terminal or break a file of lines."""

from __future__ import annotations

import re

_ODD = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and newline; escape sequences begin with one
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # change the direction in which text is shown
    "\u2028\u2029"  # end a line for some readers and not for others
    "\ud800-\udfff"  # half a character: cannot be encoded
    "\U000e0000-\U000e007f"  # invisible copies of ASCII
    "]"
)


def clean(text: str) -> str:
    r"""The text with everything that is not plainly visible written out.

    Control characters (tab and newline apart), lone surrogates, and characters that hide or reorder others
    become escapes as Python writes them, such as ``\x1b`` and ``\ud800``. Clean text stays as it is.
    """
    return _ODD.sub(lambda odd: ascii(odd.group())[1:-1], text)
