"""Text that a model or a service sent, before anything else sees it."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")


def whole(text: str) -> str:
    """The text with lone surrogates, which no file and no terminal takes, as U+FFFD; nothing else is changed."""
    return _SURROGATE.sub("\ufffd", text)


def visible(text: str) -> str:
    """One line in which what a terminal would obey or hide (escape sequences, direction marks) is written out."""
    line = " ".join(text.split())
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape", "surrogatepass").decode()
        for character in line
    )
