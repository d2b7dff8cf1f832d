"""Read an environment's documentation: its text, and the names that its tables and lists give to numbers."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from promptpo.spec.code_files import GENERAL

MAX_WORDS_CHARS = 6_000
"""Characters of a class's documentation; longer ones lose first their tables, then their end."""

MAX_SUMMARY_CHARS = 160
"""Characters of the summary of one environment among several."""

_SECTION = r"(?ims)^[ \t]*#{{1,6}}[ \t]*[\w ]*\b(?:{})\b.*?(?=^[ \t]*#{{1,6}} |\Z)"
_USELESS = re.compile(
    _SECTION.format("version history|references?|citation|credits|arguments|rendering|registered")
)
_MOVING, _REWARD = (re.compile(_SECTION.format(title)) for title in ("dynamics", "rewards?"))
# Pictures and literal blocks of examples; then blocks of code, whose comments look like headings.
_HEAD = r"\.\. (?:figure|image|code)[\w-]*::.*|[^\w\n]*(?:\w+ ){0,2}(?:examples?|usage)\b(?: \w+){0,2}[^\w\n]*::[ \t]*"
_CODE = re.compile(
    rf"(?mi)^( *)(?! )(?:{_HEAD})$(?:\n(?:[ \t]*$|\1[ \t]+\S.*))*"
    r"|^ *(?:```|''')(?s:.*?)^ *(?:```|''')[ \t]*$|^ *>>> .*(?:\n *\S.*)*"
)
_SUBJECT = re.compile(
    r"(?im)^[ \t]*(?:#+|\*\*)?[ \t]*(?:the )?(action|observation|state|reward|start|episode|termination)"
)
"""The start of a line that introduces another subject."""

_NUMBERED = (
    r"(?m)^[ \t]*[-*] (\d+)\s*[:=]\s*(.+)",
    r"(?m)(?<![\w.])(\d+)(?![\w.])\s*[:=)-]?\s*([A-Za-z].*?)(?=[,;]|\. |\.?$| \d+ ?[:=)])",
)
"""Names behind numbers: items of a list, or "0 stay, 1 go up" in a sentence."""

_LISTED = re.compile(r"(?m)^[ \t]*[-*] [`*]*([A-Za-z_]\w*)[`*]* *(?:\([^()\n]*\))? *:")
"""Items of a list that begin with a name."""


def docstring_of(cls: type[Any]) -> str:
    """Return the dedented docstring of an environment class, or of the task class that it extends; empty if there is none."""
    texts = (
        base.__dict__.get("__doc__")
        for base in cls.__mro__
        if base is cls or ("step" in vars(base) and not GENERAL.match(base.__module__))
    )
    return inspect.cleandoc(next(filter(None, texts), ""))


def words_of(cls: type[Any], *, moving: bool, rewards: bool = True) -> str:
    """Return the relevant documentation of an environment class, cut to `MAX_WORDS_CHARS`.

    Args:
        cls: The environment's class.
        moving: Whether to include sections on dynamics.
        rewards: Whether to include sections on rewards.
    """
    text = _USELESS.sub("", _CODE.sub("", docstring_of(cls)))
    text = text if rewards else _REWARD.sub("", text)
    text = text if moving else _MOVING.sub("", text)
    if len(text) > MAX_WORDS_CHARS:  # the numbers of its tables are named in the spec
        text = re.sub(r"(?m)(?:^[ \t]*(?:\||\+[-=]).*\n?)+", "(table left out)\n", text)
    text = re.sub(r"\n{3,}", "\n\n", text).strip()
    return text if len(text) <= MAX_WORDS_CHARS else text[:MAX_WORDS_CHARS].rpartition("\n")[0] + "\n..."


def summary_of(cls: type[Any]) -> str:
    """Return the first paragraph of a class's documentation as one shortened line; empty if there is none."""
    paragraphs = re.split(r"\n\s*\n", re.sub(r"(?m)^#.*$", "", docstring_of(cls)).strip())
    return textwrap.shorten(paragraphs[0], MAX_SUMMARY_CHARS, placeholder=" ...")


def names_in(text: str, subject: str, n: int, key: str = "") -> Mapping[int, str]:
    """Return the names that a docstring gives to `n` numbers, by index; empty if it names none.

    Args:
        text: The docstring.
        subject: "action" or "observation".
        n: The number of numbers.
        key: The key of their array in a dictionary; empty if there is no dictionary.
    """
    for about, table in _tables(text, subject):
        if (not key or about in {"", key}) and 0 in table and max(table) < n:
            return table
    same = {subject, "state"} if subject == "observation" else {subject}
    _, *pieces = _SUBJECT.split(text)
    for about, piece in zip(pieces[::2], pieces[1::2], strict=True):
        if about.lower() not in same:
            continue
        listed = _LISTED.findall(piece)
        if not key and len(listed) == n:
            return dict(enumerate(listed))
        for pattern in _NUMBERED if n > 1 else ():  # a lone number need not be an index
            found = [(int(number), name) for number, name in re.findall(pattern, piece)]
            for at in range(len(found)):
                run, more = dict(found[at : at + n]), found[at + n :][:1]
                if list(run) == list(range(n)) and n not in dict(more):
                    return run
    return {}


def _tables(text: str, subject: str) -> Iterator[tuple[str, Mapping[int, str]]]:
    """Yield each table on a subject: the key that the text before it names, and its numbered rows."""
    key, rows = "", dict[int, str]()
    for line in [*text.splitlines(), ""]:
        cells = [cell.strip(" *`") for cell in line.strip().strip("|").split("|")]
        if len(cells) == 1:
            if rows:
                yield key, rows
            named = re.match(r"\W*`(\w+)`\s*:", line)
            key, rows = named[1] if named else key, {}
        elif cells[0].lower() == "num":
            is_other = not any(cell.lower().startswith(subject) for cell in cells[1:])
        elif cells[0].isdecimal() and not is_other:
            rows[int(cells[0])] = cells[1]
