"""Render the environment's own source for a model: whole definitions that step and reset reach, up to a limit."""

from __future__ import annotations

import ast
import itertools
import re
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from promptpo.envs.foreign import innermost, layers_of
from promptpo.spec.calls import CallRanks, trace_calls
from promptpo.spec.code_names import nodes_of
from promptpo.spec.data_held import SERIES_ROWS, read_held_values
from promptpo.spec.documentation import docstring_of, words_of
from promptpo.spec.observe import MIN_STEPS, open_env, steps_of
from promptpo.spec.reach import reach
from promptpo.spec.reading import SOURCE_HEAD

if TYPE_CHECKING:
    from promptpo.envs.task import Task
    from promptpo.spec.code_files import CodeFile, Definition
    from promptpo.spec.reach import Reached

MAX_SOURCE_CHARS = 24_000
"""Characters of whole definitions; those beyond it are only named."""

MAX_TABLE_CHARS = 1_200
"""Characters of a table in the code; longer ones are cut."""

MAX_NAMES_CHARS = 1_500
"""Characters of a list of omitted names."""

DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

FIRST_ENTRIES = 3
"""Comma-separated entries shown of a long table."""


@dataclass(frozen=True, slots=True)
class OwnSource:
    """The part of an environment's source that is shown.

    Attributes:
        text: A block of a spec; empty if no source can be read.
        series: Descriptions of recorded data that episodes replay.
    """

    text: str = ""
    series: Sequence[str] = ()


def read_source(env: Any, called: CallRanks) -> OwnSource:
    """Read the source of an environment and its author's wrappers.

    Args:
        env: The environment, after a reset.
        called: The functions that observed episodes called.
    """
    try:
        found = reach(env, called)
        if not any(getattr(n, "name", "") == "step" for d in found.shown for n in nodes_of(d.node)):
            return OwnSource()
        return _SourcePage(env, found).render()
    except Exception:  # noqa: BLE001 - foreign code may break anything here; the spec then goes without source
        return OwnSource()


def describe_series(task: Task) -> dict[str, Any]:
    """Return the part of a result that names the recorded data all episodes replay; empty if there are none."""
    called = CallRanks()
    with open_env(task) as env:
        with trace_calls(called):
            list(itertools.islice(steps_of(env, 0, task.label), MIN_STEPS))
        found = read_source(env, called).series
    return {"preflight": {"series": list(found)}} if found else {}


