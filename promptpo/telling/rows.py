"""Reports of several episodes made shorter row by row, so that something is told of each, from its first to its last."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from promptpo.telling.shortening import at_items, between_words

FIRST = 2
"""Rows at the beginning that are kept: they say what the others are about."""

LEAST_EPISODE = 240
"""Characters of an episode's report below which fewer episodes are told, rather than less of each."""

MOSTLY = 0.7
"""Share of a shorter one that is told."""

LEAST_SAID, FEWEST = 60, 12
"""Characters for which the beginning of a row is shown that is too long by itself, and of a row in any case."""

WIDEST, LONG_RUN = 40, 3
"""Characters of a row of a map, and rows of one length in a row that are one."""

NEARLY, MOST_FIGURES = 0.1, 0.95
"""Figures that differ by this share of the larger one, or in their last decimal place only, say the same; and of how many that has
to be so."""

OTHERS = "(Other episodes are left out.)"

_FIGURE = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
_NOTE = re.compile(r"\((\d+) more rows?(?: between them)?\)")
_WORD = re.compile(r"[^\W\d_]{3,}")
_EPISODES = re.compile(r"\n(?=Episode \d+:(?: \((?:nearly the same|\d+ rows as before)[^\n]*\))?\n)")


def of_every_episode(text: str, room: int) -> str:
    """What there is room for of each of several episodes, which tried different things.

    Rows that an earlier episode has go first; then each is shortened to an even share, and what short ones leave goes to
    the others. Only where a share says nothing are some episodes left out, evenly spread.

    Args:
        text: The reports, each below ``Episode n:``, or one without that.
        room: Characters.
    """
    most = room
    whole = shown = [tuple(part.split("\n")) for part in _EPISODES.split(text)]
    titled = len(whole) > 1
    if _size(shown) > room:
        shown = _without_repeats(whole)
    if _size(shown) > room:
        shown = _without_nearly_the_same(whole, shown)
    kept = shown
    while len(kept) > 1 and _size(kept, LEAST_EPISODE) > room - (
        len(OTHERS) if len(kept) < len(shown) else 0
    ):
        many = len(kept) - 1
        kept = [shown[i] for i in (_spread(len(shown), many) if many > 1 else [0])]
    left_out, shown = len(kept) < len(shown), kept
    room -= len(OTHERS) + 1 if left_out else 0
    cut = {i: "\n".join(rows) for i, rows in enumerate(shown)}
    for n, i in enumerate(sorted(cut, key=lambda i: len(cut[i]))):
        share = room // (len(cut) - n) - 1
        if len(cut[i]) > share:
            title, said = (shown[i][0], shown[i][1:]) if titled else ("", shown[i])
            told = rows_in(said, max(FEWEST, share - len(title) - 1))
            cut[i] = f"{title}\n{told}" if title else told
        room -= len(cut[i]) + 1
    told = "\n".join(cut[i] for i in sorted(cut))
    told = f"{told}\n{OTHERS}" if left_out else told
    return told if len(told) <= most else between_words(told, most)


def _size(episodes: Sequence[tuple[str, ...]], most: int | None = None) -> int:
    """Characters of all; or of what has to be told of each: most of it, or so many."""
    sizes = [len("\n".join(rows)) for rows in episodes]
    return sum(size if most is None else min(int(MOSTLY * size), most) for size in sizes) + len(sizes)


def rows_in(rows: Sequence[str], most: int) -> str:
    """The first rows and others evenly spread over the rest, in at most so many characters, with how many are left out.

    The rows of a map stay together. Of a row that is too long by itself as much is told as there is room for. Rows that
    were left out before, when there was more room, count as such.
    """
    before = sum(int(found[1]) for row in rows if (found := _NOTE.fullmatch(row)))
    if before and len("\n".join(rows)) > most:
        shorter = rows_in([row for row in rows if not _NOTE.fullmatch(row)], most - len(_note(before)) - 1)
        *told, last = shorter.split("\n")
        found = _NOTE.fullmatch(last)
        return "\n".join([*told, *([] if found else [last]), _note(before + (int(found[1]) if found else 0))])
    items = _maps_joined(rows)
    if len("\n".join(items)) <= most:
        return "\n".join(items)
    most_items = most // (min(map(len, items)) + 1)
    for count in range(min(len(items) - 1, most_items), 0, -1):
        at = _with_first(len(items), count)
        text = _told(items, at)
        if len(text) > most:
            continue
        missing = next(i for i in range(len(items)) if i not in at)
        room = most - len(text) - 1
        if len(items[missing]) < most or room < 2 * LEAST_SAID:  # the end of a row may be what it is for
            return text
        beside = at_items(items[missing], room)[:room]
        return _told([*items[:missing], beside, *items[missing + 1 :]], sorted([*at, missing]))
    note = f"\n{_note(len(rows) - 1)}" if len(rows) > 1 else ""
    if most - len(note) < FEWEST:
        return between_words(rows[0], max(most, FEWEST))
    return f"{at_items(rows[0], most - len(note))[: most - len(note)]}{note}"


