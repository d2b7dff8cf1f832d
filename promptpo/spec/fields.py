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
from promptpo.spec.paths import limits, walk

if TYPE_CHECKING:
    from promptpo.envs.spaces import AnySpace
    from promptpo.spec.documentation import Row

SPANNED = 4
"""Groups of up to this many numbers get a range for each."""

TOGETHER = 5
"""So many undocumented numbers in a row with the same bounds share a line."""

LISTED = 48
"""Undocumented arrays up to this length are listed number by number, longer ones as a whole."""

FEWEST = 2
"""A list of two names in brackets may be bounds."""

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
    while start in rows:
        yield _from_row(f"{path}[{start}]", rows[start], finite(low[start]), finite(high[start]))
        start += 1
    names = kept.get(low.size, ())
    if names and not start:
        for i, name in enumerate(names):
            called = f"{key.removesuffix('goal')}{name}" if key.endswith("_goal") else name
            yield Field(re.sub(r"\W+", "_", called), f"{path}[{i}]", finite(low[i]), finite(high[i]))
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
    listed = next((one for one in section.choices if set(one) == set(range(size))), None)
    listed = listed or dict(enumerate(_named_in(section.text, size)))
    return {n: {"num": str(n), "observation": text} for n, text in listed.items()}


def _named_in(text: str, size: int) -> Sequence[str]:
    """Names in a sentence, as "0: angle, 1: speed, 2: load" or as "[angle, speed, load]"; none where they are not so many."""
    counted = re.findall(r"(?<![\w.])(\d+)\s*[:=]\s*([A-Za-z][^,;\n]*)", text)
    if size > 1 and [int(n) for n, _ in counted] == list(range(size)):
        return [name for _, name in counted]
    lists = [one.split(",") for one in re.findall(r"\[([^\[\]]+)\]", text)]
    fitting = [
        one for one in lists if len(one) == size > FEWEST and all(re.match(r"\s*[A-Za-z]", n) for n in one)
    ]
    return fitting[0] if len(fitting) == 1 else ()


def _from_row(path: str, row: Row, low: float, high: float) -> Field:
    cells = list(row.values())
    meaning = row.get("observation") or row.get("action") or (cells[1] if len(cells) > 1 else "")
    meaning = re.sub(r"\s*Equals to .*", "", meaning).strip(". ")
    meaning = "unused" if meaning in {"", "-"} else meaning
    plain = re.sub(r"\b(\w)[- ](?:coordinate|direction|axis|value)\b| \([^()]*\)$", r"\1", meaning)
    name = identifier(plain)
    return Field(
        name, path, low, high, unit=_unit(row, meaning), meaning="" if says_all(name, plain) else meaning
    )


def _unit(row: Row, meaning: str) -> str:
    cell = next((text for title, text in row.items() if "unit" in title), "")
    inner = re.search(r"\(([^)]*)\)", cell)
    unit = inner[1] if inner else cell
    wrong = "orientation" in meaning or (unit == "rad" and "velocity" in meaning)
    return unit if unit in _UNITS and not wrong else ""


def finite(bound: float) -> float:
    """A bound, or infinity where it stands for none."""
    return math.copysign(math.inf, bound) if abs(bound) > NO_BOUND else float(bound)


def choices_of(env: Any, space: Any, section: Section) -> list[ActionValue]:
    """The values of a discrete action, named by the documentation or by the environment; empty where nothing names them."""
    values = range(int(space.start), int(space.start + space.n))
    rows = _documented("", len(values), section)
    told = {
        n: row.get("action") or row.get("observation") or list(row.values())[1] for n, row in rows.items()
    }
    if set(told) != set(values):
        told = _listed_choices(section.text, values) or _own_choices(env, values)
    called = unique([identifier(told[v]).upper() or f"ACTION_{v}" for v in sorted(told)])
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
    kinds: list[Any] = [
        one for one in vars(sys.modules[type(env).__module__]).values() if isinstance(one, enum.EnumMeta)
    ]
    used: list[dict[Any, str]] = [
        {value.value: name for name, value in one.__members__.items()}
        for one in kinds
        if re.search(rf"\b{one.__name__}\b", source)
    ]
    fitting = [one for one in used if list(one) == list(values)]
    return fitting[0] if len(fitting) == 1 else {}


def with_range(item: Field, space: AnySpace, values: Sequence[Any]) -> Field:
    """A part of an observation with the bounds that the space declares for it, or else what was seen of it.

    Args:
        item: Without bounds where a table of ours names it.
        space: Of observations.
        values: Observed ones.
    """
    bounded = math.isfinite(item.low) and math.isfinite(item.high)
    leaf = None if bounded or item.whole else walk(ast.parse(item.path, mode="eval").body, "obs", space)
    if leaf is None or leaf.low is None or "always" in item.meaning:
        return item
    table = np.array(
        [np.ravel(np.asarray(one, dtype=float)) for one in (leaf.low, leaf.high, *map(leaf.read, values))]
    )
    declared = np.abs(table[:2]).max() <= NO_BOUND
    spans = [
        (float(column.min()), float(column.max())) for column in (table[:2] if declared else table[2:]).T
    ]
    if len(spans) > SPANNED or not np.isfinite(spans).all():
        return item
    ends = widest(*zip(*spans, strict=True))
    item = replace(item, low=ends[0], high=ends[1]) if declared else replace(item, seen=ends)
    return replace(item, spans=spans if len(spans) > 1 else ())