class _SourcePage:
    """The reached definitions in the author's files, up to the character limit."""

    def __init__(self, env: Any, found: Reached) -> None:
        self._found, self._own = found, innermost(env)
        self._names = {cls.__name__ for layer in layers_of(env) for cls in type(layer).__mro__}
        self._room, self._is_short = MAX_SOURCE_CHARS, False
        self._pieces: dict[CodeFile, dict[int, tuple[int, str]]] = defaultdict(dict)
        """For each file: index of a piece's first line, to the index after its last and the text shown."""

    def render(self) -> OwnSource:
        """Render the page and describe its recorded data."""
        found = self._found
        code = [d for d in found.shown if d.owner or not isinstance(d.node, ast.ClassDef)]
        home = found.files.file(type(self._own).__module__)
        for words in home.definitions_of("", "__doc__") if home is not None else ():
            self._add_if_room(words)
        self._room = MAX_SOURCE_CHARS - len(words_of(type(self._own), moving=True))
        self._is_short = sum(len(d.text) for d in code) > self._room
        shown = [d for d in sorted(code, key=attrgetter("is_import")) if self._add_if_room(d)]
        held, series = read_held_values(self._own, found, shown)
        left = [d.label for d in code if d not in shown and not d.is_import]
        notes = (
            ("Omitted for length", left),
            ("Compiled, or without readable source", found.missing),
        )
        head = [
            f"{SOURCE_HEAD}: the code that step and reset reach, as its author wrote it.",
            *(f"# {why}: {_list_names(names)}." for why, names in notes if names),
            *held,
        ]
        return OwnSource("\n\n\n".join(["\n".join(head), *self._render_files()]), series)

    def _add_if_room(self, definition: Definition) -> bool:
        """Add a definition and the head of its class to the page; return whether there was room."""
        start, stop, file = definition.lines.start, definition.lines.stop, definition.file
        pieces, text = self._pieces[file], _abridge(definition, short=self._is_short)
        if definition.name == "metadata" or any(a <= start < b for a, (b, _) in pieces.items()):
            return True
        # other definitions of that name modify the class: K.table = {}
        classes = (d for d in file.definitions_of("", definition.owner) if isinstance(d.node, ast.ClassDef))
        new = dict[int, tuple[int, str]]()
        for cls in classes:
            head = self._head(cls)
            new[head.start] = head.stop, "\n".join(file.lines[head.start : head.stop])
        room = self._room - sum(len(head) for at, (_, head) in new.items() if at not in pieces)
        if len(text) > room and definition.name == "step" and definition.owner in self._names:
            text = text[:room].rpartition("\n")[0] + "\n# The rest is cut."
        elif len(text) > room:
            return False
        self._room = room - len(text)
        for inner in [at for at in pieces if start <= at < stop]:
            del pieces[inner]
        pieces.update({**new, start: (stop, text)})
        return True

    def _head(self, definition: Definition) -> range:
        """Return the lines of a class above its members, with its docstring if there is room and the spec does not already quote it."""
        node: Any = definition.node
        lines, first = definition.file.lines, node.body[0]
        words = ast.get_docstring(node)
        if words is not None and not self._is_short and words != docstring_of(type(self._own)):
            return range(definition.lines.start, first.end_lineno)
        end = max(node.lineno, first.lineno - 1)
        while end > node.lineno and re.match(r"\s*($|#|@)", lines[end - 1]):
            end -= 1  # the line belongs to the member below
        return range(definition.lines.start, end)

    def _render_files(self) -> Iterator[str]:
        """Yield the shown part of each file."""
        for file, pieces in self._pieces.items():
            text, last = [f"# {file.label}\n"], -1
            for start, (stop, piece) in sorted(pieces.items()):
                text += [""] * (0 <= last < start) + [piece]
                last = stop
            if len(text) > 1:
                yield "\n".join(text)


def _list_names(names: Iterable[str]) -> str:
    """Format names, grouped by class and shortened."""
    homes = defaultdict[str, list[str]](list)
    for name in dict.fromkeys(names):
        owner, _, member = name.rpartition(".")
        homes[owner].append(member)
    count = sum(map(len, homes.values()))
    groups = (f"{owner}: {', '.join(members)}".removeprefix(": ") for owner, members in homes.items())
    return textwrap.shorten("; ".join(groups), MAX_NAMES_CHARS, placeholder=f" and more, {count} in all")


def _shorten_docstrings(text: str, first: int, definition: Definition) -> str:
    """Cut each docstring in a definition's text, which begins at line index `first`, to its first paragraph."""
    lines = text.split("\n")
    holders: Iterable[Any] = (n for n in nodes_of(definition.node) if isinstance(n, DOCUMENTED))
    words = [holder.body[0] for holder in holders if ast.get_docstring(holder)]
    for node in sorted(words, key=attrgetter("lineno"), reverse=True):
        start, stop = node.lineno - 1 - first, node.end_lineno - first
        blank = next((n for n in range(start + 1, min(stop, len(lines))) if not lines[n].strip()), 0)
        quotes = re.search("\"{3}|'{3}", lines[start]) if blank else None
        if quotes:
            lines[blank - 1 : stop] = [f"{lines[blank - 1].rstrip()}{quotes[0]}"]
    return "\n".join(lines)


def _abridge(definition: Definition, *, short: bool) -> str:
    """Return a definition's text with long tables and strings cut, and docstrings too if `short`."""
    text = definition.text
    if short:
        text = _shorten_docstrings(text, definition.lines.start, definition)
    placed = "\n" * definition.lines.start + definition.text
    for node in ast.walk(definition.node):
        if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
            count = len(getattr(node, "elts", getattr(node, "keys", ())))
            written = ast.get_source_segment(placed, node) or "" if count >= SERIES_ROWS else ""
            if len(written) > MAX_TABLE_CHARS:
                first = ",".join(written.split(",")[:FIRST_ENTRIES])[:MAX_TABLE_CHARS]
                text = text.replace(written, f"{first}, ... ({count} entries){written[-1]}", 1)
    return text
