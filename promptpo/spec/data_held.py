"""Describe values that an environment holds outside its code: settings as built, and the shape of recorded data."""

from __future__ import annotations

import ast
import itertools
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.spec.code_names import nodes_of, tree_names
from promptpo.spec.render import short_number, span

if TYPE_CHECKING:
    from promptpo.spec.code_files import Definition
    from promptpo.spec.reach import Reached

MAX_LINES, MAX_LINE_CHARS = 40, 160
"""Lines of the list of values, and characters of each value."""

MAX_NAME_CHARS = 40
"""Characters shown of a text in a table."""

MAX_PLAIN_NUMBERS, SERIES_ROWS = 12, 50
"""Numbers above which a table is described by its shape; rows from which it may be a recorded series."""

MUTATORS = {name for kind in (list, dict, set, deque) for name in vars(kind)} - {
    name for kind in (tuple, str, frozenset, MappingProxyType) for name in vars(kind)
}
"""Methods that mutate their object."""

MAX_NESTING = 2
"""Levels of nested objects whose settings are listed."""


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
    changed, replayed = _find_changed(found), _find_replayed(shown)
    kept = (
        (path, value)
        for path, value in _values(env, found, "self", MAX_NESTING)
        if path.rpartition(".")[2] in found.read and not changed & {*path.split(".")}
    )
    lines, series = list[str](), list[str]()
    for path, value in itertools.chain(_constants(shown), kept):
        name, literal = path.rpartition(".")[2], _plain(value)
        if (not literal or name in replayed) and (table := _table(value)):
            lines.append(f"#   {path}: {table}")
            if name in replayed and len(value) >= SERIES_ROWS:
                series.append(f"{path.replace('self.', 'env.', 1)} ({len(value):,} rows)")
        elif literal:
            lines.append(f"#   {path} = {literal}")
    more = [f"#   and {len(lines) - MAX_LINES} more"] if len(lines) > MAX_LINES else []
    head = "# Values after construction; data as shape and a few values:"
    return [head, *lines[:MAX_LINES], *more] if lines else [], series


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


def _constants(shown: Sequence[Definition]) -> Iterator[tuple[str, Any]]:
    """Yield the labels and values of module constants that are computed or read from a file."""
    for definition in shown:
        value = getattr(definition.node, "value", None)
        computed = any(isinstance(node, ast.Call) for node in ast.walk(value)) if value is not None else False
        if computed and not definition.is_function:
            held: Any = definition.file.module
            for name in definition.label.split("."):
                held = getattr(held, name, None)
            yield definition.label, held


def _find_changed(found: Reached) -> set[str]:
    """Return attributes that code changes after construction."""
    functions = (d.node for d in found.shown[: found.running] if d.is_function)
    nodes = [node for function in functions for node in nodes_of(function)]
    changed = [n for n in nodes if isinstance(getattr(n, "ctx", None), ast.Store | ast.Del)]
    changed += [n.value for n in nodes if isinstance(n, ast.Attribute) and n.attr in MUTATORS]
    return {inner.attr for node in changed for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}


def _values(owner: Any, found: Reached, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    for name, value in getattr(owner, "__dict__", {}).items():
        if name.startswith("__") or name in {"np_random", "_np_random", "spec", "metadata"}:
            continue
        if found.files.owns_type(type(value)) and depth > 1:
            yield from _values(value, found, f"{path}.{name}", depth - 1)
        else:
            yield f"{path}.{name}", value


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
    """Return a setting as Python source; empty if it is not plain data or too long."""
    value = value.item() if isinstance(value, np.generic) else value
    value = value.tolist() if isinstance(value, np.ndarray) else value
    text = repr(value) if _is_simple(value) else ""
    return text if 0 < len(text) <= MAX_LINE_CHARS else ""


def _is_simple(value: Any) -> bool:
    """Return whether a value consists of plain numbers and strings, none of them a file path."""
    if isinstance(value, Mapping):
        return bool(value) and all(map(_is_simple, value.values()))
    if isinstance(value, list | tuple):
        return bool(value) and all(map(_is_simple, value))
    is_path = isinstance(value, str) and ("/" in value or "\\" in value)
    return isinstance(value, bool | int | float | str | np.number) and not is_path
