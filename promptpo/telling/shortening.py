"""Text made shorter: whole lines, whole sentences, whole words; what is left out is told."""

from __future__ import annotations

import re

_ENDS = re.compile(r"(?<=[.!?])(?<!\.\.)\s+")
"""Between two sentences; not within a range such as 0.4 .. 0.7."""


def counted(n: float, what: str) -> str:
    """``1 episode``, ``5,000 steps``."""
    return f"{n:,.0f} {what}{'s' * (round(n) != 1)}"


def whole_lines(text: str, most: int, *, kept: str | None = None) -> str:
    """Text of at most so many characters: it loses whole lines from its end, and says how many.

    Only a first line that is longer by itself ends between two words.

    Args:
        text: What is made shorter.
        most: Characters.
        kept: Given, whole blocks are lost, as empty lines divide them, but no line that begins so.
    """
    text = text.strip()
    if len(text) <= most:
        return text
    between, what = ("\n", "line") if kept is None else ("\n\n", "block")
    staying = [line for line in text.split("\n") if kept is not None and line.startswith(kept)]
    first, *others = text.split(between)
    head = 1 if kept is None else 24 + len(first.partition("\n")[0])
    room = max(most - 24 - sum(len(line) + 1 for line in staying), head)  # less what the note takes
    told = [between_words(first, room) if kept is None else whole_lines(first, room)]
    size = len(told[0])
    for other in others:
        size += len(between) + len(other)
        if size > room:
            break
        told.append(other)
    left = 1 + len(others) - len(told)
    note = [f"({counted(left, f'more {what}')})"] if left else []
    shown = between.join(told)
    last = [line for line in staying if line not in shown.split("\n")]
    cut = between.join(filter(None, [shown, "\n".join([*last, *note])]))
    return cut if kept is None else whole_lines(cut, most)


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
