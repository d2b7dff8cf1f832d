"""The policy's own place, found by what actions do to it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.search.programs.scene import Board, Flags, Number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

AGREEING = 0.8
"""Where so much of an action's effect on a number is one and the same change, it is a move."""

MOVING = 0.15
"""It has to have that effect in such a share of the steps; elsewhere walls are in the way."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the policy is, and how it moves.

    Attributes:
        code: An expression for it, a tuple of coordinates.
        seen: Its coordinates, episode by episode, (T + 1, coordinates).
        moves: Action to the change of coordinates.
        sizes: Number of values of each coordinate.
        lows: Smallest value of each.
        homes: Leaf and index that each coordinate comes from.
        board: The board on which it stands, if it was found there.
        columns: How many cells a row has where one number counts cells; else 0.
    """

    code: str
    seen: tuple[Numbers, ...]
    moves: Mapping[Any, tuple[int, ...]]
    sizes: tuple[int, ...]
    lows: tuple[int, ...]
    homes: tuple[tuple[int, int], ...] = ()
    board: Board | None = None
    columns: int = 0


def find_place(
    numbers: Sequence[Number],
    boards: Sequence[Board],
    acted: Sequence[Sequence[Any]],
    actions: tuple[Any, ...],
) -> Place | None:
    """The own place: what is alone on a board and moves, or numbers that actions raise and lower."""
    for board in boards:
        rows, columns = board.shape
        flat = [v.reshape(len(v), -1) for v in board.seen]
        values = np.unique(np.concatenate(flat))
        for value in values:
            if any(np.any((v == value).sum(axis=1) != 1) for v in flat):
                continue
            at = tuple(np.stack(divmod(np.argmax(v == value, axis=1), columns), axis=1) for v in flat)
            moves = _moves(at, acted, actions)
            if _opposite(moves):
                code = f"divmod(int(np.argmax(({board.code}) == {int(value)})), {columns})"
                return Place(code, at, moves, (rows, columns), (0, 0), board=board)
    return _by_numbers(numbers, acted, actions)


