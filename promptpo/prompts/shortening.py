"""Text made shorter: whole lines, whole sentences, whole words; what is left out is told."""

from __future__ import annotations

import re

from promptpo_sandbox.text import clean

_ENDS = re.compile(r"(?<=[.!?])(?<!\.\.)\s+")
"""Between two sentences; not within a range such as 0.4 .. 0.7."""


def count_of(n: float, what: str) -> str:
    """``1 episode``, ``5,000 steps``, ``2 policies``."""
    several = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{n:,.0f} {what if round(n) == 1 else several}"


def whole_lines(text: str, most: int, *, kept: str | None = None) -> str:
    """Text of at most so many characters: it loses whole lines from its end, and says how many.

    Only a first line that is longer by itself ends between two words.

    Args:
        text: What is made shorter.
        most: Characters.
        kept: Lines that begin so come first where others are lost.
    """
    text = text.strip()
    if len(text) <= most:
        return text
    lines = text.split("\n")
    if kept is not None:
        lines.sort(key=lambda line: not line.startswith(kept))
    room = max(most - 24, 1)  # less what the note takes
    told = [cut_between_words(lines[0], room)]
    size = len(told[0])
    for line in lines[1:]:
        size += 1 + len(line)
        if size > room:
            break
        told.append(line)
    left = len(lines) - len(told)
    return "\n".join([*told, *([f"({count_of(left, 'more line')})"] if left else [])])


def cut_between_words(text: str, most: int) -> str:
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
    told = cut_between_words(first, most)
    for sentence in others:
        if len(told) + len(sentence) >= most:
            break
        told = f"{told} {sentence}"
    return told


def tidy(text: str) -> str:
    """Text that stays text wherever a prompt quotes it: no control characters, no fences, no headings, no gaps.

    Where a line begins like a heading, as those of a map do, all lines are set off.
    """
    lines = [line.rstrip() for line in clean(text).replace("```", "'''").replace("~~~", "---").split("\n")]
    if any(line.lstrip().startswith("#") for line in lines):
        lines = [f"| {line}" if line else line for line in lines]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
