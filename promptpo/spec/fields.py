"""Naming every part of a space, from its documentation where there is any."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.spec.parts import Choice, Field, identifier, says_all, unique
from promptpo.spec.rows import documented_fields, finite

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptpo.envs.spaces import AnySpace
    from promptpo.spec.documentation import Section

SPANNED = 4
"""Groups of up to this many numbers get a range for each."""

LISTED = 48
"""Undocumented arrays up to this length are listed number by number, longer ones as a whole."""


def form_of(space: AnySpace) -> str:
    """What a value of a space looks like in Python."""
    if isinstance(space, spaces.Box):
        return f"np.ndarray, shape {space.shape}, {space.dtype}"
    if isinstance(space, spaces.Discrete):
        return f"int, {space.start} .. {space.start + space.n - 1}"
    if isinstance(space, spaces.MultiDiscrete):
        return f"np.ndarray of ints, shape {space.shape}"
    if isinstance(space, spaces.MultiBinary):
        return f"np.ndarray of zeros and ones, shape {space.shape}"
    if isinstance(space, spaces.Text):
        return "str"
    if isinstance(space, spaces.Dict) and all(isinstance(item, spaces.Box) for item in space.spaces.values()):
        shapes = ", ".join(f'"{key}" {item.shape}' for key, item in space.spaces.items())
        dtypes = {str(item.dtype) for item in space.spaces.values()}
        return f"dict of np.ndarray: {shapes}, {'/'.join(sorted(dtypes))}"
    if isinstance(space, spaces.Dict):
        return "dict with " + ", ".join(f'"{key}": {form_of(item)}' for key, item in space.spaces.items())
    if isinstance(space, spaces.Tuple):
        return "tuple of (" + "; ".join(form_of(item) for item in space.spaces) + ")"
    return type(space).__name__


def example_of(space: AnySpace) -> str:
    """Python for one valid value of an action space: the middle, or what is nearest to zero."""
    if isinstance(space, spaces.Box):
        values = np.clip(np.zeros(space.shape), space.low, space.high)
        dtype = f"np.{space.dtype}"
        if not values.any():
            return f"np.zeros({space.shape}, dtype={dtype})"
        return f"np.array({values.astype(space.dtype).tolist()}, dtype={dtype})"
    if isinstance(space, spaces.Discrete):
        return str(int(space.start))
    if isinstance(space, spaces.MultiDiscrete):
        return f"np.array({np.asarray(space.start).tolist()})"
    if isinstance(space, spaces.MultiBinary):
        return f"np.zeros({space.shape}, dtype=np.int8)"
    if isinstance(space, spaces.Dict):
        return "{" + ", ".join(f'"{key}": {example_of(item)}' for key, item in space.spaces.items()) + "}"
    if isinstance(space, spaces.Tuple):
        return "(" + "".join(f"{example_of(item)}, " for item in space.spaces).rstrip() + ")"
    if isinstance(space, spaces.Text):
        return repr(next(iter(sorted(space.character_set)), "") * space.min_length)
    raise TypeError(space)


def fields_of(root: str, space: AnySpace, section: Section) -> list[Field]:
    """The named parts of a space.

    Args:
        root: The name of the whole value: "obs" or "action".
        space: The space.
        section: What the documentation says about it; may be empty.
    """
    found = list(_fields(root, "", space, section))
    names = unique([item.name for item in found])
    return [replace(item, name=name) for item, name in zip(found, names, strict=True)]


def _fields(path: str, key: str, space: AnySpace, section: Section) -> Iterator[Field]:
    if isinstance(space, spaces.Dict):
        for name, inner in space.spaces.items():
            outer = f"{_owner(key)} " if key else ""
            yield from _fields(f"{path}[{json.dumps(name)}]", f"{outer}{name}", inner, section)
    elif isinstance(space, spaces.Tuple):
        for index, inner in enumerate(space.spaces):
            yield from _fields(
                f"{path}[{index}]", f"{key}_{index}" if key else f"part_{index}", inner, section
            )
    elif isinstance(space, spaces.Box):
        yield from _box(path, key, space, section)
    elif isinstance(space, spaces.Discrete):
        name = identifier(key) or "value"
        yield Field(name, path, float(space.start), float(space.start + space.n - 1), whole=True)
    elif isinstance(space, spaces.MultiDiscrete | spaces.MultiBinary):
        yield from _whole_numbers(path, key, space)
    else:
        yield Field(identifier(key) or "text", path, form="str")


def _owner(key: str) -> str:
    """What a dictionary's key contributes to the names inside it: "achieved" of "achieved_goal"."""
    return key.removesuffix("_goal")


def _box(path: str, key: str, space: spaces.Box, section: Section) -> Iterator[Field]:
    if len(space.shape) != 1 or space.shape[0] == 0:
        low, high = bounds(space)
        yield Field(
            identifier(key) or _whole_name(space),
            path,
            low,
            high,
            form=f"{space.dtype} array of shape {space.shape}"
            if space.shape != ()
            else f"{space.dtype} scalar",
        )
        return
    covered = 0
    for item, end in documented_fields(path, key, space, section):
        yield item
        covered = end
    if covered == space.shape[0]:
        return
    yield from _groups(path, key, space, section, covered)


def _whole_name(space: spaces.Box) -> str:
    if space.shape == ():
        return "value"
    return "image" if space.dtype == np.uint8 and len(space.shape) > 1 else "array"


