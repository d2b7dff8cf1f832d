"""Describe values that an environment holds outside its code: settings as built, and the shape of recorded data."""

from __future__ import annotations

import ast
import itertools
from argparse import Namespace
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.spec.code_names import nodes_of, tree_names
from promptpo.spec.render import short_number, span

if TYPE_CHECKING:
    from promptpo.spec.code_files import Definition
    from promptpo.spec.reach import Reached

MAX_CHARS, MAX_VALUE_CHARS = 6_400, 1_200
"""Characters of the list of values, and of one value."""

MAX_NAME_CHARS = 40
"""Characters shown of a text in a table."""

MAX_PLAIN_NUMBERS, SERIES_ROWS = 12, 50
"""Numbers above which a table is described by its shape; rows from which it may be a recorded series."""

GYMNASIUM = {"np_random", "_np_random", "spec", "metadata"}
"""Attributes that Gymnasium gives every environment."""

MUTATORS = {name for kind in (list, dict, set, deque) for name in vars(kind)} - {
    name for kind in (tuple, str, frozenset, MappingProxyType) for name in vars(kind)
}
"""Methods that mutate their object."""

MAX_EXAMINED = 1_000
"""Objects and containers that are searched for settings."""

DIGITS = 6
"""Significant digits of the numbers of an array."""


def read_held_values(
    env: Any, found: Reached, shown: Sequence[Definition]
) -> tuple[Sequence[str], Sequence[str]]:
    """List values that reached code reads but neither changes nor contains.

    Args:
        env: The author's environment, after a reset.
        found: The reached code.
        shown: The part of it that a model reads.

    Returns:
        Comment lines for the spec, and descriptions of recorded data that episodes replay.
    """
    replayed = _find_replayed(shown)
    lines, series = dict[str, None](), list[str]()
    for path, name, value in itertools.chain(_constants(shown), _settings(env, found)):
        table, literal = _table(value), _plain(value)
        is_series = name in replayed and table is not None and len(value) >= SERIES_ROWS
        if table and (is_series or not literal):
            lines[f"#   {path}: {table}"] = None
            if is_series:
                series.append(f"{path.replace('self.', 'env.', 1)} ({len(value):,} rows)")
        elif literal:
            lines[f"#   {path} = {literal}"] = None
    sizes = itertools.accumulate(map(len, lines))
    kept = [line for line, size in zip(lines, sizes, strict=True) if size <= MAX_CHARS]
    more = [f"#   and {len(lines) - len(kept)} more"] if len(lines) > len(kept) else []
    head = "# Values after construction; data as shape and a few values:"
    return [head, *kept, *more] if lines else [], series


def _find_replayed(shown: Sequence[Definition]) -> set[str]:
    """Return names of tables that code indexes by a counter, as it would read a recorded series."""
    nodes = [node for definition in shown for node in nodes_of(definition.node)]
    counters = {
        node.target.attr
        for node in nodes
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute)
    }
    moving = set(counters)
    for node in nodes:
        if isinstance(node, ast.Assign) and counters & tree_names(node.value):
            moving |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return {
        name
        for node in nodes
        if isinstance(node, ast.Subscript) and moving & tree_names(node.slice)
        for name in tree_names(node.value)
    }


def _constants(shown: Sequence[Definition]) -> Iterator[tuple[str, str, Any]]:
    """Yield the labels, names and values of module constants that are computed or read from a file."""
    for definition in shown:
        value = getattr(definition.node, "value", None)
        computed = any(isinstance(node, ast.Call) for node in ast.walk(value)) if value is not None else False
        if computed and not definition.is_function:
            held: Any = definition.file.module
            for name in definition.label.split("."):
                held = getattr(held, name, None)
            yield definition.label, definition.name, held


