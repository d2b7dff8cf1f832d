"""Reading an environment's documentation: Markdown with Gymnasium's sections, or a docstring whose paragraphs have titles."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

PARTS = (
    ("mission", r"mission"),
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
    r"(?:gymnasium|builtins|typing)\b|gymnasium_robotics\.envs\.robot_env|metaworld\.sawyer_xyz_env|highway_env\.envs\.common"
)
"""Modules whose classes are about a library or a simulator, and document no task."""

Row = dict[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        rows: Column title, in lower case, to the cell's text.
        key: The dictionary key that the text before the table talks about; empty where it names none.
    """

    rows: Sequence[Row]
    key: str = ""

    def numbered(self) -> dict[int, Row]:
        """Rows by the number in their "Num" column; rows whose number is none are left out."""
        return {int(row["num"]): row for row in self.rows if row.get("num", "").isdecimal()}


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the documentation.

    Attributes:
        text: Its prose and lists as plain text, a paragraph or an item a line, without links, code and tables.
        tables: Its tables.
        choices: Its lists of the form "0: push left", each as number to meaning.
    """

    text: str = ""
    tables: tuple[Table, ...] = ()
    choices: tuple[Mapping[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Documentation:
    """What an environment's documentation says.

    Attributes:
        parts: "description", "observation", "action", "reward", "start", "end" or "mission" to its section.
    """

    parts: Mapping[str, Section] = field(default_factory=dict)

    def __getitem__(self, part: str) -> Section:
        return self.parts.get(part, Section())


def docstring_of(cls: type[Any]) -> str:
    """The documentation of an environment class, indentation removed; empty where it has none of its own."""
    texts = [base.__dict__.get("__doc__") or "" for base in cls.__mro__]
    general = [bool(GENERAL.match(base.__module__)) for base in cls.__mro__]
    own = next((t for t, g in zip(texts[1:], general[1:], strict=True) if "## " in t or (t and not g)), "")
    text = (
        (texts[0] or own).replace("\times", "\\times").replace("\frac", "\\frac")
    )  # docstrings that are not raw
    return inspect.cleandoc(text)


def first_line(text: str | None) -> str:
    """The first line of a text, without its full stop."""
    return text.strip().splitlines()[0].rstrip(".") if text and text.strip() else ""


def documentation_of(cls: type[Any]) -> Documentation:
    """Read the documentation of an environment class; empty where it has none of its own."""
    return parse(docstring_of(cls))


_HEADING = re.compile(r" {0,3}(#{1,6}) +(.*?)[ :]*$")
_TITLE = re.compile(r"( *)(\*\*)?([A-Z]\w*(?: \w+){0,2})(?(2)\*\*)? ?:(?(2)(?:\*\*)?)(?: +(\S.*))?$")
_OTHER = re.compile(
    r"(?:Args|Arguments|Attributes|Parameters|Notes?|Sources?|References?|Examples?|Returns|Raises|Version History)$"
)
_FIELD = re.compile(r"(?m)^[ \t]*:(?:param|type|return|rtype|raise)\w*[^\n]*(?:\n[ \t]+\S[^\n]*)*")
_ITEM = re.compile(r" *([-*+]|\d+[.)]) +(.*)")


def parse(text: str) -> Documentation:
    """Read a docstring; text before the first title is part of the description."""
    lines: dict[str, list[str]] = {}
    text = re.sub(r"(?ms)^ *```.*?(?:^ *```|\Z)", "", _FIELD.sub("", text))
    marked = re.search(r"^ {0,3}#{1,6} ", text, re.MULTILINE)
    part, level, indent, inline, blank = "description", 0, -1, False, False
    for line in re.sub(r"(?m)^(\S[^\n]*)\n(?:-{3,}|={3,})$", r"# \1", text).splitlines():
        heading, title = _HEADING.match(line), None if marked else _TITLE.match(line)
        own, said = len(line) - len(line.lstrip()), line
        if heading:
            found = _part_of(heading[2])
            deeper = found == HIDDEN and part != HIDDEN and 0 < level < len(heading[1])
            part, level = (part, level) if deeper else (found, len(heading[1]))
            said = f"{heading[2]}:" if deeper else ""
        elif title and (_part_of(title[3]) != HIDDEN or (_OTHER.match(title[3]) and not title[4])):
            part, indent, inline, said = _part_of(title[3]), own, bool(title[4]), title[4] or ""
        elif line.strip() and own <= indent and (blank or not inline) and not _ITEM.match(line):
            part, indent = "description", -1
        blank = not line.strip()
        lines.setdefault(part, []).append(said)
    lines.pop(HIDDEN, None)
    return Documentation({name: _section(found) for name, found in lines.items()})


def _part_of(title: str) -> str:
    return next((part for part, pattern in PARTS if re.search(pattern, title, re.IGNORECASE)), HIDDEN)


def _section(lines: Sequence[str]) -> Section:
    """Paragraphs, items and tables of a section."""
    told: list[str] = []
    tables: list[Table] = []
    key, joins = "", False
    for at, line in enumerate(lines):
        item, named = _ITEM.match(line), re.match(r"\W*`(\w+)`\s*:", line)
        key = named[1] if named else key
        cells = _cells(line)
        if cells is not None:
            if not at or _cells(lines[at - 1]) is None:
                titles, rows = [cell.lower() for cell in cells], list[Row]()
                tables.append(Table(rows, key))
            elif not re.fullmatch(r"[\s|:+-]+", line):
                rows.append(dict(zip(titles, cells, strict=False)))
        elif item:
            mark = f"{item[1][:-1]}." if item[1][0].isdigit() else "-"
            told.append(f"{mark} {item[2]}")
        elif line.strip().startswith((">", "import ", "+-", "|")):
            continue
        elif line.strip() and joins and told:
            told[-1] += f" {line.strip()}"
        else:
            told.append(line.strip())
        joins = bool(line.strip() and told) and cells is None
    plain = [text for text in map(_plain, told) if text.strip()]
    choices: list[dict[int, str]] = [{}]
    for match in filter(None, (re.match(r"\s*- (\d+)\s*[:=]\s*(.+)", text) for text in plain)):
        if int(match[1]) in choices[-1]:
            choices.append({})
        choices[-1][int(match[1])] = match[2]
    return Section("\n".join(plain), tuple(tables), tuple(filter(None, choices)))


def _cells(line: str) -> list[str] | None:
    """The cells of a line of a table, in Markdown or with columns that blanks separate; None for any other."""
    text = line.strip()
    if text.startswith("|") and text.endswith("|") and text.count("|") > 2:  # noqa: PLR2004 - two cells
        return [_plain(cell).strip() for cell in text[1:-1].split("|")]
    cells = re.split(r"\s{2,}|\t+", text)
    return cells if len(cells) > 1 and re.match(r"Num\b|\d+$", cells[0]) else None


_PLAIN = (
    (r"\$([^$\n]+)\$", lambda m: _formula(m[1])),
    (r"!\[[^\]]*\]\([^)]*\)|<img[^>]*>", ""),
    (r"\[([^\]]*)\]\([^)]*\)", r"\1"),
    (r"<sup>", "^"),
    (r"<sub>", "_"),
    (r"</?\w+[^>]*>|`|\s*\[\d\](?=\.|$)", ""),
    (r"(?<![\w*])(\*{1,3})(?=\S)(.+?)(?<=\S)\1(?![\w*])|(?<!\w)_(\w[^_\n]*\w)_(?!\w)", r"\2\3"),
    (r"\\([_*|])", r"\1"),
)


def _plain(text: str) -> str:
    """Text without links, pictures, tags and marks, in one line."""
    for pattern, new in _PLAIN:
        text = re.sub(pattern, new, text)
    indent = text[: len(text) - len(text.lstrip())]
    return indent + " ".join(text.split())


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


def _formula(latex: str) -> str:
    """A LaTeX formula as a person would type it."""
    for pattern, plain in _LATEX:
        latex = re.sub(pattern, plain, latex)
    return latex.strip()
