"""Components of observations and actions, with the spec's names for them."""

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
    """Yield the leaves of an observation or action (arrays, numbers and texts) with their names."""
    if isinstance(value, dict | tuple):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, f"{name}[{key!r}]")
    elif value is not None:  # None marks what a policy did not see
        yield name, value


def components(value: Any, name: str) -> Iterator[tuple[str, float]]:
    """Yield the numbers in an observation or action with their names; texts are left out."""
    for label, leaf in leaves(value, name):
        if isinstance(leaf, np.ndarray) and leaf.ndim:
            for index, item in np.ndenumerate(leaf):
                yield f"{label}[{', '.join(map(str, index))}]", float(item)
        elif not isinstance(leaf, str | bytes):
            yield label, float(leaf)


def words(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """Yield the texts in an observation or action with their names."""
    return ((label, leaf) for label, leaf in leaves(value, name) if isinstance(leaf, str))


def component_name(label: str, names: Mapping[str, str]) -> str:
    """Return the name of a component: its own, or an index into a part with a name."""
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
    """Return the values of each name over the steps; None for steps without one."""
    return {
        name: [row.get(name) for row in rows] for name in dict.fromkeys(name for row in rows for name in row)
    }


MISSING = "NaN in observations"
"""Beginning of the sentence on missing numbers."""


def missing(episodes: Sequence[Episode], names: Mapping[str, str]) -> str:
    """Describe which numbers of recorded observations were NaN, how often, and from which step on; empty if none was."""
    found: dict[str, list[int]] = {}
    seen = [e.trajectory.observations for e in episodes if e.trajectory is not None]
    for observations in seen:
        for t, observation in enumerate(observations):
            for label, value in components(observation, "obs") if _holds_nan(observation) else ():
                if math.isnan(value):
                    found.setdefault(label, []).append(t)
    listed = [
        f"{component_name(label, names)} in {len(at)}, at step {min(at)} first"
        for label, at in list(found.items())[:COLUMNS]
    ]
    return f"{MISSING} ({sum(map(len, seen))} in all): {'; '.join(listed)}." if listed else ""


def _holds_nan(value: Any) -> bool:
    seen = (np.asarray(leaf) for _, leaf in leaves(value, ""))
    return any(leaf.dtype.kind == "f" and bool(np.isnan(leaf).any()) for leaf in seen)
