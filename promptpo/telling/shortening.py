"""Text made shorter: whole lines, whole sentences, whole words; what is left out is told."""

from __future__ import annotations

import re

_ENDS = re.compile(r"(?<=[.!?])(?<!\.\.)\s+")
"""Between two sentences; not within a range such as 0.4 .. 0.7."""


def whole_lines(text: str, most: int) -> str:
    """Text of at most so many characters: it loses whole lines from its end, and says how many.

    Only a first line that is longer by itself ends between two words.
    """
    text = text.strip()
    if len(text) <= most:
        return text
    lines = text.split("\n")
    kept = [between_words(lines[0], max(most - 24, 1))]
    size = len(kept[0])
    for line in lines[1:]:
        size += len(line) + 1
        if size > most - 24:  # what the note takes
            break
        kept.append(line)
    left = len(lines) - len(kept)
    note = [f"({left} more line{'s' if left > 1 else ''})"] if left else []
    return "\n".join([*kept, *note])


def between_words(text: str, most: int) -> str:
    """Text of at most so many characters, cut between words."""
    text = text.strip()
    if len(text) <= most:
        return text
    kept = text[: max(most - 2, 0)]
    if not text[len(kept)].isspace() and len(kept.split()) > 1:
        kept = kept.rsplit(None, 1)[0]
    return kept.rstrip(" ,;:") + " …"


def sentences(text: str, most: int) -> str:
    """The first whole sentences of at most so many characters; a first one that is longer ends between two words."""
    first, *others = _ENDS.split(" ".join(text.split()))
    told = between_words(first, most)
    for sentence in others:
        if len(told) + len(sentence) >= most:
            break
        told = f"{told} {sentence}"
    return told
