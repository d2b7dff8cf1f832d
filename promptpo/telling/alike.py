"""Lines of a report that differ in a few places only, told as a table: every word and every number stays."""

from __future__ import annotations

import re
from collections.abc import Sequence

FEWEST = 3
"""Lines in a row from which on they are a table, and places of a line that have to be words or numbers."""

BLANK = "_"
HEAD, AGAIN = "Each row fills the blanks of: ", "Rows of the same form:"

_TOKEN = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|[^\W\d]\w*|\s+|.", re.DOTALL)
"""A number, a word, a gap, or one other character."""


def told_once(text: str) -> str:
    """The text with runs of lines of one form as tables: the form with its blanks once, then what fills them.

    ``hip +1: angle 0.3, speed 2``, ``knee +1: angle 0.1, speed 3`` and so on have the form ``_ +1: angle _, speed _`` and
    the rows ``hip 0.3 2``, ``knee 0.1 3``. Lines become a table only where that is shorter.
    """
    lines, found = text.split("\n"), []
    at, last = 0, ""
    while at < len(lines):
        run = _run(lines[at:])
        form, rows = _table(lines[at : at + run])
        head = AGAIN if form == last else f"{HEAD}{form}"
        if run >= FEWEST and sum(map(len, (head, *rows))) < sum(map(len, lines[at : at + run])):
            found += [head, *rows]
            last = form
        else:
            run = 1
            found.append(lines[at])
        at += run
    return "\n".join(found)


def _run(lines: Sequence[str]) -> int:
    """How many lines from the first on have the same form."""
    form = _form(lines[0])
    return next((n for n, line in enumerate(lines) if _form(line) != form), len(lines)) if form else 1


def _form(line: str) -> tuple[str, ...]:
    """A line without its words and numbers; empty where there are few of them, or where something looks like a blank."""
    tokens = _TOKEN.findall(line)
    if BLANK in tokens or sum(map(_fills, tokens)) < FEWEST:
        return ()
    return tuple("" if _fills(token) else token for token in tokens)


def _fills(token: str) -> bool:
    return token[-1].isalnum()


def _table(lines: Sequence[str]) -> tuple[str, list[str]]:
    """What lines of one form share, with a blank in each place in which they differ, and what stands there in each."""
    columns = list(zip(*map(_TOKEN.findall, lines), strict=True))
    open_ = [column for column in columns if len(set(column)) > 1]
    form = "".join(BLANK if len(set(column)) > 1 else column[0] for column in columns)
    return form, [" ".join(map(_brief, row)) for row in zip(*open_, strict=True)]


def _brief(token: str) -> str:
    """A number without a plus sign, and a zero without its decimals."""
    if re.fullmatch(r"[-+]?0\.0+", token):
        return "0"
    return token.removeprefix("+") if len(token) > 1 else token
