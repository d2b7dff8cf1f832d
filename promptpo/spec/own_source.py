"""The environment's own source as a model reads it: what a step and a reset come to, whole, within a bound."""

from __future__ import annotations

import ast
import re
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from promptpo.envs.foreign import innermost, layers_of
from promptpo.spec.data_held import read_held_values
from promptpo.spec.documentation import words_of
from promptpo.spec.reach import reach
from promptpo.spec.reading import SOURCE_HEAD

if TYPE_CHECKING:
    from promptpo.spec.code_files import CodeFile, Definition
    from promptpo.spec.reach import Reached

MAX_SOURCE_CHARS = 24_000
"""Of whole definitions; what is beyond it is named."""

MAX_TABLE_CHARS, MAX_TEXT_CHARS = 1_200, 6_000
"""Of a table in the code, and of a text such as a map or a model of bodies; of longer ones the beginning is shown."""

MAX_NAMES_CHARS = 4_000
"""Of the names of what is left out."""

FIRST_ENTRIES = 3
"""Of a long table that are shown."""

PLAIN_IMPORTS = re.compile(r"(?:numpy|gymnasium|gym|typing|__future__|abc|math|random|logging)\b")
"""Modules whose names a reader knows."""


@dataclass(frozen=True, slots=True)
class OwnSource:
    """What is shown of an environment's source.

    Attributes:
        text: A block of a spec; empty where nothing can be read.
        series: Recorded data that the environment plays back, in words.
    """

    text: str = ""
    series: Sequence[str] = ()


def read_source(env: Any) -> OwnSource:
    """Show the source of an environment, with its author's wrappers.

    Args:
        env: The environment, after a reset.
    """
    try:
        found = reach(env)
        if not any(definition.name == "step" for definition in found.shown):
            return OwnSource()
        return _SourcePage(env, found).render()
    except Exception:  # noqa: BLE001 - a foreign project may hold anything: it is described without its source
        return OwnSource()


class _SourcePage:
    """Definitions on a page, until it is full."""

    def __init__(self, env: Any, found: Reached) -> None:
        self._env, self._found, self._own = env, found, innermost(env)
        self._docs = type(self._own)
        self._left_out, self._used = list[str](), 0
        self._placed = set[tuple[int, range]]()
        self._blocks = dict[tuple[int, str], list[str]]()
        self._files: dict[int, CodeFile] = {}

    def render(self) -> OwnSource:
        """The page."""
        constants, code = list[Any](), list[Any]()
        for definition in self._found.shown:
            first = not definition.owner and (_is_constant(definition) or _is_enumeration(definition))
            (constants if first else code).append(definition)
        whole = {
            (id(definition.file), definition.name)
            for definition in constants
            if isinstance(definition.node, ast.ClassDef)
        }
        for definition in constants:
            self._place(definition)
        classes = [cls for layer in layers_of(self._env) for cls in type(layer).__mro__]
        own = {cls.__name__ for cls in classes}
        files = [self._found.files.file(cls.__module__) for cls in classes]
        for definition in sorted(code, key=lambda d: d.owner not in own if d.owner else d.file not in files):
            is_member = bool(definition.owner) and (id(definition.file), definition.owner) not in whole
            if is_member or (not definition.owner and not isinstance(definition.node, ast.ClassDef)):
                self._place(definition)
        shown = [definition for definition in self._found.shown if definition.label not in self._left_out]
        held = read_held_values(self._own, self._found, shown)
        notes = [*self._notes(), *held.lines]
        body = "\n\n\n".join(self._render_blocks())
        head = f"{SOURCE_HEAD}: what a step and a reset come to, as its author wrote it."
        text = "\n\n\n".join(filter(None, ["\n".join([head, *notes]), body]))
        return OwnSource(text, held.series)

    def _place(self, definition: Definition) -> None:
        """Put a definition on the page, with the head of its class, or note that there is no room."""
        place = (id(definition.file), definition.lines)  # statements on one line are shown once
        if place in self._placed or definition.name == "metadata":
            return
        self._placed.add(place)
        key = (id(definition.file), definition.owner)
        head = [] if key in self._blocks or not definition.owner else [self._head(definition)]
        text = _shorten(definition)
        size = sum(map(len, [*head, text]))
        if self._used + size > MAX_SOURCE_CHARS:
            if self._used or definition.name != "step":
                self._left_out.append(definition.label)
                return
            text = (
                text[: MAX_SOURCE_CHARS - sum(map(len, head))].rpartition("\n")[0]
                + "\n# The rest of it is cut."
            )
        self._used += size
        self._files[id(definition.file)] = definition.file
        is_first = bool(head)
        self._blocks.setdefault(key, head).append(text)
        for member in definition.file.members(definition.owner) if is_first else ():
            self._place(member)

    def _head(self, definition: Definition) -> str:
        """The first lines of a class, with the documentation of the environment's own without what is useless."""
        node, lines = definition.file.classes[definition.owner], definition.file.lines
        first = node.body[0]
        began = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
        head = list(lines[began : max(node.lineno, first.lineno - 1)])
        while len(head) > 1 and (not head[-1].strip() or head[-1].lstrip().startswith(("#", "@"))):
            head.pop()  # it belongs to the member below
        if ast.get_docstring(node) is not None:
            text = "\n".join(lines[first.lineno - 1 : first.end_lineno])
            if definition.owner == self._docs.__name__ and len(text) > len(
                words := words_of(self._docs, moving=True)
            ):
                text = textwrap.indent(f'"""{words}\n"""'.replace("\\", "\\\\"), "    ") if words else ""
            head.append(text)
        return "\n".join(head)

    def _notes(self) -> Iterator[str]:
        """Comments on what is not there."""
        for why, names in (
            ("Left out for its length", self._left_out),
            ("Called only to draw, or to fill info, and not shown", self._found.passive),
            ("Compiled, or without readable source", self._found.missing),
            ("Classes of which no object was held in the episodes that were watched", self._found.unseen),
        ):
            if names:
                yield f"# {why}: {_list_names(names)}."

    def _render_blocks(self) -> Iterator[str]:
        """Blocks, each class together, under the names of their files."""
        last = 0
        home = self._found.files.file(self._docs.__module__)
        said = (self._docs.__module__ and getattr(home and home.module, "__doc__", None)) or ""
        for (number, _), parts in self._blocks.items():
            file = self._files[number]
            head = [f"# {self._found.files.label(file)}", *_imports(file, parts)] if number != last else []
            if head and file is home and 0 < len(said) <= MAX_TEXT_CHARS:
                head.insert(1, f'"""{said.strip()}"""\n')
                said = ""
            last = number
            yield "\n".join([*head, *[""] * bool(head), _space_out(parts)])


