"""Leaves of an observation as numbers, rows of flags and boards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.search.programs.scene import Board, Flags, Number

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from promptpo.search.programs.leaves import Leaf

    Numbers = NDArray[np.int64]


def whole_numbers(leaf: Leaf, parts: list[NDArray[np.float64]]) -> tuple[str, list[Numbers]] | None:
    """The leaf as whole numbers, with the code that makes them; fractions of a common step count too."""
    code = leaf.code
    if all(np.array_equal(part, np.round(part)) for part in parts):
        return code, [part.astype(np.int64) for part in parts]
    values = np.unique(np.concatenate([np.ravel(part) for part in parts]))
    step = float(np.min(np.diff(values)))
    scaled = (values - leaf.low[0]) / step
    if step < 0.01 or np.max(np.abs(scaled - np.round(scaled))) > 0.02:  # noqa: PLR2004 - rounding of float32
        return None
    code = f"np.round((np.asarray({code}) - {leaf.low[0]:g}) / {step:.6g})"
    return code, [np.round((part - leaf.low[0]) / step).astype(np.int64) for part in parts]


def split_vector(leaf: Leaf, at: int, code: str, values: list[Numbers]) -> tuple[list[Number], list[Flags]]:
    """A vector as numbers, positions of a single flag among others, and rows of flags."""
    if not leaf.shape:
        number = Number(
            leaf.name, f"int({code})", tuple(values), int(leaf.low[0]), _top(leaf, 0, values), (at, 0)
        )
        return [number], []
    n, row = leaf.shape[0], f"np.ravel({code})"
    everything = np.concatenate(values)
    binary = [bool(np.all((everything[:, i] == 0) | (everything[:, i] == 1))) for i in range(n)]
    binary = [
        b and leaf.high[i] - leaf.low[i] <= max(1.0, np.median(leaf.high - leaf.low))
        for i, b in enumerate(binary)
    ]
    binary = [b and (leaf.high[i] <= 1 or np.ptp(leaf.high) == 0) for i, b in enumerate(binary)]
    numbers: list[Number] = []
    flags: list[Flags] = []
    lengths: set[int] = set()
    i = 0
    while i < n:
        if not binary[i]:
            part = tuple(v[:, i] for v in values)
            name = leaf.name if n == 1 else f"{leaf.name}{i}"
            numbers.append(
                Number(name, f"int({row}[{i}])", part, int(leaf.low[i]), _top(leaf, i, values), (at, i))
            )
            i += 1
            continue
        end = next((j for j in range(i, n) if not binary[j]), n)
        one = _only_one(everything, i, end, lengths)
        if one is not None:
            part = tuple(np.argmax(v[:, i:one], axis=1) for v in values)
            name = f"{leaf.name}{i}_to_{one - 1}" if (i, one) != (0, n) else leaf.name
            numbers.append(Number(name, f"int(np.argmax({row}[{i}:{one}]))", part, 0, one - i - 1, (at, i)))
            lengths.add(one - i)
            i = one
            continue
        stop = next((j for j in range(i + 2, end) if _only_one(everything, j, end, lengths) is not None), end)
        if stop - i == 1:
            part = tuple(v[:, i] for v in values)
            name = leaf.name if n == 1 else f"{leaf.name}{i}"
            numbers.append(Number(name, f"int({row}[{i}])", part, 0, 1, (at, i)))
        else:
            name = leaf.name if (i, stop) == (0, n) else f"{leaf.name}{i}_to_{stop - 1}"
            piece = row if (i, stop) == (0, n) else f"{row}[{i}:{stop}]"
            flags.append(Flags(name, piece, tuple(v[:, i:stop] for v in values)))
        i = stop
    return numbers, flags


def _top(leaf: Leaf, i: int, values: list[Numbers]) -> int:
    """The largest value an entry may have; what is declared wider than it is seen by far counts as seen."""
    seen = max(int(np.max(np.ravel(v) if not leaf.shape else v[:, i])) for v in values)
    declared = int(leaf.high[i])
    return max(seen, declared if declared <= 4 * max(4, seen) else seen)


def _only_one(everything: Numbers, start: int, end: int, lengths: Collection[int]) -> int | None:
    """Where a run of flags of which always exactly one is set ends; None where none begins at this place.

    Of several ends one as far away as an earlier run was long, else the nearest.
    """
    sums = np.cumsum(everything[:, start:end], axis=1)
    ends = [start + j + 1 for j in range(2, end - start) if np.all(sums[:, j] == 1)]
    if not ends or len(np.unique(np.argmax(everything[:, start : ends[0]], axis=1))) < 2:  # noqa: PLR2004
        return None
    return next((one for one in ends if one - start in lengths), ends[0])


def boards_of(leaf: Leaf, code: str, values: list[Numbers], at: int) -> list[Board]:
    """A board of numbers as it is, planes of flags one by one, planes of other numbers read as one number."""
    if len(leaf.shape) == 2:  # noqa: PLR2004
        return [Board(leaf.name, f"np.asarray({code})", tuple(values), at)]
    if len(leaf.shape) != 3:  # noqa: PLR2004
        return []
    first = leaf.shape[0] < min(leaf.shape[1:])
    planes = [v if first else np.moveaxis(v, 3, 1) for v in values]
    n = leaf.shape[0] if first else leaf.shape[2]

    def plane(i: int) -> str:
        return f"np.asarray({code})[{i}]" if first else f"np.asarray({code})[:, :, {i}]"

    if all(np.all((v == 0) | (v == 1)) for v in planes):
        return [Board(f"{leaf.name}{i}", plane(i), tuple(v[:, i] for v in planes), at) for i in range(n)]
    top = leaf.high.reshape(leaf.shape)
    tops = [
        int(np.max(top[i] if first else top[:, :, i])) + 1 for i in range(n)
    ]  # a number means the same later
    factors = [int(np.prod(tops[i + 1 :])) for i in range(n)]
    terms = [plane(i) if f == 1 else f"{f} * {plane(i)}.astype(int)" for i, f in enumerate(factors)]
    read = tuple(np.tensordot(factors, v, axes=(0, 1)).astype(np.int64) for v in planes)
    return [Board(leaf.name, " + ".join(terms), read, at)]


def read_board(board: Board, leaves: Sequence[Leaf], observations: Sequence[Any]) -> Numbers:
    """A board in other observations, (T, rows, columns)."""
    leaf = leaves[board.leaf]
    _, values = whole_numbers(leaf, [np.stack([leaf.read(o) for o in observations])]) or ("", [])
    return next(b.seen[0] for b in boards_of(leaf, "", values, board.leaf) if b.name == board.name)
