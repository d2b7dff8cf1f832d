"""What a variable of an environment is to a policy, by its values: a place in what it sees or does, a constant, or hidden."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.envs.spaces import AnySpace, at, leaves
from promptpo.spec.render import number, rough_span

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEW = 24
"""Numbers that never change which are told one by one."""

FEWEST = 3
"""Different values from which on two numbers that lie on a line are copies of each other."""


@dataclass(frozen=True, slots=True)
class Tie:
    """What a variable is.

    Attributes:
        path: Where a policy finds it, or a scaled copy; empty where it does not.
        words: What is told of it.
        scale: (a, b) where it is a * path + b; None where it is equal.
        copied: Whether something seen may hold it, so that nothing is said of its being hidden.
        constant: Whether it never changed.
    """

    path: str = ""
    words: str = ""
    scale: tuple[float, float] | None = None
    copied: bool = False
    constant: bool = False


Columns = Sequence[tuple[str, "NDArray[Any]", bool]]
"""Path of every flat array inside values, one row for each value, and whether it is a single number."""


def columns(space: AnySpace, values: Sequence[Any], root: str) -> Columns:
    """The numbers of values of a space, by the flat arrays that hold them."""
    found: list[tuple[str, NDArray[Any], bool]] = []
    for path, leaf in leaves(space):
        inner = [at(value, path) for value in values]
        if inner and not isinstance(inner[0], str) and np.ndim(inner[0]) <= 1:
            keys = "".join(f"[{json.dumps(key)}]" for key in path)
            rows = np.array([np.ravel(value) for value in inner], dtype=float)
            found.append((f"{root}{keys}", rows, leaf.shape in {(), None}))
    return found


def tie(values: Sequence[Any], sides: Columns) -> Tie | None:
    """What a variable is to a policy; None where its values are no numbers of one shape.

    Args:
        values: One number or flat array for each row of the columns, None where it held something else.
        sides: From `columns`, those that are preferred first.
    """
    if (
        not values
        or any(value is None for value in values)
        or len({np.shape(value) for value in values}) != 1
    ):
        return None
    table = np.array(values, dtype=float)
    listed = table.ndim > 1  # an array of one number is no number
    table = table.reshape(len(table), -1)
    constant, size = bool((table == table[0]).all()), table.shape[1]
    if constant and size <= FEW:
        each = [number(float(one)) for one in table[0]]
        return Tie(words=f"[{', '.join(each)}]" if listed else each[0], constant=True)
    if not np.isfinite(table).all():
        return Tie(words="not always a number", copied=True)
    for path, rows, single in sides:
        for start in range(rows.shape[1] - size + 1):
            if np.allclose(rows[:, start : start + size], table, rtol=1e-5, atol=1e-7):
                return Tie(
                    _place(path, start, size, rows.shape[1], single, listed), copied=True, constant=constant
                )
    found = next(_scaled(table, sides, listed), None)
    if found is not None:
        return found
    if size > 1 and any(_seen(column, sides) for column in table.T):
        return Tie(words=f"{size} numbers, partly observed", copied=True)
    if size > 1:
        return Tie(words=f"{size} numbers" + (", always the same" if constant else ""), constant=constant)
    return Tie(words=f"seen {rough_span(float(table.min()), float(table.max()))}")


def _seen(column: NDArray[Any], sides: Columns) -> bool:
    """Whether a number that changes is seen somewhere, scaled or as it is."""
    changes = bool((column != column[0]).any())
    return changes and any(_line(one, column) for _, rows, _ in sides for one in rows.T)


def _scaled(table: NDArray[Any], sides: Columns, listed: bool) -> Iterator[Tie]:
    """Parts of what is seen that are affine copies of a variable, number by number."""
    size = table.shape[1]
    for path, rows, single in sides:
        for start in range(rows.shape[1] - size + 1):
            lines = [line for i in range(size) if (line := _line(rows[:, start + i], table[:, i]))]
            if len(lines) < size:
                continue
            told = {(float(f"{a:.6g}"), float(f"{b:.6g}")) for a, b, _ in lines}
            sure = all(line[2] for line in lines) and len(told) == 1
            place = _place(path, start, size, rows.shape[1], single, listed)
            yield Tie(place if sure else "", scale=told.pop() if sure else None, copied=True)


def _line(x: NDArray[Any], y: NDArray[Any]) -> tuple[float, float, bool] | None:
    """(a, b) with y = a * x + b and whether enough values say so; None where there are none."""
    if (y == y[0]).all() and (x == x[0]).all():
        return 0.0, float(y[0]), False
    low, high = int(x.argmin()), int(x.argmax())
    if x[low] == x[high]:
        return None
    slope = float((y[high] - y[low]) / (x[high] - x[low]))
    offset = float(y[low] - slope * x[low])
    if not slope or not np.allclose(slope * x + offset, y, rtol=0, atol=1e-4 * float(np.ptp(y)) + 1e-9):
        return None
    return slope, offset if abs(offset) > 1e-6 * float(np.abs(y).max()) else 0.0, len(np.unique(x)) >= FEWEST


def _place(path: str, start: int, size: int, whole: int, single: bool, listed: bool) -> str:
    if single or (size == whole and listed):
        return path
    return f"{path}[{start}:{start + size}]" if listed else f"{path}[{start}]"


def in_words(found: Tie) -> str:
    """Where a variable is read from: "next_obs[2]", "2 * next_obs[3] + 1"; empty where a policy does not see it."""
    if not found.path or found.scale is None:
        return found.path
    scale, offset = found.scale
    head = found.path if scale == 1 else f"{scale:.6g} * {found.path}"
    return f"{head} {'-' if offset < 0 else '+'} {abs(offset):.6g}" if offset else head


def equal(a: Any, b: Any) -> bool:
    """Whether two observations are the same."""
    if isinstance(a, dict) or isinstance(b, dict):
        both = isinstance(a, dict) and isinstance(b, dict) and set(a) == set(b)
        return both and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(equal, a, b))
    floats = all(isinstance(one, np.ndarray) and one.dtype.kind == "f" for one in (a, b))
    return bool(np.array_equal(a, b, equal_nan=floats))