def _space_out(parts: Sequence[str]) -> str:
    """Definitions, what is no function first, with a blank line before each function or class."""
    code = re.compile(r"(?m)^\s*(?:async def|def|class) ")
    head, *members = parts
    members.sort(key=lambda part: code.search(part) is not None)
    return "\n".join([head, *(f"\n{part}" if code.search(part) else part for part in members)])


def _list_names(names: Sequence[str]) -> str:
    """Names, those of a class together."""
    homes = defaultdict[str, list[str]](list)
    for name in dict.fromkeys(names):
        owner, _, member = name.rpartition(".")
        homes[owner].append(member)
    told = (
        f"{owner}: {', '.join(members)}" if owner else ", ".join(members) for owner, members in homes.items()
    )
    return textwrap.shorten("; ".join(told), MAX_NAMES_CHARS, placeholder=" and more")


def _is_constant(definition: Definition) -> bool:
    return not isinstance(definition.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _is_enumeration(definition: Definition) -> bool:
    bases = [ast.unparse(base) for base in getattr(definition.node, "bases", ())]
    return any(re.search(r"Enum|Flag$", base) for base in bases)


def _shorten(definition: Definition) -> str:
    """A definition; of long tables in it their first entries, of a long text its beginning."""
    text, whole = definition.text, "\n".join(definition.file.lines)
    for node in ast.walk(definition.node):
        if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
            written = ast.get_source_segment(whole, node) or ""
            if len(written) > MAX_TABLE_CHARS and written in text:
                text = text.replace(written, _brief(node), 1)
    value = getattr(definition.node, "value", None)
    if isinstance(value, ast.Constant | ast.JoinedStr) and len(text) > MAX_TEXT_CHARS:
        return f"{text[:MAX_TEXT_CHARS]} ...  # the rest is not shown"
    return text


def _brief(node: ast.List | ast.Tuple | ast.Set | ast.Dict) -> str:
    """The first entries of a table, and how many there are."""
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        entries = [f"{ast.unparse(key)}: {ast.unparse(value)}" for key, value in pairs if key is not None]
    else:
        entries = [ast.unparse(entry) for entry in node.elts]
    first = [entry[: MAX_TABLE_CHARS // 4] for entry in entries[:FIRST_ENTRIES]]
    ends = "()" if isinstance(node, ast.Tuple) else "[]" if isinstance(node, ast.List) else "{}"
    return f"{ends[0]}{', '.join(first)}, ... ({len(entries)} entries){ends[1]}"


def _imports(file: CodeFile, parts: Sequence[str]) -> list[str]:
    """Imports of other people's packages that the shown code uses."""
    text, found = "\n".join(parts), defaultdict[str, list[str]](list)
    for name, (module, inner) in file.imports.items():
        if PLAIN_IMPORTS.match(module) or not re.search(rf"(?<![.\w]){re.escape(name)}\b", text):
            continue
        if inner:
            found[module].append(inner if inner == name else f"{inner} as {name}")
        elif name != module.partition(".")[0] or "." in module:
            found[""].append(f"import {module} as {name}")
    plain = found.pop("", [])
    return [*plain, *(f"from {module} import {', '.join(names)}" for module, names in found.items())]
