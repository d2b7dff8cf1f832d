"""Arrays in ``PARAMS`` as people and models read of them: one line for each, whatever they hold."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from promptpo_sandbox.arrays import Shape, array_of

HELD = 0.25
"""An array stands at a bound where at least this share of its numbers does."""


def group_by_array(names: Iterable[str], arrays: Mapping[str, Shape]) -> dict[str, list[str]]:
    """Names of numbers by what was declared: an array with those of its numbers, or a number alone.

    Args:
        names: As in `Program.params`.
        arrays: As in `Program.arrays`.
    """
    found: dict[str, list[str]] = {}
    for name in names:
        array = array_of(name)
        found.setdefault(array if array in arrays else name, []).append(name)
    return found


def label(name: str, arrays: Mapping[str, Shape]) -> str:
    """A parameter's name, with the shape of an array: ``W (2 x 17)``."""
    shape = arrays.get(name, ())
    if not shape:
        return name
    return f"{name} ({' x '.join(map(str, shape))})" if len(shape) > 1 else f"{name} ({shape[0]} numbers)"


def size(values: Sequence[float]) -> float:
    """How large the numbers of an array are: their mean without signs."""
    return statistics.fmean(map(abs, values))


def bound_of_block(bounds: Sequence[str]) -> str:
    """The bound that an array stands at, or that a single number does: "lower", "upper" or ""."""
    most = max(("lower", "upper"), key=bounds.count)
    return most if bounds.count(most) >= max(1.0, HELD * len(bounds)) else ""
