"""Reading an environment's documentation: Markdown with Gymnasium's sections, or a docstring whose paragraphs have titles."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

PARTS = (
    ("action", r"\bactions?\b"),
    ("start", r"\bstart|initial"),
    ("end", r"terminat|episode end|\bdone\b"),
    ("reward", r"\brewards?\b"),
    ("observation", r"\bobservations?\b|\bstate space\b"),
    ("description", r"description"),
)
"""Parts, and what tells the titles of the sections on them."""

HIDDEN = "hidden"
"""The part of every other section: dynamics, arguments, references, history."""

GENERAL = re.compile(
    r"(?:gym|gymnasium|builtins|typing)\b|gymnasium_robotics\.envs\.robot_env|metaworld\.sawyer_xyz_env|highway_env\.envs\.common"
)
"""Modules whose classes are about a library or a simulator, and document no task."""


class NamedNumber(NamedTuple):
    """What a table or a list says of one number.

    Attributes:
        meaning: What it stands for.
        unit: As a column says it; empty where none does.
    """

    meaning: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the documentation.

    Attributes:
        text: Its prose and lists as plain text, a paragraph or an item a line, without links, code and tables.
        tables: The dictionary key that the text before a table talks about, empty where it names none, and the
            table's numbered rows.
    """

    text: str = ""
    tables: Sequence[tuple[str, Mapping[int, NamedNumber]]] = ()

    def rows(self, key: str, values: range) -> Mapping[int, NamedNumber]:
        """Return what a table, or a list of all, says of so many numbers; the last may be left out.

        Args:
            key: Of the array in a dictionary that they make up; empty where there is none.
            values: The numbers.
        """
        for about, table in self.tables:
            if about in {"", key} and 0 in table and max(table) < len(values):
                return table
        for pattern in _NUMBERED:
            found = [(int(n), NamedNumber(name)) for n, name in re.findall(pattern, self.text, re.MULTILINE)]
            for at in range(len(found)):
                run, more = dict(found[at : at + len(values)]), found[at + len(values) :][:1]
                if list(run) == list(values) and values.stop not in dict(more):
                    return run
        lists = [match.split(",") for match in re.findall(r"\[([^\[\]]+)\]", self.text)]
        fitting = [row for row in lists if len(row) == len(values) > BOUNDS and all(map(_NAME.match, row))]
        return dict(zip(values, map(NamedNumber, fitting[0]), strict=True)) if len(fitting) == 1 else {}


BOUNDS = 2
"""A list of two names in brackets may be bounds."""

_NAME = re.compile(r"\s*[A-Za-z]")


_NUMBERED = (
    r"^- (\d+)\s*[:=]\s*(.+)",
    r"(?<![\w.])(\d+)(?![\w.])\s*[:=)-]?\s*([A-Za-z].*?)(?=[,;]|\. |\.?$| \d+ ?[:=)])",
)
"""Names behind numbers: items of a list, or "0 stay, 1 go up" in a sentence."""

Documentation = Mapping[str, Section]
"""Of "description", "observation", "action", "reward", "start" or "end": what is said of it, empty where nothing is."""


def docstring_of(cls: type[Any]) -> str:
    """The documentation of an environment class, indentation removed; empty where it has none of its own."""
    texts = ((base, base.__dict__.get("__doc__") or "") for base in cls.__mro__)
    own = (text for base, text in texts if text and (base is cls or not GENERAL.match(base.__module__)))
    text = (
        next(own, "").replace("\times", "\\times").replace("\frac", "\\frac")
    )  # of docstrings that are not raw
    return inspect.cleandoc(text)


def first_line(text: str | None) -> str:
    """The first line of a text, without its full stop."""
    return text.strip().splitlines()[0].rstrip(".") if text and text.strip() else ""


def documentation_of(cls: type[Any]) -> Documentation:
    """Read the documentation of an environment class; empty where it has none of its own."""
    return parse(docstring_of(cls))


_HEADING = re.compile(r" {0,3}#{1,6} +(.*?)[ :]*$")
_TITLE = re.compile(r" *(\*\*)?([A-Z]\w*(?: \w+){0,2})(?(1)\*\*)? ?:(?(1)(?:\*\*)?)(?: +(\S.*))?$")
_OTHER = re.compile(
    r"(?:Args|Arguments|Attributes|Parameters|Notes?|Sources?|References?|Examples?|Returns|Raises|Version History)$"
)
_FIELD = re.compile(r"(?m)^[ \t]*:(?:param|type|return|rtype|raise)\w*[^\n]*(?:\n[ \t]+\S[^\n]*)*")
_ITEM = re.compile(r" *(?:[-*+]|\d+[.)]) ")
_DEFINED = re.compile(r"\s*\w+: ")


