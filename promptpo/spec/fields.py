"""Naming every part of a space: from its documentation, from names that the environment keeps, or by number."""

from __future__ import annotations

import ast
import contextlib
import enum
import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.envs.spaces import leaves
from promptpo.spec.documentation import NamedNumber, Section
from promptpo.spec.parts import ActionValue, Field, identifier, says_all, unique
from promptpo.spec.paths import follow, is_path, limits, path_expression

if TYPE_CHECKING:
    from promptpo.envs.spaces import AnySpace

SPANNED = 4
"""Groups of up to this many numbers get a range for each."""

LISTED = 40
"""So many undocumented numbers of a value are listed one by one; arrays beyond them are told as a whole."""

NO_BOUND = 1e30
"""A float32's largest number means that there is no bound."""

_AXIS = re.compile(r"\b(\w)[- ](?:coordinate|direction|axis|value)\b")
_UNITS = ("m/s", "rad/s", "N m", "rad", "m", "N", "kg", "s", "deg")
_KEEPS_NAMES = re.compile(
    r"(?:(?:state|obs|observation|reference|feature|column)\w*_(?:names|labels|keys)|features)$",
    re.IGNORECASE,
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
    found = defaultdict[int, set[tuple[str, ...]]](set)
    for attribute, value in _of_parts(env):
        lists = isinstance(value, list | tuple | np.ndarray) and _KEEPS_NAMES.search(attribute)
        if lists and all(isinstance(item, str) for item in value):
            prefix = "reference_" if attribute.startswith("reference") else ""
            found[len(value)].add(tuple(f"{prefix}{item}" for item in value))
    return {n: list(*lists) for n, lists in found.items() if len(lists) == 1 and len(set(*lists)) == n}


def _of_parts(env: Any) -> Iterator[tuple[str, Any]]:
    """Attributes of an environment, and of the objects of its own package that it holds."""
    package = type(env).__module__.split(".")[0]
    parts = [part for part in vars(env).values() if type(part).__module__.split(".")[0] == package]
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
    values: Sequence[Any] = (),
) -> list[Field]:
    """The named parts of a space.

    Args:
        root: The name of the whole value: "obs" or "action".
        space: The space.
        section: What the documentation says about it.
        kept: From `names_kept`.
        values: Observed ones.
    """
    found = list[tuple[str, Field]]()
    for keys, leaf in leaves(space):
        path = path_expression(root, keys)
        key = "_".join(map(str, keys if isinstance((*keys, "")[0], str) else ("part", *keys)))
        items = list(_leaf(path, key, leaf, section or Section(), kept or {}, LISTED - len(found)))
        found += [(identifier(key), item) for item in items]
    often = Counter(item.name for _, item in found)
    names = unique([f"{k}_{item.name}" if k and often[item.name] > 1 else item.name for k, item in found])
    named = (replace(item, name=name) for (_, item), name in zip(found, names, strict=True))
    return [with_range(item, space, values) for item in named]


def _leaf(
    path: str, key: str, space: AnySpace, section: Section, kept: Mapping[int, Sequence[str]], most: int
) -> Iterator[Field]:
    """A space without parts: as one value, or number by number where it is a flat array."""
    shape, name = space.shape or (), identifier(key)
    if isinstance(space, spaces.Text):
        yield Field(name or "text", path, form="str")
    elif len(shape) == 1 and shape != (0,):
        yield from _array(path, key, space, section.rows(key, range(shape[0])), kept.get(shape[0], ()), most)
    else:
        form = f"{space.dtype} array of shape {shape}" if shape else ""
        fallback = "image" if form and space.dtype == np.uint8 else "array" if form else "value"
        columns = kept.get(shape[1], ()) if len(shape) == 2 else ()  # noqa: PLR2004 - a table
        meaning = f"columns: {', '.join(columns)}" if columns else ""
        yield Field(name or fallback, path, form=form, meaning=meaning)


def widest(low: Any, high: Any) -> tuple[float, float]:
    """The least and the largest of some bounds, infinite where they stand for none."""
    ends = (float(np.min(low)), float(np.max(high))) if np.size(low) else (-math.inf, math.inf)
    least, most = (math.copysign(math.inf, bound) if abs(bound) > NO_BOUND else bound for bound in ends)
    return least, most


