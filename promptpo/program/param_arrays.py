"""Arrays in ``PARAMS`` as shown to people and models: one line each, whatever their size."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

from promptpo_sandbox.arrays import Shape, array_of

HELD = 0.25
"""Minimum share of an array's numbers at a bound for the array to count as at that bound."""


def group_by_array(names: Iterable[str], arrays: Mapping[str, Shape]) -> dict[str, list[str]]:
    """Group names of numbers by declaration: an array with its numbers, or a single number.

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
    """Return a parameter's name, with the shape if it is an array: ``W (2 x 17)``."""
    shape = arrays.get(name, ())
    if not shape:
        return name
    return f"{name} ({' x '.join(map(str, shape))})" if len(shape) > 1 else f"{name} ({shape[0]} numbers)"


def size(values: Sequence[float]) -> float:
    """Return the magnitude of an array: the mean absolute value of its numbers."""
    return statistics.fmean(map(abs, values))


def bound_of_block(bounds: Sequence[str]) -> str:
    """Return the bound at which an array or a number lies: "lower", "upper" or ""."""
    most = max(("lower", "upper"), key=bounds.count)
    return most if bounds.count(most) >= max(1.0, HELD * len(bounds)) else ""
