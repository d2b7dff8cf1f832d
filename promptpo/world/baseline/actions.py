"""Actions as numbers that formulas can use, and the lines of a module that read them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from gymnasium import spaces

Floats = np.ndarray[Any, np.dtype[np.float64]]

MOST_SWITCHES = 60
"""Numbers that stand for a discrete action, at most: one for each choice but the first."""


def suits(space: spaces.Space[Any]) -> bool:
    """Whether actions of a space become numbers here."""
    if isinstance(space, spaces.Box):
        return np.issubdtype(space.dtype or float, np.floating)
    if isinstance(space, spaces.MultiDiscrete | spaces.MultiBinary):
        return len(_choices(space)) > 0 and sum(n - 1 for _, n in _choices(space)) <= MOST_SWITCHES
    return isinstance(space, spaces.Discrete)


def numbers_of(space: Any, actions: Any) -> Floats:
    """Actions as rows: a choice among several becomes numbers that are 0 or 1, which exclude each other."""
    if isinstance(space, spaces.Box):
        flat = np.asarray(actions, float).reshape(len(actions), -1)
        clipped: Floats = np.clip(flat, space.low.ravel(), space.high.ravel())
        return clipped
    done = np.asarray(actions).reshape(len(actions), -1)
    parts = [done[:, [i]] - start == np.arange(1, n) for i, (start, n) in enumerate(_choices(space))]
    return np.concatenate(parts, axis=1).astype(float)


def names_of_numbers(space: Any, first: int) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """What these numbers are called, and places of those that exclude each other.

    Args:
        space: Of actions.
        first: The place of the first of them among all numbers.
    """
    if isinstance(space, spaces.Box):
        return tuple(f"u{i}" for i in range(int(np.prod(space.shape)))), ()
    names: list[str] = []
    groups = []
    for i, (start, n) in enumerate(_choices(space)):
        groups.append(tuple(range(first + len(names), first + len(names) + n - 1)))
        of = "" if isinstance(space, spaces.Discrete) else f"{i}_"
        names += [f"do{of}{start + k}" for k in range(1, n)]
    return tuple(names), tuple(groups)


def reading(space: Any, names: tuple[str, ...]) -> Iterator[str]:
    """Lines that assign these names from ``action``."""
    if isinstance(space, spaces.Box):
        if len(space.shape) != 1:
            yield "action = np.ravel(action)"
        for i, name in enumerate(names):
            low, high = float(space.low.flat[i]), float(space.high.flat[i])
            text = f"float(action[{i}])"
            text = f"max({low:.9g}, {text})" if np.isfinite(low) else text
            yield f"{name} = " + (f"min({high:.9g}, {text})" if np.isfinite(high) else text)
        return
    single = isinstance(space, spaces.Discrete)
    if not single and len(space.shape) != 1:
        yield "action = np.ravel(action)"
    left = iter(names)
    for i, (start, n) in enumerate(_choices(space)):
        for k in range(1, n):
            yield f"{next(left)} = 1.0 if action{'' if single else f'[{i}]'} == {start + k} else 0.0"


def _choices(space: Any) -> list[tuple[int, int]]:
    """(first value, number of values) of each part of a discrete action."""
    if isinstance(space, spaces.Discrete):
        return [(int(space.start), int(space.n))]
    if isinstance(space, spaces.MultiBinary):
        return [(0, 2)] * int(np.prod(space.shape))
    return [
        (int(start), int(n)) for start, n in zip(np.ravel(space.start), np.ravel(space.nvec), strict=True)
    ]