def _array(
    path: str, key: str, space: AnySpace, rows: Mapping[int, NamedNumber], kept: Sequence[str], most: int
) -> Iterator[Field]:
    """The numbers of a flat array: as documented, or under names that are kept, and the rest, one by one or together."""
    low = np.asarray(limits(space)[0])
    rows, start = rows or dict(enumerate(map(NamedNumber, kept))), 0
    while start in rows:
        yield _from_row(f"{path}[{start}]", rows[start])
        start += 1
    size, name = low.size - start, identifier(key)
    if size > max(1, most - start):
        form = f"{size} numbers"
        part = f"{path}[{start}:]" if start else path
        yield Field(name or "values", part, form=form)
        return
    name = name or ("a" if path.startswith("action") else "x")
    for i in range(start, low.size):
        called = name if key and low.size == 1 else f"{name}_{i}"
        yield Field(called, f"{path}[{i}]")


def _from_row(path: str, row: NamedNumber) -> Field:
    meaning = row.meaning.strip("-. ") or "unused"
    plain, *aside = re.split(r" \(([^()]*)\)$", re.sub(_AXIS, r"\1", meaning))
    name = identifier(plain)
    told = "".join(aside) if says_all(name, plain) else meaning
    return Field(name, path, unit=_unit(row), meaning=told)


def _unit(row: NamedNumber) -> str:
    """The unit in a cell, as "rad" or "angle (rad)"; none where it does not go with the meaning."""
    inner = re.search(r"\(([^)]*)\)", row.unit)
    unit = inner[1] if inner else row.unit
    wrong = "orientation" in row.meaning or (unit == "rad" and "velocity" in row.meaning)
    return unit if unit in _UNITS and not wrong else ""


def choices_of(env: Any, space: Any, section: Section) -> list[ActionValue]:
    """The values of a discrete action, named by the documentation or by the environment; empty where nothing names them."""
    values = range(int(space.start), int(space.start + space.n))
    told = {n: row.meaning.strip(" .") for n, row in section.rows("", values).items()}
    told = told if set(told) == set(values) else _find_choices(env, values)
    called = unique([identifier(text).upper() or f"ACTION_{value}" for value, text in told.items()])
    return [
        ActionValue(name, value, "" if says_all(name.lower(), text) else text)
        for name, (value, text) in zip(called, told.items(), strict=True)
    ]


def _find_choices(env: Any, values: range) -> dict[int, str]:
    """Choices by ``get_action_meanings``, a dictionary or an object on actions that is kept, or the one enumeration that is used."""
    told = list[Any]()
    with contextlib.suppress(Exception):  # a foreign method: without names it goes on as well
        told.append(dict(zip(values, env.get_action_meanings(), strict=True)))
    for attribute, value in _of_parts(env):
        held = getattr(value, "__dict__", {}) if "action" in attribute else {}
        if all(type(n) is int for n in held.values()):
            told.append({n: name for name, n in held.items()})
        told += [value] if isinstance(value, dict) else []
    codes = (getattr(member, "__code__", None) for member in vars(type(env)).values())
    used = {name for code in codes if code for name in code.co_names}
    kinds: list[Any] = [
        member
        for name, member in vars(sys.modules[type(env).__module__]).items()
        if name in used and isinstance(member, enum.EnumMeta)
    ]
    named = [{choice.value: choice.name for choice in kind} for kind in kinds]
    enumerated = [choices for choices in named if list(choices) == list(values)]
    told += enumerated if len(enumerated) == 1 else []
    fitting = (
        choices
        for choices in told
        if list(choices) == list(values) and all(isinstance(n, str) for n in choices.values())
    )
    return next(fitting, {})


def with_range(item: Field, space: AnySpace, values: Sequence[Any] = ()) -> Field:
    """A part of a value with the bounds that its space declares for it, and with the range of observed values.

    Args:
        item: A table of ours may have given it bounds.
        space: Of the values.
        values: Observed ones.
    """
    expression = ast.parse(item.path, mode="eval").body
    if not is_path(expression):
        return item
    bounds = [follow(expression, limit) for limit in limits(space)]
    if bounds[0] is None or isinstance(bounds[0], dict | tuple):
        return item
    declared = _ranges(bounds)
    if not any(math.isfinite(end) for span in declared for end in span):
        declared = ()
    seen = _ranges([follow(expression, value) for value in values])
    bounded = bool(item.spans) and np.isfinite(item.spans).all()
    return replace(item, spans=item.spans if bounded else declared, seen=seen)


def _ranges(values: Sequence[Any]) -> Sequence[tuple[float, float]]:
    """The range of each of a few numbers, or of all of many; empty where there are none, or one is not a number."""
    table = np.array([np.ravel(value) for value in values if np.size(value)], dtype=float)
    if not table.size or np.isnan(table).any():
        return ()
    columns = table.T if table.shape[1] <= SPANNED else [table]
    spans = [widest(column, column) for column in columns]
    return spans if len(set(spans)) > 1 else spans[:1]
