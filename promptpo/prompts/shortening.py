"""Shortening of text by whole lines, sentences or words, with a note on what is left out."""

from __future__ import annotations

import re

from promptpo_sandbox.text import clean

_ENDS = re.compile(r"(?<=[.!?])(?<!\.\.)\s+")
"""Boundary between two sentences; not inside a range such as 0.4 .. 0.7."""


def count_of(n: float, what: str) -> str:
    """Format a count with its noun: ``1 episode``, ``5,000 steps``, ``2 policies``."""
    several = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{n:,.0f} {what if round(n) == 1 else several}"


def whole_lines(text: str, most: int, *, kept: str | None = None) -> str:
    """Shorten text to a number of characters by whole lines from its end, with a note on how many are left out.

    Only a first line that is too long is cut, between two words.

    Args:
        text: The text.
        most: Maximum number of characters.
        kept: Prefix of lines that are moved to the front if others are left out.
    """
    text = text.strip()
    if len(text) <= most:
        return text
    lines = text.split("\n")
    if kept is not None:
        lines.sort(key=lambda line: not line.startswith(kept))
    room = max(most - 24, 1)  # room for the note
    shown = [cut_between_words(lines[0], room)]
    size = len(shown[0])
    for line in lines[1:]:
        size += 1 + len(line)
        if size > room:
            break
        shown.append(line)
    left = len(lines) - len(shown)
    return "\n".join([*shown, *([f"({count_of(left, 'more line')})"] if left else [])])


def cut_between_words(text: str, most: int) -> str:
    """Shorten text to a number of characters, cut between words."""
    text = text.strip()
    if len(text) <= most:
        return text
    kept = text[: max(most - 2, 0)]
    if not text[len(kept)].isspace() and len(kept.split()) > 1:
        kept = kept.rsplit(None, 1)[0]
    return kept.rstrip(" ,;:") + " …"


def sentences(text: str, most: int) -> str:
    """Return the first whole sentences within a number of characters; a first one that is too long is cut between words."""
    first, *others = _ENDS.split(" ".join(text.split()))
    text_so_far = cut_between_words(first, most)
    for sentence in others:
        if len(text_so_far) + len(sentence) >= most:
            break
        text_so_far = f"{text_so_far} {sentence}"
    return text_so_far


def tidy(text: str) -> str:
    """Make text safe to quote in a prompt: no control characters, fences, headings or gaps.

    If a line begins like a heading, as lines of a map may, all lines are set off with a bar.
    """
    lines = [line.rstrip() for line in clean(text).replace("```", "'''").replace("~~~", "---").split("\n")]
    if any(line.lstrip().startswith("#") for line in lines):
        lines = [f"| {line}" if line else line for line in lines]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
