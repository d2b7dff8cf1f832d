"""Naming every part of a space: from its documentation, from names that the environment keeps, or by number."""

from __future__ import annotations

import ast
import contextlib
import enum
import inspect
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.spec.documentation import Section
from promptpo.spec.parts import ActionValue, Field, identifier, says_all, unique
from promptpo.spec.paths import limits, reader

if TYPE_CHECKING:
    from promptpo.envs.spaces import AnySpace
    from promptpo.spec.documentation import Row

SPANNED = 4
"""Groups of up to this many numbers get a range for each."""

TOGETHER = 5
"""So many undocumented numbers in a row with the same bounds share a line."""

LISTED = 48
"""Undocumented arrays up to this length are listed number by number, longer ones as a whole."""

NO_BOUND = 1e30
"""A float32's largest number means that there is no bound."""

_UNITS = ("m/s", "rad/s", "N m", "rad", "m", "N", "kg", "s", "deg")
_KEEPS_NAMES = re.compile(
    r"(?:(?:state|obs|observation|reference|feature|column)\w*_(?:names|labels|keys)|features)$"
)


def example_of(space: AnySpace) -> str:
    """Python for one valid value of an action space: what is nearest to zero."""
    if isinstance(space, spaces.Dict):
        return "{" + ", ".join(f'"{key}": {example_of(item)}' for key, item in space.spaces.items()) + "}"
    if isinstance(space, spaces.Tuple):
        return "(" + "".join(f"{example_of(item)}, " for item in space.spaces).rstrip() + ")"
    if isinstance(space, spaces.Text):
        return repr(next(iter(sorted(space.character_set)), "") * space.min_length)
    if isinstance(space, spaces.Discrete):
        return str(int(space.start))
    values = np.clip(0, *limits(space)).astype(space.dtype)
    kind = f"dtype=np.{space.dtype})"
    return f"np.array({values.tolist()}, {kind}" if values.any() else f"np.zeros({space.shape}, {kind}"


def names_kept(env: Any) -> dict[int, list[str]]:
    """Lists of names that an environment or a part of it keeps as ``state_names``, ``features`` and the like, by their length."""
    found: dict[int, set[tuple[str, ...]]] = {}
    for attribute, value in _of_parts(env):
        named = (
            isinstance(value, list | tuple | np.ndarray) and len(value) > 0 and _KEEPS_NAMES.search(attribute)
        )
        if named and all(isinstance(one, str) for one in value):
            prefix = "reference_" if attribute.startswith("reference") else ""
            found.setdefault(len(value), set()).add(tuple(f"{prefix}{one}" for one in value))
    sure = {n: lists.pop() for n, lists in found.items() if len(lists) == 1}
    return {n: list(names) for n, names in sure.items() if len(set(names)) == n}


def _of_parts(env: Any) -> Iterator[tuple[str, Any]]:
    """Attributes of an environment, and of the objects of its own package that it holds."""
    package = type(env).__module__.split(".")[0]
    parts = [one for one in vars(env).values() if type(one).__module__.split(".")[0] == package]
    for owner in (env, *parts):
        for name in dir(owner):
            if not name.startswith("__"):
                with contextlib.suppress(Exception):  # a property of a foreign class
                    yield name, getattr(owner, name)


def fields_of(
    root: str,
    space: AnySpace,
    section: Section | None = None,
    kept: Mapping[int, Sequence[str]] | None = None,
) -> list[Field]:
    """The named parts of a space.

    Args:
        root: The name of the whole value: "obs" or "action".
        space: The space.
        section: What the documentation says about it.
        kept: From `names_kept`.
    """
    found = list(_fields(root, "", space, section or Section(), kept or {}))
    names = unique([item.name for item in found])
    return [replace(item, name=name) for item, name in zip(found, names, strict=True)]


