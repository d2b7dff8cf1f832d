"""Readings of text as code: without the additions of Markdown, fonts and transports."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Iterator

from promptpo_sandbox.text import clean_answer

_QUOTED = re.compile(r"^[ \t]*(?:(?:>>>|\.\.\.)(?: |$)|(?:>[ ]?)+)", re.MULTILINE)
"""Prefix of a line in a quotation or an interactive session."""

_SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f]")
_WIDE_SPACE = "\u3000"
_TYPOGRAPHIC = str.maketrans(
    "\uff08\uff09\uff0c\uff1a\uff1b\uff1d\uff0b\uff0d\uff0a\uff0f\uff1c\uff1e\uff3b\uff3d\uff5b\uff5d\u2212"
    "\u201c\u201d\u2018\u2019\u00d7",
    "(),:;=+-*/<>[]{}-\"\"''*",
)
_ENTITY = re.compile("&(?:lt|gt|amp|quot|#39);")
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": ""}


_CHANGED = re.compile(r"[^\x00-\x7f]|\t|&\w+;|^[ \t]*(?:>|\.\.\.)", re.MULTILINE)


def variants(text: str) -> Iterator[str]:
    """Yield readings of a text as code, the most literal one first."""
    if not _CHANGED.search(text):
        yield textwrap.dedent(text).strip("\n")
        return
    yielded = {""}
    for lines in (text, _QUOTED.sub("", text)):
        for spaces in (lines, *(_with_spaces(lines, width) for width in (1, 2, 4))):
            for letters in (spaces, _in_ascii(spaces)):
                for tab in (4, 8):
                    code = textwrap.dedent(letters.expandtabs(tab)).strip("\n")
                    if code not in yielded:
                        yielded.add(code)
                        yield code


def plainest(text: str) -> str:
    """Return the reading with most changes, line by line, so that no odd characters hide other syntax errors."""
    return textwrap.dedent(_in_ascii(_with_spaces(text, 4)).expandtabs(8))


def _in_ascii(text: str) -> str:
    return _ENTITY.sub(lambda found: html.unescape(found[0]), text.translate(_TYPOGRAPHIC))


def _with_spaces(text: str, width: int) -> str:
    """Replace odd spaces by plain ones; an ideographic space stands for `width` columns."""
    return _SPACES.sub(" ", text).replace(_WIDE_SPACE, " " * width)


def unescape_json(text: str) -> str:
    """Unescape the text of an answer that is the inside of a JSON string."""

    def meant(escape: re.Match[str]) -> str:
        code = escape[1]
        return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPES.get(code, code)

    return clean_answer(_ESCAPED.sub(meant, text))
