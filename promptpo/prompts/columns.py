"""The numbers in an observation or an action, and what a spec calls each of them."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.prompts.limits import COLUMNS

if TYPE_CHECKING:
    from promptpo_sandbox import Episode


def leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the leaves of an observation or action, arrays, numbers and texts, with a name for each."""
    if isinstance(value, dict | tuple):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, f"{name}[{key!r}]")
    elif value is not None:  # what a policy did not see
        yield name, value


def components(value: Any, name: str) -> Iterator[tuple[str, float]]:
    """The numbers in an observation or action, with a name for each; text is left out."""
    for label, leaf in leaves(value, name):
        if isinstance(leaf, np.ndarray) and leaf.ndim:
            for index, item in np.ndenumerate(leaf):
                yield f"{label}[{', '.join(map(str, index))}]", float(item)
        elif not isinstance(leaf, str | bytes):
            yield label, float(leaf)


def words(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """The texts in an observation or action, with a name for each."""
    return ((label, leaf) for label, leaf in leaves(value, name) if isinstance(leaf, str))


def component_name(label: str, names: Mapping[str, str]) -> str:
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


def over_steps(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The values of each name over the steps; None where a step has none."""
    return {
        name: [row.get(name) for row in rows] for name in dict.fromkeys(name for row in rows for name in row)
    }


MISSING = "NaN in observations"
"""How the sentence on missing numbers begins."""


def missing(episodes: Sequence[Episode], names: Mapping[str, str]) -> str:
    """Which numbers of recorded observations were NaN, how often, and from which step on; empty where none was."""
    found: dict[str, list[int]] = {}
    seen = [e.trajectory.observations for e in episodes if e.trajectory is not None]
    for observations in seen:
        for t, observation in enumerate(observations):
            for label, value in components(observation, "obs") if _holds_nan(observation) else ():
                if math.isnan(value):
                    found.setdefault(label, []).append(t)
    told = [
        f"{component_name(label, names)} in {len(at)}, at step {min(at)} first"
        for label, at in list(found.items())[:COLUMNS]
    ]
    return f"{MISSING} ({sum(map(len, seen))} in all): {'; '.join(told)}." if told else ""


def _holds_nan(value: Any) -> bool:
    seen = (np.asarray(leaf) for _, leaf in leaves(value, ""))
    return any(leaf.dtype.kind == "f" and bool(np.isnan(leaf).any()) for leaf in seen)