def _fields(
    path: str, key: str, space: AnySpace, section: Section, kept: Mapping[int, Sequence[str]]
) -> Iterator[Field]:
    if isinstance(space, spaces.Dict):
        outer = f"{key.removesuffix('_goal')} " if key else ""
        for name, inner in space.spaces.items():
            yield from _fields(f"{path}[{json.dumps(name)}]", f"{outer}{name}", inner, section, kept)
    elif isinstance(space, spaces.Tuple):
        for index, inner in enumerate(space.spaces):
            name = f"{key}_{index}" if key else f"part_{index}"
            yield from _fields(f"{path}[{index}]", name, inner, section, kept)
    elif isinstance(space, spaces.Text):
        yield Field(identifier(key) or "text", path, form="str")
    elif len(space.shape or ()) == 1 and space.shape != (0,):
        yield from _array(path, key, space, section, kept)
    else:
        low, high = (np.ravel(bound) for bound in limits(space))
        form = f"{space.dtype} array of shape {space.shape}" if space.shape else ""
        name = "image" if form and space.dtype == np.uint8 else "array" if form else "value"
        whole = not isinstance(space, spaces.Box)
        columns = kept.get(space.shape[-1], ()) if space.shape and len(space.shape) == 2 else ()  # noqa: PLR2004 - a table
        meaning = f"columns: {', '.join(columns)}" if columns else ""
        ends = widest(low, high)
        yield Field(identifier(key) or name, path, *ends, form=form, whole=whole, meaning=meaning)


def widest(low: Any, high: Any) -> tuple[float, float]:
    """The least and the largest of some bounds."""
    if not np.size(low):
        return -math.inf, math.inf
    return finite(float(np.min(low))), finite(float(np.max(high)))


def _array(
    path: str, key: str, space: AnySpace, section: Section, kept: Mapping[int, Sequence[str]]
) -> Iterator[Field]:
    """The numbers of a flat array: from a table, from documented groups, under names that are kept, or by number."""
    low, high = (np.asarray(bound, dtype=float) for bound in limits(space))
    rows, start = _documented(key, low.size, section), 0
    prefix = key.removesuffix("_goal") if key.endswith("_goal") else ""
    while start in rows:
        yield _from_row(f"{path}[{start}]", rows[start], finite(low[start]), finite(high[start]), prefix)
        start += 1
    names = kept.get(low.size, ())
    if names and not start:
        for i, name in enumerate(names):
            called = re.sub(r"\W+", "_", f"{prefix}_{name}" if prefix else name)
            yield Field(called, f"{path}[{i}]", finite(low[i]), finite(high[i]))
    elif start < low.size:
        yield from _numbered(path, key, low, high, start, whole=not isinstance(space, spaces.Box))


def _numbered(path: str, key: str, low: Any, high: Any, start: int, *, whole: bool) -> Iterator[Field]:
    """Fields for numbers that nothing names: one by one, or together where they are many or have the same finite bounds."""
    size, name = low.size, identifier(key)
    ends = widest(low[start:], high[start:])
    alike = bool((low[start:] == ends[0]).all() and (high[start:] == ends[1]).all())
    if size - start > LISTED or (alike and not start and size > (1 if key else TOGETHER)):
        form = f"{size - start} {'flags' if whole and ends == (0, 1) else 'numbers'}"
        part = f"{path}[{start}:]" if start else path
        yield Field(name or "values", part, *ends, form=form, whole=whole)
        return
    name = name or ("a" if path.startswith("action") else "x")
    for i in range(start, size):
        called = name if key and size == 1 else f"{name}_{i}"
        yield Field(called, f"{path}[{i}]", finite(low[i]), finite(high[i]), whole=whole)


def _documented(key: str, size: int, section: Section) -> Mapping[int, Row]:
    """The table rows for an array; empty where the documentation has none that fit it."""
    for table in section.tables:
        rows = table.numbered()
        if table.key in {"", key} and rows and max(rows) < size and 0 in rows:
            return rows
    listed = next((one for one in section.choices if set(one) == set(range(size))), {})
    return {n: {"num": str(n), "observation": text} for n, text in listed.items()}


def _from_row(path: str, row: Row, low: float, high: float, prefix: str) -> Field:
    cells = list(row.values())
    meaning = row.get("observation") or row.get("action") or (cells[1] if len(cells) > 1 else "")
    meaning = re.sub(r"\s*Equals to .*", "", meaning).strip(". ")
    meaning = "unused" if meaning in {"", "-"} else meaning
    plain = re.sub(r"\b(\w)[- ](?:coordinate|direction|axis|value)\b| \([^()]*\)$", r"\1", meaning)
    name = identifier(plain)
    if prefix and not name.startswith(prefix):
        name = f"{prefix}_{name}"
    unit = _unit(row, meaning)
    return Field(name, path, low, high, unit=unit, meaning="" if says_all(name, plain) else meaning)


def _unit(row: Row, meaning: str) -> str:
    cell = next((text for title, text in row.items() if "unit" in title), "")
    inner = re.search(r"\(([^)]*)\)", cell)
    unit = inner[1] if inner else cell
    if unit == "rad" and "velocity" in meaning:
        unit = "rad/s"  # some tables call every joint's unit an angle
    if not unit and re.search(r"\brad\b", row.get("min", "")):
        unit = "rad"
    return unit if unit in _UNITS and "orientation" not in meaning else ""