def _told(items: Sequence[str], at: Sequence[int]) -> str:
    """Some items, and how many rows the others have."""
    shown = set(at)
    left = sum(item.count("\n") + 1 for i, item in enumerate(items) if i not in shown)
    note = [_note(left, between=len(items) - 1 in shown)] if left else []
    return "\n".join([*(items[i] for i in at), *note])


def _note(left: int, *, between: bool = False) -> str:
    return f"({left} more row{'s' if left > 1 else ''}{' between them' if between else ''})"


def _without_repeats(episodes: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The episodes without rows of words that an earlier one has, and how many these are."""
    seen: set[str] = set()
    found = []
    for rows in episodes:
        mine = [row for row in rows if row.strip() not in seen or not _says(row)]
        seen |= {row.strip() for row in rows}
        left = len(rows) - len(mine)
        found.append((f"{mine[0]} ({left} rows as before)", *mine[1:]) if left > 1 else rows)
    return found


def _without_nearly_the_same(
    whole: Sequence[tuple[str, ...]], shown: Sequence[tuple[str, ...]]
) -> list[tuple[str, ...]]:
    """What is shown of the episodes, without those whose rows an earlier one has but for small differences of figures."""
    kept: list[int] = []
    others: dict[int, list[str]] = {}
    for i, rows in enumerate(whole):
        model = next((k for k in kept if _same(whole[k][1:], rows[1:])), None)
        if model is None:
            kept.append(i)
        else:
            others.setdefault(model, []).append(rows[0].removeprefix("Episode ").partition(":")[0])
    return [(f"{shown[i][0]} {_alike(others[i])}", *shown[i][1:]) if i in others else shown[i] for i in kept]


def _alike(episodes: Sequence[str]) -> str:
    return f"(nearly the same in episode{'s' if len(episodes) > 1 else ''} {', '.join(episodes)})"


def _same(some: Sequence[str], rows: Sequence[str]) -> bool:
    """Whether two episodes have the same rows but for small differences of most figures."""
    if not some or [_FIGURE.sub("0", row) for row in some] != [_FIGURE.sub("0", row) for row in rows]:
        return False
    figures = (_FIGURE.findall("\n".join(part)) for part in (some, rows))
    near = [_near(*pair) for pair in zip(*figures, strict=True)]
    return sum(near) >= MOST_FIGURES * len(near)


def _near(some: str, other: str) -> bool:
    """Whether two figures say about the same."""
    a, b = float(some), float(other)
    places = min(len(figure.partition(".")[2]) for figure in (some, other))
    last = 1.01 * 10**-places if places and "e" not in some + other else 0.0
    return abs(a - b) <= max(last, NEARLY * max(abs(a), abs(b)))


def _says(row: str) -> bool:
    """Whether a row is made of words, unlike one of a map."""
    return len(_WORD.findall(row)) > 1


def _maps_joined(rows: Sequence[str]) -> list[str]:
    """The rows, those of one map in one item: short ones of the same length without words."""
    items: list[str] = []
    for (length, words), run in itertools.groupby(rows, key=lambda row: (len(row), _says(row))):
        lines = list(run)
        is_map = (
            len(lines) >= LONG_RUN
            and 0 < length <= WIDEST
            and not words
            and not re.search(r"\d", "".join(lines))
        )
        items += ["\n".join(lines)] if is_map else lines
    return items


def _with_first(n: int, count: int) -> list[int]:
    """So many of n indices: the first ones, and others evenly spread, the last among them."""
    head = list(range(min(FIRST, count, n)))
    return head + [len(head) + i for i in _spread(n - len(head), count - len(head))]


def _spread(n: int, count: int) -> list[int]:
    """So many of n indices, evenly spread; of several the first and the last among them."""
    if count >= n:
        return list(range(n))
    if count <= 1:
        return [n - 1][: max(count, 0)]
    return [round(i * (n - 1) / (count - 1)) for i in range(count)]