def _groups(path: str, key: str, space: spaces.Box, section: Section, start: int) -> Iterator[Field]:
    """Fields for the numbers that no table row describes: by the documented groups, or one by one."""
    size = space.shape[0]
    groups = _documented_groups(section.text)
    if sum(n for _, n, _ in groups) == size:
        offset = 0
        for name, n, meaning in groups:
            if offset >= start:
                low, high = bounds(space, slice(offset, offset + n))
                yield Field(
                    identifier(name),
                    f"{path}[{offset}:{offset + n}]",
                    low,
                    high,
                    form=f"{n} numbers",
                    meaning=meaning,
                )
            offset += n
        return
    if size - start > LISTED:
        low, high = bounds(space, slice(start, size))
        sliced = f"{path}[{start}:]" if start else path
        yield Field(identifier(key) or "values", sliced, low, high, form=f"{size - start} numbers")
        return
    if key and size > 1 and not start and _alike(space):
        low, high = bounds(space)
        yield Field(identifier(key), path, low, high, form=f"{size} numbers")
        return
    for index in range(start, size):
        low, high = finite(float(space.low[index])), finite(float(space.high[index]))
        name = identifier(key) if key and size == 1 else f"{identifier(key) or 'x'}_{index}"
        yield Field(name, f"{path}[{index}]", low, high)


def _alike(space: spaces.Box) -> bool:
    """Whether all numbers of a box have the same bounds."""
    return bool((space.low == space.low.flat[0]).all() and (space.high == space.high.flat[0]).all())


def _documented_groups(text: str) -> list[tuple[str, int, str]]:
    """Lists such as "- qvel (9 elements): the velocities", as name, number and meaning."""
    found = re.findall(r"^- ([\w()]+) \((\d+) elements?(?: by default)?\):\s*([^\n]*)", text, re.MULTILINE)
    return [(name, int(n), re.split(r"\. |, \(", meaning)[0].rstrip(".")) for name, n, meaning in found]


def _whole_numbers(path: str, key: str, space: Any) -> Iterator[Field]:
    shape = tuple(space.shape)
    high = np.asarray(space.nvec) - 1 if isinstance(space, spaces.MultiDiscrete) else np.ones(shape, int)
    low = np.asarray(space.start) if isinstance(space, spaces.MultiDiscrete) else np.zeros(shape, int)
    high = high + low if isinstance(space, spaces.MultiDiscrete) else high
    if len(shape) != 1 or shape[0] > LISTED:
        form = f"whole-number array of shape {shape}"
        yield Field(
            identifier(key) or "array", path, float(low.min()), float(high.max()), form=form, whole=True
        )
        return
    for index in range(shape[0]):
        name = f"{identifier(key) or 'x'}_{index}"
        yield Field(name, f"{path}[{index}]", float(low[index]), float(high[index]), whole=True)


def bounds(space: spaces.Box, part: Any = ...) -> tuple[float, float]:
    """The widest bounds of a part of a box."""
    low, high = space.low[part], space.high[part]
    if low.size == 0:
        return -math.inf, math.inf
    return finite(float(low.min())), finite(float(high.max()))


def choices_of(space: spaces.Discrete, section: Section) -> list[Choice]:
    """The values of a discrete action, named by the documentation; empty where it does not name them."""
    start, n = int(space.start), int(space.n)
    meanings: dict[int, str] = {}
    names: dict[int, str] = {}
    for choices in section.choices:
        if set(choices) == set(range(start, start + n)):
            meanings = dict(choices)
    for table in section.tables:
        rows = table.numbered()
        if set(rows) == set(range(start, start + n)):
            for value, row in rows.items():
                cells = [text for title, text in row.items() if title not in {"num", "unit"}]
                meanings[value] = cells[-1] if "action" not in row else row["action"]
                names[value] = row.get("name", meanings[value])
    if not meanings:
        return []
    telling = unique([identifier(names.get(v, meanings[v])).upper() for v in sorted(meanings)])
    return [
        Choice(name, value, "" if says_all(name.lower(), meanings[value]) else meanings[value])
        for name, value in zip(telling, sorted(meanings), strict=True)
    ]


def with_seen(fields: Sequence[Field], root: str, values: Sequence[Any]) -> list[Field]:
    """The same fields with the smallest and largest observed value, where nothing bounds them.

    Args:
        fields: Fields whose paths begin with `root`.
        root: "obs" or "action".
        values: Observed values of the space.
    """
    return [_seen(item, root, values) for item in fields]


def _seen(item: Field, root: str, values: Sequence[Any]) -> Field:
    if item.whole or item.form == "str" or not re.fullmatch(rf"{root}({_KEY.pattern})*", item.path):
        return item
    if (math.isfinite(item.low) and math.isfinite(item.high)) or item.spans or "always" in item.meaning:
        return item
    read = compile_path(item.path, root)
    try:
        table = np.array([np.asarray(read(value), dtype=float) for value in values])
    except (TypeError, ValueError, LookupError):
        return item
    if not table.size or not np.isfinite(table).all():
        return item
    if table.ndim == 1:
        return replace(item, seen=(float(table.min()), float(table.max())))
    if len(table.shape[1:]) == 1 and table.shape[1] <= SPANNED:
        spans = zip(table.min(axis=0).tolist(), table.max(axis=0).tolist(), strict=True)
        return replace(item, spans=tuple(spans), seen=(float(table.min()), float(table.max())))
    return item


_KEY = re.compile(r"\[(?:\"([^\"]*)\"|(-?\d+)|(\d*):(\d*))\]")
"""One step of a path: a key, an index, or a slice."""


def compile_path(path: str, root: str) -> Any:
    """A function that reads a path such as ``obs["goal"][0:3]`` from a value, without evaluating code."""
    keys: list[Any] = []
    for text, number, first, last in _KEY.findall(path.removeprefix(root)):
        if number:
            keys.append(int(number))
        elif text or not (first or last):
            keys.append(text)
        else:
            keys.append(slice(int(first) if first else None, int(last) if last else None))

    def read(value: Any) -> Any:
        for key in keys:
            value = value[key]
        return value

    return read