def _find_changed(found: Reached) -> set[str]:
    """Return attributes that code changes after construction."""
    functions = (d.node for d in found.shown[: found.running] if d.is_function)
    nodes = [node for function in functions for node in nodes_of(function)]
    changed = [n for n in nodes if isinstance(getattr(n, "ctx", None), ast.Store | ast.Del)]
    changed += [n.value for n in nodes if isinstance(n, ast.Attribute) and n.attr in MUTATORS]
    return {inner.attr for node in changed for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}


def _settings(env: Any, found: Reached) -> Iterator[tuple[str, str, Any]]:
    """Yield paths, attributes and values that code reads and does not change, nearest first, also within settings."""
    changed, known = _find_changed(found), set[int]()
    ahead = deque([("self", "", env)])
    while ahead and len(known) < MAX_EXAMINED:
        path, name, value = ahead.popleft()
        inside = _attributes_of(value, found)
        if name in found.read and not inside and (_plain(value) or _table(value)):
            yield path, name, value
        elif id(value) not in known:
            known.add(id(value))
            ahead += [(f"{path}.{n}", n, item) for n, item in inside.items() if n not in changed]
            entries = value if isinstance(value, Mapping) and len(value) < SERIES_ROWS else {}
            ahead += [
                (f"{path}[{key!r}]", name, v) for key, v in entries.items() if not _attributes_of(v, found)
            ]


def _attributes_of(value: Any, found: Reached) -> Mapping[str, Any]:
    """Return the attributes of an object of the author's, or of a namespace; empty for others."""
    if not (found.files.owns_type(type(value)) or isinstance(value, SimpleNamespace | Namespace)):
        return {}
    slots = (name for cls in type(value).__mro__ for name in getattr(cls, "__slots__", ()))
    names = (name for name in (*getattr(value, "__dict__", ()), *slots) if not name.startswith("__"))
    return {name: getattr(value, name, None) for name in names if name not in GYMNASIUM}


def _table(value: Any) -> str | None:
    """Describe a table by shape, range and first values; None if it is no table or is short."""
    kind = type(value)
    if not (isinstance(value, list | tuple) or hasattr(kind, "__array__")):
        return None
    columns = list(map(str, value.columns)) if hasattr(kind, "columns") else []
    try:
        array = np.asarray(value)
    except Exception:  # noqa: BLE001 - rows of different lengths, or a foreign object
        return f"{kind.__name__} of {len(value)} entries" if len(value) > MAX_PLAIN_NUMBERS else None
    if array.size <= MAX_PLAIN_NUMBERS:
        return None
    name = f"table with the columns {', '.join(columns)};" if columns else kind.__name__
    words = f"{name} of shape {array.shape}"
    if array.dtype.kind in "biuf":
        finite = array[np.isfinite(array)].astype(float)
        words += f", {span(finite.min(), finite.max())}" if finite.size else ""
    if array.dtype.kind in "biufU":
        first = array.ravel()[:3].tolist()
        values = (
            short_number(float(v)) if array.dtype.kind != "U" else repr(v)[:MAX_NAME_CHARS] for v in first
        )
        words += f"; it begins {', '.join(values)}"
    return words


def _plain(value: Any) -> str:
    """Return a setting as Python source, numbers of arrays rounded; empty if it is not plain data or too long."""
    if isinstance(value, np.ndarray | np.generic):
        if value.size > MAX_VALUE_CHARS:
            return ""
        if value.dtype.kind == "f":
            value = np.reshape([float(f"{number:.{DIGITS}g}") for number in value.ravel()], value.shape)
        value = value.tolist()
    text = repr(value) if _is_simple(value) else ""
    return text if 0 < len(text) <= MAX_VALUE_CHARS else ""


def _is_simple(value: Any) -> bool:
    """Return whether a value consists of plain numbers and strings, none of them a file path."""
    if isinstance(value, Mapping):
        return bool(value) and all(map(_is_simple, value.values()))
    if isinstance(value, list | tuple):
        return bool(value) and all(map(_is_simple, value))
    is_path = isinstance(value, str) and ("/" in value or "\\" in value)
    return isinstance(value, bool | int | float | str | np.number) and not is_path
