"""What the environment's variables are to a policy, by their values: a place in the observation, a constant, or hidden."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.envs.spaces import AnySpace, at, leaves
from promptpo.spec.render import number, rough_span

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEWEST = 3
"""Different values from which on two numbers that lie on a line are copies of each other."""


@dataclass(frozen=True, slots=True)
class Tie:
    """What a variable is.

    Attributes:
        path: Where the observation holds it, or a scaled copy; empty where it does not.
        words: What is told of it.
        scale: (a, b) where it is a * obs + b; None where it is equal.
        copied: Whether an observation may hold it, so that nothing is said of its being hidden.
        constant: Whether it never changed.
    """

    path: str = ""
    words: str = ""
    scale: tuple[float, float] | None = None
    copied: bool = False
    constant: bool = False


Columns = Sequence[tuple[str, "NDArray[Any]"]]
"""Path of every flat array inside observations, with one row for each observation."""


def columns(space: AnySpace, observations: Sequence[Any]) -> Columns:
    """The numbers of observations, by the flat arrays that hold them."""
    found = []
    for path, _ in leaves(space):
        inner = [at(value, path) for value in observations]
        if inner and not isinstance(inner[0], str) and np.ndim(inner[0]) <= 1:
            keys = "".join(f'["{key}"]' if isinstance(key, str) else f"[{key}]" for key in path)
            found.append((f"obs{keys}", np.array([np.ravel(value) for value in inner], dtype=float)))
    return found


def tie(values: Sequence[Any], seen: Columns, *, scalar: Sequence[str] = ()) -> Tie | None:
    """What a variable is to a policy; None where its values are no numbers of one shape.

    Args:
        values: One array for each observation, None where it held something else.
        seen: From `columns`.
        scalar: Paths of observations that are single numbers.
    """
    if not values or any(value is None for value in values) or len({len(value) for value in values}) != 1:
        return None
    table = np.array(values, dtype=float)
    constant, size = bool((table == table[0]).all()), table.shape[1]
    if constant and (size == 1 or (table[0] == table[0, 0]).all()):
        text = number(float(table[0, 0])) if size == 1 else f"{size} times {number(float(table[0, 0]))}"
        return Tie(words=text, constant=True)
    for path, observed in seen:
        for start in range(observed.shape[1] - size + 1):
            part = observed[:, start : start + size]
            if np.allclose(part, table, rtol=1e-5, atol=1e-7):
                return Tie(
                    _place(path, start, size, observed.shape[1], path in scalar),
                    copied=True,
                    constant=constant,
                )
    found = next(_scaled(table, seen, scalar), None)
    if found is not None:
        return found
    if size > 1:
        return Tie(words=f"{size} numbers" + (", always the same" if constant else ""), constant=constant)
    return Tie(words=f"seen {rough_span(float(table.min()), float(table.max()))}")


def _scaled(table: NDArray[Any], seen: Columns, scalar: Sequence[str]) -> Iterator[Tie]:
    """Parts of an observation that are affine copies of a variable, number by number."""
    size = table.shape[1]
    for path, observed in seen:
        for start in range(observed.shape[1] - size + 1):
            lines = [_line(observed[:, start + i], table[:, i]) for i in range(size)]
            if any(line is None for line in lines):
                continue
            place = _place(path, start, size, observed.shape[1], path in scalar)
            told = {(float(f"{a:.4g}"), float(f"{b:.4g}")) for a, b, _ in (line for line in lines if line)}
            sure = all(line is not None and line[2] for line in lines)
            yield Tie(
                place if sure else "", scale=told.pop() if len(told) == 1 and sure else None, copied=True
            )


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
    return slope, offset, len(np.unique(x)) >= FEWEST


def _place(path: str, start: int, size: int, whole: int, scalar: bool) -> str:
    if scalar or size == whole > 1:
        return path
    return f"{path}[{start}]" if size == 1 else f"{path}[{start}:{start + size}]"


def in_words(found: Tie, root: str) -> str:
    """Where a variable is read from: "next_obs[2]", "2 * next_obs[3] + 1"; empty where it is not in the observation."""
    if not found.path:
        return ""
    path = found.path.replace("obs", root, 1)
    if found.scale is None:
        return path
    scale, offset = found.scale
    head = path if scale == 1 else f"{number(scale)} * {path}"
    return f"{head} {'-' if offset < 0 else '+'} {number(abs(offset))}" if offset else head


def scalars(space: AnySpace) -> list[str]:
    """Paths of the parts of a space that are single numbers without an index."""
    return [
        "obs" + "".join(f'["{key}"]' if isinstance(key, str) else f"[{key}]" for key in path)
        for path, leaf in leaves(space)
        if leaf.shape in {(), None}
    ]


Known = Mapping[str, Tie]