def parse(text: str) -> Documentation:
    """Read a docstring; text before the first title is part of the description."""
    lines = defaultdict[str, list[str]](list)
    text = re.sub(r"(?ms)^ *```.*?(?:^ *```|\Z)", "", _FIELD.sub("", text))
    marked = re.search(r"^ {0,3}#{1,6} ", text, re.MULTILINE)
    part, indent, blank = "description", -1, False
    for line in re.sub(r"(?m)^(\S[^\n]*)\n(?:-{3,}|={3,})$", r"# \1", text).splitlines():
        heading, title = _HEADING.match(line), None if marked else _TITLE.match(line)
        own, said = len(line) - len(line.lstrip()), line
        if heading:
            part, said = _part_of(heading[1]), ""
        elif title and (_part_of(title[2]) != HIDDEN or (_OTHER.match(title[2]) and not title[3])):
            part, indent, said = _part_of(title[2]), own, title[3] or ""
        elif line.strip() and own <= indent and blank and not _ITEM.match(line):
            part, indent = "description", -1
        blank = not line.strip()
        lines[part].append(said)
    lines.pop(HIDDEN, None)
    return defaultdict(Section, {name: _section(found) for name, found in lines.items()})


def _part_of(title: str) -> str:
    return next((part for part, pattern in PARTS if re.search(pattern, title, re.IGNORECASE)), HIDDEN)


def _section(lines: Sequence[str]) -> Section:
    """Paragraphs, items and tables of a section."""
    told, tables = list[str](), list[tuple[str, dict[int, NamedNumber]]]()
    key, titles, joins = "", list[str](), False
    for line in lines:
        item, named, cells = _ITEM.match(line), re.match(r"\W*`(\w+)`\s*:", line), _cells(line)
        key = named[1] if named else key
        if cells and not titles:
            titles = [cell.lower() for cell in cells]
            tables.append((key, {}))
        elif cells and cells[0].isdecimal():
            unit = next((text for title, text in zip(titles, cells, strict=False) if "unit" in title), "")
            tables[-1][1][int(cells[0])] = NamedNumber(cells[1], unit)
        elif item:
            told.append(re.sub(r"^[*+](?= )", "-", line.strip()))
        elif joins and line.strip() and not cells and not _DEFINED.match(line):
            told[-1] += f" {line.strip()}"
        elif not cells:
            told.append(line.strip())
        titles, joins = titles if cells else [], not cells and bool(line.strip())
    return Section("\n".join(text for text in map(_plain, told) if text.strip()), tables)


def _cells(line: str) -> list[str] | None:
    """The cells of a line of a table, in Markdown or with columns that blanks separate; None for any other."""
    text = line.strip()
    if text.startswith("|") and text.endswith("|") and text.count("|") > 2:  # noqa: PLR2004 - two cells
        return [_plain(cell).strip() for cell in text[1:-1].split("|")]
    cells = re.split(r"\s{2,}|\t+", text)
    return cells if len(cells) > 1 and re.match(r"Num\b|\d+$", cells[0]) else None


_LATEX = (
    (r"\\mathcal\{U\}_?", "uniform"),
    (r"\\mathcal\{N\}_?", "normal"),
    (r"\\mathcal\{S\}_?", "uniform_on_disc"),
    (r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"(\1)/(\2)"),
    (r"\s*\\times\s*", " * "),
    (r"\\leq?\b", "<="),
    (r"\\geq?\b", ">="),
    (r"\\pm", "±"),
    (r" \* I_\{?\d+\}?| \* 1_\{?\d+\}?|\\(?:text|mathrm|left|right)\b|_\{\d+\}", ""),
    (r"\\infty", "inf"),
    (r"\\l?dots", "..."),
    (r"\\[,;! ]", " "),
    (r"\\([A-Za-z]+|[|_])", r"\1"),
    (r"\{([^{}]*)\}", r"\1"),
    (r"\s+", " "),
)

_PLAIN = (
    (r"\$([^$\n]+)\$", lambda m: _replace(m[1], _LATEX).strip()),
    (r"!\[[^\]]*\]\([^)]*\)|<img[^>]*>", ""),
    (r"\[([^\]]*)\]\([^)]*\)", r"\1"),
    (r"<sup>", "^"),
    (r"<sub>", "_"),
    (r"</?\w+[^>]*>|`|\s*\[\d\](?=\.|$)", ""),
    (r"(?<![\w*])(\*{1,3})(?=\S)(.+?)(?<=\S)\1(?![\w*])|(?<!\w)_(\w[^_\n]*\w)_(?!\w)", r"\2\3"),
    (r"\\([_*|])", r"\1"),
)


def _replace(text: str, table: Sequence[tuple[str, Any]]) -> str:
    for pattern, new in table:
        text = re.sub(pattern, new, text)
    return text


def _plain(text: str) -> str:
    """Text without links, pictures, tags and marks, in one line; formulas as a person would type them."""
    return " ".join(_replace(text, _PLAIN).split())
