"""Reading an environment's documentation: Gymnasium's docstrings are Markdown with known sections."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SECTIONS: Mapping[str, str] = {
    "description": "description",
    "mission space": "mission",
    "action space": "action",
    "observation space": "observation",
    "observation": "observation",
    "observations": "observation",
    "state space": "observation",
    "action": "action",
    "actions": "action",
    "reward function": "reward",
    "starting state": "start",
    "initial state": "start",
    "termination conditions": "end",
    "observation encoding": "observation",
    "reward": "reward",
    "rewards": "reward",
    "episode end": "end",
    "episode termination": "end",
    "termination": "end",
}
"""Titles that environments use, in lower case, and the part that they stand for."""

SIMULATORS = (
    "gymnasium.envs.mujoco.mujoco_env",
    "gymnasium_robotics.envs.robot_env",
    "metaworld.sawyer_xyz_env",
    "highway_env.envs.common.abstract",
)
"""Modules whose classes are about simulating, and document no task."""

HIDDEN = "hidden"
"""The part of every other section: dynamics, arguments, references, history."""

Row = dict[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """A Markdown table.

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
        text: Its prose and lists as plain text, without links, pictures, code blocks and tables.
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
    own = cls.__dict__.get("__doc__") or next(
        (base.__dict__["__doc__"] for base in cls.__mro__[1:] if _documents(base)), None
    )
    for wrong, right in (("\times", "\\times"), ("\frac", "\\frac")):  # docstrings that are not raw
        own = (own or "").replace(wrong, right)
    return inspect.cleandoc(own or "")


def first_line(text: str | None) -> str:
    """The first line of a text, without its full stop."""
    return text.strip().splitlines()[0].rstrip(".") if text and text.strip() else ""


def documentation_of(cls: type[Any]) -> Documentation:
    """Read the documentation of an environment class; empty where it has none of its own."""
    return parse(docstring_of(cls))


def _documents(base: type[Any]) -> bool:
    """Whether a base class has documentation that is about an environment, not about the library."""
    text = base.__dict__.get("__doc__") or ""
    general = base.__module__ in SIMULATORS or base.__module__.split(".")[0] in {
        "gymnasium",
        "builtins",
        "typing",
    }
    return "## " in text or bool(text and not general)


_TITLE = re.compile(r"( *)([A-Z]\w*(?: \w+){0,2}) ?:(?: +(\S.*))?$")
_OTHER = re.compile(
    r"(?:Args|Arguments|Attributes|Parameters|Notes?|Sources?|References?|Examples?|Returns|Raises|Version History)$"
)


def _with_headings(text: str) -> str:
    """Docstrings without Markdown headings: ``Reward: ...`` and ``Args:`` begin sections, by indentation or paragraph."""
    if re.search(r"^#{1,6} ", text, re.MULTILINE):
        return text
    lines: list[str] = []
    section: tuple[int, bool] | None = None  # indentation of the title, and whether text stood behind it
    for line in text.splitlines():
        match = _TITLE.match(line)
        indent = len(line) - len(line.lstrip())
        if match and (match[2].lower() in SECTIONS or (_OTHER.match(match[2]) and not match[3])):
            section = (indent, bool(match[3]))
            lines += ["", f"## {match[2]}", "", match[3] or ""]
            continue
        if section is not None and (
            (section[1] and not line.strip()) or (not section[1] and line.strip() and indent <= section[0])
        ):
            section = None
            lines += ["", "## Description", ""]
        lines.append(_table_row(line.strip()) if section is not None else line)
    return "\n".join(_with_rules(lines))


def _table_row(line: str) -> str:
    """A line of a table whose columns are separated by blanks, as Markdown."""
    cells = re.split(r"\s{2,}|\t+", line)
    return f"| {' | '.join(cells)} |" if len(cells) > 1 and re.match(r"Num\b|\d+$", cells[0]) else line


def _with_rules(lines: Sequence[str]) -> Iterable[str]:
    """Lines with a rule below the titles of a table, which need one."""
    for line in lines:
        if line.startswith("| Num "):
            yield ""
        yield line
        if line.startswith("| Num "):
            yield "|" + " --- |" * (line.count("|") - 1)


def parse(text: str) -> Documentation:
    """Read Markdown with Gymnasium's sections, or a docstring whose paragraphs begin with their titles.

    Text before the first heading is part of the description.
    """
    text = _with_headings(text)
    text = re.sub(r"\$([^$\n]+)\$", lambda formula: f"`{_formula(formula[1])}`", text)
    root = SyntaxTreeNode(MarkdownIt("commonmark").enable("table").parse(text))
    collected: dict[str, list[SyntaxTreeNode]] = {}
    part, level = "description", 0
    for node in root.children:
        if node.type == "heading":
            depth, title = int(node.tag[1]), _plain(node).strip(" :").lower()
            if title in SECTIONS:
                part, level = SECTIONS[title], depth
            elif part == HIDDEN or depth <= level or level == 0:
                part, level = HIDDEN, depth
            else:
                collected.setdefault(part, []).append(node)
            continue
        collected.setdefault(part, []).append(node)
    collected.pop(HIDDEN, None)
    return Documentation({name: _section(nodes) for name, nodes in collected.items()})


