"""What a variable of an environment is to a policy, by its values: a place in what it sees or does, or hidden."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from promptpo.envs.spaces import AnySpace, at, leaves
from promptpo.spec.paths import written

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST = 400
"""Numbers of a variable that are compared with what is seen."""

FEW = 24
"""Numbers of a variable that are told one by one."""

UNKNOWN = "..."
"""Stands for the numbers of a variable that are not known, where others are."""

SMALLEST = float(np.finfo(float).tiny)
"""The least that anything is divided by."""

FEWEST = 3
"""Different values from which on two numbers that lie on a line are copies of each other."""


class Tie(NamedTuple):
    """What a variable is.

    Attributes:
        path: How a policy reads it, for example ``2 * next_obs[3] + 1``; empty where it is not known.
        hidden: Whether all of its numbers change, and none of them is seen, scaled or as it is.
    """

    path: str = ""
    hidden: bool = False


Columns = Sequence[tuple[str, "NDArray[Any]", bool]]
"""Path of every flat array inside values, one row for each value, and whether it is a single number."""


def columns(space: AnySpace, values: Sequence[Any], root: str) -> Columns:
    """The numbers of values of a space, by the flat arrays that hold them."""
    found: list[tuple[str, NDArray[Any], bool]] = []
    for path, leaf in leaves(space):
        inner = [at(value, path) for value in values]
        if inner and not isinstance(inner[0], str) and np.ndim(inner[0]) <= 1:
            rows = np.array([np.ravel(value) for value in inner], dtype=float)
            found.append((written(root, path), rows, leaf.shape in {(), None}))
    return found


def table_of(values: Sequence[Any]) -> NDArray[Any] | None:
    """One row for each value; None where they are not all numbers, or flat arrays of them, of one size."""
    try:
        found = np.array(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return None
    plain = found.ndim in {1, 2} and 0 < found.size <= LARGEST * len(values) and not np.isnan(found).any()
    return found if plain else None


def tie(values: Sequence[Any], sides: Columns) -> Tie:
    """What a variable is to a policy.

    Args:
        values: One for each row of the columns.
        sides: From `columns`, those that are preferred first.
    """
    table = table_of(values)
    if table is None:
        return Tie()
    listed, table = table.ndim > 1, table.reshape(len(table), -1)
    size, changes = table.shape[1], (table != table[0]).any(axis=0)
    for path, rows, single in sides:
        for start in range(rows.shape[1] - size + 1):
            if changes.any() and np.allclose(rows[:, start : start + size], table, rtol=1e-5, atol=1e-7):
                whole = single or (size == rows.shape[1] and listed)
                part = f"[{start}:{start + size}]" if listed else f"[{start}]"
                return Tie(path if whole else f"{path}{part}")
    lines = [_on_a_line(column, sides) for column in table.T]
    hidden = bool(changes.all()) and not any(lines)
    sure = [one for one in lines if one is not None and one[1]]
    if not listed:
        return Tie(sure[0][0] if sure else "", hidden)
    told = [
        one[0] if one and (all(lines) or (one in sure and " " not in one[0])) else UNKNOWN for one in lines
    ]
    known = size <= FEW and set(told) != {UNKNOWN}
    return Tie(
        re.sub(r"(?<=\.\.\.)(, \.\.\.)+]", "]", f"np.array([{', '.join(told)}])") if known else "", hidden
    )


def _on_a_line(y: NDArray[Any], sides: Columns) -> tuple[str, bool] | None:
    """How a number is computed from one that is seen, and whether enough values say so; None where it lies on no line."""
    for path, rows, single in sides if np.isfinite(y).all() else ():
        for n, x in enumerate(rows.T):
            if np.ptp(y) <= 1e-9 * np.abs(y).max() or not 0 < np.ptp(x) < np.inf:  # NaN in observations too
                continue
            apart, middle = x - x.mean(), float(y.mean())
            slope = float(apart @ (y - middle) / max(apart @ apart, SMALLEST))
            offset = middle - slope * float(x.mean())
            if not np.allclose(slope * x + offset, y, rtol=0, atol=1e-4 * float(np.ptp(y)) + 1e-9):
                continue
            factor, added = f"{slope:.6g}", f" {'-' if offset < 0 else '+'} {abs(offset):.6g}"
            told = abs(offset) > 1e-6 * float(np.abs(y).max())
            place = path if single else f"{path}[{n}]"
            line = f"{'' if factor == '1' else f'{factor} * '}{place}{added if told else ''}"
            return line, len(np.unique(x)) >= FEWEST
    return None