def finite(bound: float) -> float:
    """A bound, or infinity where it stands for none."""
    return math.copysign(math.inf, bound) if abs(bound) > NO_BOUND else float(bound)


def choices_of(env: Any, space: spaces.Discrete, section: Section) -> list[ActionValue]:
    """The values of a discrete action, named by the documentation or by the environment; empty where nothing names them."""
    values = range(int(space.start), int(space.start + space.n))
    told = next((dict(one) for one in section.choices if set(one) == set(values)), {})
    names: dict[int, str] = {}
    for rows in (table.numbered() for table in section.tables):
        if set(rows) == set(values):
            for value, row in rows.items():
                cells = [text for title, text in row.items() if title not in {"num", "unit"}]
                told[value] = row.get("action") or cells[-1]
                names[value] = row.get("name", told[value])
    told = told or _listed_choices(section.text, values) or _own_choices(env, values)
    called = unique([identifier(names.get(v, told[v])).upper() or f"ACTION_{v}" for v in sorted(told)])
    return [
        ActionValue(name, value, "" if says_all(name.lower(), told[value]) else told[value])
        for name, value in zip(called, sorted(told), strict=True)
    ]


def _listed_choices(text: str, values: range) -> dict[int, str]:
    """Choices in a sentence or in lines: "0 stay, 1 go up, 2 go down"; empty where they are not all there."""
    pattern = r"\D*?".join(
        rf"(?<![\w.]){value}(?![\w.])\s*[:=)-]?\s*(?P<v{value}>[A-Za-z][^,;\n]*)" for value in values
    )
    match = re.search(pattern, text) if len(values) <= LISTED and values.start >= 0 else None
    return {value: re.split(r"\. ", match[f"v{value}"])[0].strip(" .") for value in values} if match else {}


def _own_choices(env: Any, values: range) -> dict[int, str]:
    """Choices by ``get_action_meanings``, or by the one enumeration that the class uses and that has just these values."""
    ask = getattr(env, "get_action_meanings", None)
    try:
        told = [str(meaning) for meaning in ask()] if callable(ask) else []
        source = inspect.getsource(type(env))
    except Exception:  # noqa: BLE001 - a foreign method: without names it goes on as well
        told, source = [], ""
    if len(told) == len(values) and len(set(told)) == len(told):
        return dict(zip(values, told, strict=True))
    held = [value for _, value in _of_parts(env) if isinstance(value, dict) and list(value) == list(values)]
    named = [one for one in held if all(isinstance(text, str) for text in one.values())]
    if named:
        return dict(named[0])
    kinds = [
        one for one in vars(sys.modules[type(env).__module__]).values() if isinstance(one, enum.EnumMeta)
    ]
    fitting = {
        one
        for one in kinds
        if [member.value for member in one] == list(values) and re.search(rf"\b{one.__name__}\b", source)  # type: ignore[var-annotated]
    }
    return {member.value: member.name for member in fitting.pop()} if len(fitting) == 1 else {}  # type: ignore[var-annotated]


def with_range(item: Field, space: AnySpace, values: Sequence[Any]) -> Field:
    """A part of an observation with the bounds that the space declares for it, or else what was seen of it.

    Args:
        item: Without bounds where a table of ours names it.
        space: Of observations.
        values: Observed ones.
    """
    read = reader(ast.parse(item.path, mode="eval").body, "obs")
    if read is None or item.whole or item.form == "str" or "always" in item.meaning:
        return item
    if math.isfinite(item.low) and math.isfinite(item.high):
        return item
    ends = [read(bound) for bound in limits(space)]
    if ends[0] is None:  # a text
        return item
    low, high = (np.ravel(np.asarray(end, dtype=float)) for end in ends)
    if low.size <= SPANNED and all(math.isfinite(finite(one)) for one in (*low, *high)):
        spans = tuple(zip(low.tolist(), high.tolist(), strict=True))
        return replace(item, low=spans[0][0], high=spans[0][1], spans=spans if low.size > 1 else ())
    table = np.array([np.ravel(np.asarray(read(value), dtype=float)) for value in values])
    if low.size > SPANNED or not np.isfinite(table).all():
        return item
    spans = tuple(zip(table.min(axis=0).tolist(), table.max(axis=0).tolist(), strict=True))
    return replace(item, spans=spans if low.size > 1 else (), seen=(float(table.min()), float(table.max())))
