"""The numbers in an observation or an action, and what a spec calls each of them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any


def components(value: Any, name: str) -> Iterator[tuple[str, float]]:
    """The numbers in an observation or action, with a name for each; text is left out."""
    import numpy as np

    if value is None:  # what a policy did not see
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from components(item, f"{name}[{key!r}]")
    elif isinstance(value, tuple):
        for i, item in enumerate(value):
            yield from components(item, f"{name}[{i}]")
    elif isinstance(value, np.ndarray) and value.ndim:
        for index, item in np.ndenumerate(value):
            yield f"{name}[{', '.join(map(str, index))}]", float(item)
    elif not isinstance(value, (str, bytes)):
        yield name, float(value)


def words(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """The texts in an observation or action, with a name for each."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from words(item, f"{name}[{key!r}]")
    elif isinstance(value, tuple):
        for i, item in enumerate(value):
            yield from words(item, f"{name}[{i}]")
    elif isinstance(value, str):
        yield name, value


def called(label: str, names: Mapping[str, str]) -> str:
    """The name of a component: its own, or its place in a part that has one."""
    if label in names:
        return names[label]
    base, _, index = label.removesuffix("]").rpartition("[")
    for expression, name in names.items():
        if expression == base:
            return f"{name}[{index}]"
        within = re.fullmatch(rf"{re.escape(base)}\[(\d*):(\d*)\]", expression)
        if within and index.isdigit():
            first, end = int(within[1] or 0), int(within[2] or sys.maxsize)
            if first <= int(index) < end:
                return f"{name}[{int(index) - first}]"
    entry = re.fullmatch(r"(?:obs|action)\['(\w+)'\]", label)
    return entry[1] if entry else label  # a key is a name