def _section(nodes: Sequence[SyntaxTreeNode]) -> Section:
    text = "\n".join(filter(None, (_block(node) for node in nodes)))
    tables: list[Table] = []
    key = ""
    for node in _walk(nodes):
        if node.type == "inline" and not _inside(node, "table"):
            named = re.match(r"`(\w+)`\s*:", node.content)
            key = named[1] if named else key
        elif node.type == "table":
            tables.append(Table(_rows(node), key))
    lists = (_choices(node) for node in _walk(nodes) if node.type == "bullet_list")
    return Section(text.strip(), tuple(tables), tuple(filter(None, lists)))


def _walk(nodes: Iterable[SyntaxTreeNode]) -> Iterable[SyntaxTreeNode]:
    for node in nodes:
        yield node
        yield from _walk(node.children)


def _inside(node: SyntaxTreeNode, kind: str) -> bool:
    while node.parent is not None:
        node = node.parent
        if node.type == kind:
            return True
    return False


def _rows(table: SyntaxTreeNode) -> list[Row]:
    lines = [row for part in table.children for row in part.children]
    titles, *body = [[_plain(cell).strip() for cell in line.children] for line in lines]
    return [dict(zip((title.lower() for title in titles), cells, strict=False)) for cells in body]


def _choices(node: SyntaxTreeNode) -> dict[int, str]:
    """A list whose items all read "number: meaning"; empty where they do not."""
    found: dict[int, str] = {}
    for item in node.children:
        numbered = re.match(r"(\d+)\s*[:=]\s*(.+)", _plain(item).strip(), re.DOTALL)
        if numbered is None:
            return {}
        found[int(numbered[1])] = " ".join(numbered[2].split())
    return found


def _block(node: SyntaxTreeNode) -> str:
    """A block as plain text."""
    if node.type in {"table", "fence", "html_block", "hr"}:
        return ""
    if node.type == "code_block":
        return node.content.rstrip() if _is_map(node.content) else ""
    if node.type in {"bullet_list", "ordered_list"}:
        return "\n".join(_list_item(node, item) for item in node.children)
    if node.type == "blockquote":
        return ""
    if node.type == "heading":
        return _plain(node).strip() + ":"
    return " ".join(_plain(node).split())


def _list_item(node: SyntaxTreeNode, item: SyntaxTreeNode) -> str:
    blocks = [text for text in (_block(child) for child in item.children) if text]
    mark = "- " if node.type == "bullet_list" else f"{item.info}. "
    if not blocks:
        return ""
    return mark + "\n".join(blocks).replace("\n", "\n  ")


def _is_map(text: str) -> bool:
    """Whether an indented block is a drawing rather than code."""
    return not re.search(r"[=>(]|import|^\s*\w+\s*$", text)


def _plain(node: SyntaxTreeNode) -> str:
    """Text without links, pictures, tags and footnotes."""
    if node.type == "inline":
        return _tidy("".join(_inline(child) for child in node.children))
    return " ".join(_plain(child) for child in node.children)


def _inline(node: SyntaxTreeNode) -> str:
    if node.type in {"text", "code_inline", "text_special"}:
        return node.content
    if node.type == "html_inline":
        return "^" if node.content == "<sup>" else "_" if node.content == "<sub>" else ""
    if node.type in {"softbreak", "hardbreak"}:
        return " "
    if node.type == "image":
        return ""
    return "".join(_inline(child) for child in node.children)


_LATEX = (
    (r"\\mathcal\{U\}_?", "uniform"),
    (r"\\mathcal\{N\}_?", "normal"),
    (r"\\mathcal\{S\}_?", "uniform_on_disc"),
    (r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"(\1)/(\2)"),
    (r"\s*\\times\s*", " * "),
    (r"\\leq?\b", "<="),
    (r"\\geq?\b", ">="),
    (r"\\pm", "±"),
    (r"\\(omega|theta|alpha|pi)", r"\1"),
    (r"\\\|", "|"),
    (r"\\_", "_"),
    (r"\\in\b", "in"),
    (r"\\infty", "inf"),
    (r"\\l?dots", "..."),
    (r"\\[,;! ]", " "),
    (r"\\(?:text|mathrm|left|right)\b", ""),
    (r" \* I_\{?\d+\}?| \* 1_\{?\d+\}?", ""),
    (r"_\{(\d+)\}", ""),
    (r"\{([^{}]*)\}", r"\1"),
    (r"\s+", " "),
)


def _formula(latex: str) -> str:
    """A LaTeX formula as a person would type it."""
    for pattern, plain in _LATEX:
        latex = re.sub(pattern, plain, latex)
    return latex.strip()


def _tidy(text: str) -> str:
    """Without footnote marks."""
    return re.sub(r"\s*\[\d\](?=\.|$)", "", text)
