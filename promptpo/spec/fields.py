"""Naming every part of a space, from its documentation where there is any."""

from __future__ import annotations

import enum
import inspect
import itertools
import json
import math
import re
import sys
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.spec.parts import ActionValue, Field, identifier, says_all, unique
from promptpo.spec.paths import reader
from promptpo.spec.rows import documented_fields, finite

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptpo.envs.spaces import AnySpace
    from promptpo.spec.documentation import Section

EXAMPLES = 2
"""So many observed texts are shown."""

LONGEST_EXAMPLE = 100
"""Characters of one of them."""

SPANNED = 4
"""Groups of up to this many numbers get a range for each."""

TOGETHER = 5
"""So many undocumented numbers in a row with the same bounds share a line."""

LISTED = 48
"""Undocumented arrays up to this length are listed number by number, longer ones as a whole."""


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
        outer = f"{_owner(key)} " if key else ""
        series = _series(space)
        for name, inner in space.spaces.items():
            base, n = series.get(name, ("", 0))
            if n:
                each = next(_fields("", "", inner, section))
                entries = f"[{path}[f{json.dumps(base + '{i}')}] for i in range({n})]"
                yield replace(each, name=identifier(f"{outer}{base}"), path=entries, form=f"{n} entries")
            if base:
                continue
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


def _series(space: spaces.Dict) -> dict[str, tuple[str, int]]:
    """Entries that are numbered from 0 on, each a single number with the same bounds: "vent_0", "vent_1", ...

    Returns:
        Key to what all keys begin with and, for the first one, how many there are; 0 for the others.
    """
    found: dict[str, tuple[str, int]] = {}
    for name, inner in space.spaces.items():
        base = name[:-1] if name.endswith("0") and not name[-2:-1].isdigit() else ""
        n = next(i for i in itertools.count() if space.spaces.get(f"{base}{i}") != inner) if base else 0
        whole = isinstance(inner, spaces.Discrete) or (
            isinstance(inner, spaces.Box) and inner.shape == () and inner.is_bounded()
        )
        if n > 1 and whole:
            found |= {f"{base}{i}": (base, 0 if i else n) for i in range(n)}
    return found


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
    pairs = [(finite(float(space.low[i])), finite(float(space.high[i]))) for i in range(start, size)]
    yield from _numbered(path, key, pairs, start)


def _numbered(
    path: str, key: str, pairs: Sequence[tuple[float, float]], start: int = 0, *, whole: bool = False
) -> Iterator[Field]:
    """Fields for numbers that nothing names: one by one, or together where many in a row have the same finite bounds."""
    name = identifier(key) or ("a" if path.startswith("action") else "x")
    index = start
    for (low, high), group in groupby(pairs):
        n = len(list(group))
        named = (
            key != "" and n == len(pairs) and n > 1 and not start
        )  # a part with a name of its own stays whole
        if (n >= TOGETHER or named) and math.isfinite(low) and math.isfinite(high):
            every = n == len(pairs) and not start
            part, what = (
                (path, name if key else "values")
                if every
                else (
                    f"{path}[{index}:{index + n}]",
                    f"{name}_{index}_to_{index + n - 1}",
                )
            )
            form = f"{n} {'flags' if whole and (low, high) == (0, 1) else 'numbers'}"
            yield Field(what, part, low, high, form=form, whole=whole)
        else:
            for i in range(index, index + n):
                only = key and len(pairs) == 1 and not start
                yield Field(name if only else f"{name}_{i}", f"{path}[{i}]", low, high, whole=whole)
        index += n


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
    pairs = [(float(a), float(b)) for a, b in zip(low, high, strict=True)]
    yield from _numbered(path, key, pairs, whole=True)


def bounds(space: spaces.Box, part: Any = ...) -> tuple[float, float]:
    """The widest bounds of a part of a box."""
    low, high = space.low[part], space.high[part]
    if low.size == 0:
        return -math.inf, math.inf
    return finite(float(low.min())), finite(float(high.max()))


def choices_of(space: spaces.Discrete, section: Section) -> list[ActionValue]:
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
    meanings = meanings or _listed_choices(section.text, start, n)
    if not meanings:
        return []
    telling = unique([identifier(names.get(v, meanings[v])).upper() for v in sorted(meanings)])
    return [
        ActionValue(name, value, "" if says_all(name.lower(), meanings[value]) else meanings[value])
        for name, value in zip(telling, sorted(meanings), strict=True)
    ]


def _listed_choices(text: str, start: int, n: int) -> dict[int, str]:
    """Choices in a sentence or in lines: "0 stay, 1 go up, 2 go down"; empty where they are not all there."""
    values = range(start, start + n)
    pattern = r"\D*?".join(
        rf"(?<![\w.]){value}(?![\w.])\s*[:=)-]?\s*(?P<v{value - start}>[A-Za-z][^,;\n]*)" for value in values
    )
    match = re.search(pattern, text) if n <= LISTED else None
    if match is None:
        return {}
    return {value: re.split(r"\. ", match[f"v{value - start}"])[0].strip(" .") for value in values}


def named_choices(env: Any, space: spaces.Discrete) -> list[ActionValue]:
    """Choices named by ``get_action_meanings``, or by the one enumeration that the class uses and that has just these values."""
    meanings = _own_meanings(env, space)
    if meanings:
        return meanings
    module = sys.modules.get(type(env).__module__)
    values = list(range(int(space.start), int(space.start + space.n)))
    try:
        source = inspect.getsource(type(env))
    except (OSError, TypeError):
        source = ""
    enums = (
        {
            item
            for item in vars(module).values()
            if isinstance(item, type)
            and issubclass(item, enum.Enum)
            and [m.value for m in item] == values
            and re.search(rf"\b{item.__name__}\b", source)
        }
        if module
        else set()
    )
    if len(enums) != 1:
        return []
    return [ActionValue(identifier(member.name).upper(), member.value) for member in enums.pop()]


def _own_meanings(env: Any, space: spaces.Discrete) -> list[ActionValue]:
    """What ``get_action_meanings`` says, as the Arcade Learning Environment has it; empty where nothing fits."""
    ask = getattr(env, "get_action_meanings", None)
    try:
        told = [str(meaning) for meaning in ask()] if callable(ask) else []
    except Exception:  # noqa: BLE001 - a foreign method: without names it goes on as well
        return []
    if len(told) != space.n or len(set(told)) != len(told):
        return []
    names = unique([identifier(meaning).upper() or f"ACTION_{n}" for n, meaning in enumerate(told)])
    return [ActionValue(name, int(space.start) + n) for n, name in enumerate(names)]


def with_seen(fields: Sequence[Field], root: str, values: Sequence[Any]) -> list[Field]:
    """The same fields with the smallest and largest observed value, where nothing bounds them.

    Args:
        fields: Fields whose paths begin with `root`.
        root: "obs" or "action".
        values: Observed values of the space.
    """
    return [_seen(item, root, values) for item in fields]


def _seen(item: Field, root: str, values: Sequence[Any]) -> Field:
    read = reader(item.path, root)
    if read is None or item.whole:
        return item
    if item.form == "str":
        texts = dict.fromkeys(str(read(value)) for value in values)
        told = [
            text if len(text) <= LONGEST_EXAMPLE else f"{text[:LONGEST_EXAMPLE]}..." for text in texts if text
        ]
        return replace(item, examples=tuple(told[:EXAMPLES]))
    if (math.isfinite(item.low) and math.isfinite(item.high)) or item.spans or "always" in item.meaning:
        return item
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