def _by_numbers(
    numbers: Sequence[Number], acted: Sequence[Sequence[Any]], actions: tuple[Any, ...]
) -> Place | None:
    """A place of numbers that actions raise and lower, or of one that counts cells row by row."""
    steered = []
    for number in numbers:
        moves = _moves(tuple(v[:, None] for v in number.seen), acted, actions)
        if _opposite(moves) and number.high - number.low > 1:  # a flag is no coordinate
            steered.append((number, moves))
    if not steered:
        return None
    steered.sort(
        key=lambda one: -_mobility(one[0], acted, one[1])
    )  # what is carried moves too, but not always
    number, moves = steered[0]
    wide = sorted({abs(change[0]) for change in moves.values()})
    if len(wide) == 2 and wide[0] == 1:  # noqa: PLR2004 - one number for rows and columns
        k = wide[1]
        at = tuple(np.stack(divmod(v - number.low, k), axis=1) for v in number.seen)
        again = _moves(at, acted, actions)
        code = f"divmod({number.code} - {number.low}, {k})" if number.low else f"divmod({number.code}, {k})"
        whole = (-(-(number.high - number.low + 1) // k), k)
        return Place(code, at, again, whole, (0, 0), (number.home,), columns=k)
    axes, used = [number], set(moves)
    for other, its in steered[1:]:
        if not used & set(its):
            axes.append(other)
            used |= set(its)
    axes.sort(key=lambda n: n.home)
    at = tuple(np.stack([n.seen[e] for n in axes], axis=1) for e in range(len(acted)))
    code = f"({''.join(f'{n.code}, ' for n in axes).strip()})"
    sizes, lows = tuple(n.high - n.low + 1 for n in axes), tuple(n.low for n in axes)
    return Place(code, at, _moves(at, acted, actions), sizes, lows, tuple(n.home for n in axes))


def _moves(
    at: Sequence[Numbers], acted: Sequence[Sequence[Any]], actions: tuple[Any, ...]
) -> dict[Any, tuple[int, ...]]:
    """Action to the change of place that it makes, where it makes one."""
    changes: dict[Any, Counter[tuple[int, ...]]] = {action: Counter() for action in actions}
    for places, taken in zip(at, acted, strict=True):
        for t, action in enumerate(taken):
            if t + 1 < len(places):
                change = tuple(int(v) for v in places[t + 1] - places[t])
                changes.setdefault(plain(action), Counter())[change] += 1
    moves = {}
    for action, counts in changes.items():
        moved = Counter({change: n for change, n in counts.items() if any(change)})
        if not moved:
            continue
        change, n = moved.most_common(1)[0]
        if n >= AGREEING * moved.total() and moved.total() >= MOVING * counts.total():
            moves[action] = change
    return moves


def _mobility(number: Number, acted: Sequence[Sequence[Any]], moves: Mapping[Any, tuple[int, ...]]) -> float:
    """How often a coordinate's moves changed it."""
    changed = [
        v[t + 1] != v[t]
        for v, taken in zip(number.seen, acted, strict=True)
        for t, action in enumerate(taken)
        if t + 1 < len(v) and plain(action) in moves
    ]
    return float(np.mean(changed)) if changed else 0.0


def plain(action: Any) -> int:
    """A discrete action as it is written in programs."""
    return int(np.ravel(action)[0])


def _opposite(moves: Mapping[Any, tuple[int, ...]]) -> bool:
    """Whether there is a way back: two moves that undo each other."""
    found = set(moves.values())
    return any(tuple(-v for v in change) in found for change in found)


def aligned(rows: Sequence[Flags], place: Place) -> tuple[list[Flags], list[Number]]:
    """Rows as long as there are places, cut out of longer ones; what is left over are single flags.

    Where a flag goes out, the own place says which entry belongs to it.
    """
    n = int(np.prod(place.sizes))
    cut: list[Flags] = []
    loose: list[Number] = []
    for row in rows:
        if row.n <= n:
            cut.append(row)
            continue
        taken = _stretches(row, place, n)
        for o in sorted(taken):
            code = f"{row.code}[{o}:{o + n}]"
            cut.append(Flags(f"{row.name}_{o}", code, tuple(v[:, o : o + n] for v in row.seen)))
        for i in range(row.n):
            if not any(o <= i < o + n for o in taken):
                seen = tuple(v[:, i] for v in row.seen)
                loose.append(Number(f"{row.name}_{i}", f"int({row.code}[{i}])", seen, 0, 1))
    return cut, loose


def _stretches(row: Flags, place: Place, n: int) -> list[int]:
    """Where the stretches of a row begin that are as long as there are places."""
    ends: Counter[tuple[int, int]] = Counter()
    for flags, at in zip(row.seen, place.seen, strict=True):
        here = _index(at, place)
        for t, i in np.argwhere((flags[:-1] == 1) & (flags[1:] == 0)):
            ends[int(i), int(i) - int(here[t])] += 1
    taken: list[int] = []
    for offset in sorted(range(row.n - n + 1), key=lambda o: _fit(ends, o, n), reverse=True):
        if _fit(ends, offset, n) > 0 and all(abs(offset - other) >= n for other in taken):
            taken.append(offset)
    free = [o for o in range(row.n - n + 1) if all(abs(o - t) >= n for t in taken)]
    while free:  # what no flag's end told, from the left, next to what is known
        taken.append(free[0])
        free = [o for o in free if abs(o - free[0]) >= n]
    return taken


def _fit(ends: Counter[tuple[int, int]], offset: int, n: int) -> float:
    """Which share of the flags that went out in a stretch belonged to the own place; 0 for fewer than two."""
    inside = {key: count for key, count in ends.items() if offset <= key[0] < offset + n}
    right = sum(count for (_, o), count in inside.items() if o == offset)
    return right / sum(inside.values()) if right > 1 else 0.0


def _index(at: Numbers, place: Place) -> Numbers:
    moved: Numbers = at - np.array(place.lows)
    return moved[:, 0] * place.sizes[1] + moved[:, 1] if len(place.sizes) == 2 else moved[:, 0]  # noqa: PLR2004


def solid_in(place: Place, acted: Sequence[Sequence[Any]]) -> str:
    """What of a board was never entered although it was tried."""
    if place.board is None:
        return ""
    entered: Counter[int] = Counter()
    refused: Counter[int] = Counter()
    rows, columns = place.sizes
    for board, at, taken in zip(place.board.seen, place.seen, acted, strict=True):
        for t, action in enumerate(taken):
            change = place.moves.get(plain(action))
            if change is None or t + 1 >= len(at):
                continue
            r, c = int(at[t][0]) + change[0], int(at[t][1]) + change[1]
            if 0 <= r < rows and 0 <= c < columns:
                value = int(board[t][r, c])
                (refused if tuple(at[t + 1]) == tuple(at[t]) else entered)[value] += 1
    solid = sorted(value for value, n in refused.items() if n >= 3 and not entered[value])  # noqa: PLR2004
    return f"({place.board.code})[p] in {tuple(solid)}" if solid else ""
