"""Text made shorter at whole items: lines, clauses, entries of a list; what is left out is counted."""

from __future__ import annotations

import re

SEPARATORS = ("\n", "; ", ". ", " | ", ", ")
"""Where a text may end, the coarsest first."""

SLACK, LONG = 80, 300
"""Of texts that may be so long, characters that are rather told than left out: saying that something is missing takes nearly as many."""

LONGER = 1.5
"""A first sentence that is longer than asked for by this factor is not cut."""

_WRONG = re.compile(
    r"\b(?:fell|falls?|fallen|flip\w*|tumbl\w*|crash\w*|fail\w*|stuck|lost|collid\w*|ended|terminat\w*|died|overturn\w*"
    r"|unsuccess\w*)\b",
    re.IGNORECASE,
)
"""Words with which summaries say how an episode failed."""

LEAST_FIRST = 60
"""Characters of a first sentence beside a last one."""

_NOTE = 24
"""Characters that are kept free for what says how much is left out."""


def at_items(text: str, most: int) -> str:
    """Text of about so many characters at most, which ends after a whole item and says how many follow.

    A text of several lines ends after a line; a single one after a sentence, a clause or an entry of a list.
    Only a text without any of these ends between two words.
    """
    text = text.strip()
    if len(text) <= most + (SLACK if most >= LONG else 0):
        return text
    for separator in SEPARATORS:
        items = text.split(separator)
        kept = _that_fit(items, separator, most - _NOTE)
        if kept:
            what = _what(separator, len(items) - kept)
            return f"{separator.join(items[:kept]).rstrip(' ,;|')}{_before(separator)}{what}"
    return between_words(text, most)


def between_words(text: str, most: int) -> str:
    """Text of at most so many characters, cut between words; after a clause where that keeps most of it."""
    text = text.strip()
    if len(text) <= most:
        return text
    kept = text[: most - 2]
    if not text[most - 2].isspace():
        kept = kept.rsplit(None, 1)[0] if len(kept.split()) > 1 else kept
    clause = max((found.start() for found in re.finditer(r"[;:,.] ", kept)), default=0)
    if clause > 0.7 * len(kept):
        kept = kept[:clause]
    return kept.rstrip(" ,;:") + " …"


def in_a_line(text: str, most: int) -> str:
    """The beginning of some lines in one, of at most so many characters; cut before it tells what went wrong, that too."""
    line = "; ".join(filter(None, map(str.strip, text.splitlines())))
    if len(line) <= most:
        return line
    told = between_words(line, most)
    if _WRONG.search(told):
        return told
    wrong = _WRONG.search(line, len(told) - 2)
    if wrong is None:
        return told
    end = re.search(r"; |[,.] ", line[wrong.end() :])
    clause = line[wrong.start() : wrong.end() + end.start() if end else len(line)]
    clause = between_words(clause, most // 2) if len(clause) > most // 2 else clause
    return f"{between_words(line, max(most - len(clause) - 1, most // 3))} {clause} …"


_ENDS = re.compile(r"(?<=[.!?])(?<!\.\.)\s+")
"""Between two sentences; not within a range such as 0.4 .. 0.7."""


def sentences(text: str, most: int) -> str:
    """The whole sentences of about so many characters; a first one that is half as long again is told whole, too.

    Only a longer one ends within it, after a clause.
    """
    every = _ENDS.split(" ".join(text.split()))
    told = every[0]
    for sentence in every[1:]:
        if len(told) + len(sentence) >= (most if len(told) >= most / 2 else LONGER * most):
            break
        told = f"{told} {sentence}"
    if len(told) > LONGER * most or (len(told) < most / 2 and told != " ".join(every)):
        return between_words(" ".join(every), most)
    return told


def first_and_last(text: str, most: int) -> str:
    """As `sentences`, and the last one, which says how to read what follows, where that is half as long again at most."""
    told, every = sentences(text, most), " ".join(text.split())
    last = _ENDS.split(every)[-1]
    if told == every or told.endswith(last):
        return told
    for room in (most, most - len(last), LEAST_FIRST):
        before = sentences(every[: -len(last)], max(room, LEAST_FIRST))
        gap = "" if f"{before} {last}" == every or before.endswith("…") else "… "
        if len(before) + len(last) + len(gap) < LONGER * most:
            return f"{before} {gap}{last}"
    return told


def last_sentences(text: str, most: int) -> str:
    """The last whole sentences of about so many characters; of one that is longer as much as there is room for."""
    every = _ENDS.split(" ".join(text.split()))
    told = every[-1]
    for sentence in reversed(every[:-1]):
        if len(told) + len(sentence) >= most:
            break
        told = f"{sentence} {told}"
    return told if len(told) <= LONGER * most else between_words(told, most)


def _that_fit(items: list[str], separator: str, most: int) -> int:
    """How many items fit; 0 where the first alone is too long."""
    size = 0
    for n, item in enumerate(items):
        size += len(item) + (len(separator) if n else 0)
        if size > most:
            return n
    return len(items)


def _what(separator: str, left: int) -> str:
    if separator == "\n":
        return f"(and {left} more line{'s' if left > 1 else ''})"
    return f"and {left} more"


def _before(separator: str) -> str:
    return {"\n": "\n", ". ": ". ", "; ": "; "}.get(separator, ", ")
