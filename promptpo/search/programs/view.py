"""A board that is seen from where the policy stands: which actions turn it, which shift it, where one stands."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

TRANSITIONS = 60
"""So many changes after each action are looked at."""

CERTAIN = 0.9
"""An action turns or shifts the view where such a share of what was seen before and after agrees."""

LARGEST_VIEW = 15
RARE = 0.1
"""What fills less of what is seen is a thing to go to, not ground or wall."""

FEWEST = 3
"""So many changes at least have to be seen."""

UNSEEN = 0


@dataclass(frozen=True, slots=True)
class View:
    """How a board moves with the policy.

    Attributes:
        centre: Row and column at which it stands.
        ahead: Change of row and column from there to the cell ahead.
        forward: The action that moves ahead.
        turns: Action to quarter turns, 1 or 3.
        solid: What was ahead when moving failed, and never when it did not.
        entered: What was ahead when moving did not fail.
        things: What is seen now and then, in few cells.
        known: All that was seen.
    """

    centre: tuple[int, int]
    ahead: tuple[int, int]
    forward: Any
    turns: Mapping[Any, int]
    solid: tuple[int, ...]
    entered: tuple[int, ...]
    things: tuple[int, ...]
    known: tuple[int, ...]

    @property
    def moves(self) -> tuple[Any, ...]:
        """The actions that move or turn."""
        return (self.forward, *self.turns)


def turned(offset: tuple[int, int], quarters: int) -> tuple[int, int]:
    """A change of row and column, turned so many times by a quarter."""
    for _ in range(quarters % 4):
        offset = (offset[1], -offset[0])
    return offset


def find_view(
    boards: Sequence[Numbers],
    acted: Sequence[Sequence[Any]],
    actions: tuple[Any, ...],
    known: View | None = None,
) -> View | None:
    """How a board moves with the policy; None where it does not.

    Args:
        boards: The board in each step of each episode, (T + 1, rows, columns).
        acted: The actions of each episode.
        actions: All actions.
        known: What was found out before, of which only what is seen is to be found out again.
    """
    rows, columns = boards[0].shape[1:]
    if not 3 <= min(rows, columns) <= max(rows, columns) <= LARGEST_VIEW:  # noqa: PLR2004
        return None
    if known is not None:
        found = (known.centre, known.ahead, known.forward, known.turns)
    else:
        changes = {
            action: list(itertools.islice(_changes(boards, acted, action), TRANSITIONS)) for action in actions
        }
        shift = _forward(changes)
        if shift is None:
            return None
        forward, ahead = shift
        turning = _turns(changes, forward)
        if turning is None:
            return None
        found = (turning[0], ahead, forward, turning[1])
    return _with_things(boards, acted, *found)


def _changes(
    boards: Sequence[Numbers], acted: Sequence[Sequence[Any]], action: Any
) -> Iterator[tuple[Numbers, Numbers]]:
    for board, taken in zip(boards, acted, strict=True):
        for t, one in enumerate(taken):
            if t + 1 < len(board) and int(np.ravel(one)[0]) == action and np.any(board[t] != board[t + 1]):
                yield board[t], board[t + 1]


def _agreement(before: Numbers, after: Numbers) -> tuple[int, int]:
    """Cells that are alike, of those that were seen both times."""
    both = (before != UNSEEN) & (after != UNSEEN)
    return int(np.sum((before == after) & both)), int(np.sum(both))


def _shifted(before: Numbers, after: Numbers, by: tuple[int, int]) -> tuple[int, int]:
    rows, columns = before.shape
    r0, r1 = max(0, by[0]), min(rows, rows + by[0])
    c0, c1 = max(0, by[1]), min(columns, columns + by[1])
    return _agreement(before[r0:r1, c0:c1], after[r0 - by[0] : r1 - by[0], c0 - by[1] : c1 - by[1]])


def _share(counts: Sequence[tuple[int, int]]) -> float:
    seen = sum(n for _, n in counts)
    return sum(same for same, _ in counts) / seen if seen else 0.0


def _forward(changes: Mapping[Any, list[tuple[Numbers, Numbers]]]) -> tuple[Any, tuple[int, int]] | None:
    """The action that shifts the board by a cell, and which way one looks."""
    best: tuple[float, Any, tuple[int, int]] | None = None
    for action, pairs in changes.items():
        if len(pairs) < FEWEST:
            continue
        for by in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            share = _share([_shifted(before, after, by) for before, after in pairs])
            if share >= CERTAIN and (best is None or share > best[0]):
                best = (share, action, by)
    return None if best is None else best[1:]


def _turns(
    changes: Mapping[Any, list[tuple[Numbers, Numbers]]], forward: Any
) -> tuple[tuple[int, int], dict[Any, int]] | None:
    """Around which cell actions turn the board, and which way."""
    pairs = {a: p for a, p in changes.items() if a != forward and len(p) >= FEWEST}
    if len(pairs) < 2:  # noqa: PLR2004
        return None
    rows, columns = next(iter(pairs.values()))[0][0].shape
    best: tuple[float, tuple[int, int], dict[Any, int]] | None = None
    for centre in itertools.product(range(rows), range(columns)):
        found: dict[Any, tuple[float, int]] = {}
        for action, some in pairs.items():
            for quarters in (1, 3):
                new, old = _turning(rows, columns, centre, quarters)
                counts = [_agreement(b.ravel()[old], a.ravel()[new]) for b, a in some]
                share = _share(counts)
                if sum(n for _, n in counts) >= 4 * len(counts) and share >= max(
                    CERTAIN, found.get(action, (0, 0))[0]
                ):
                    found[action] = (share, quarters)
        turns = {action: quarters for action, (_, quarters) in found.items()}
        if {1, 3} <= set(turns.values()):
            weight = sum(share for share, _ in found.values()) / len(found)
            if best is None or weight > best[0]:
                best = (weight, centre, turns)
    return None if best is None else best[1:]


def _turning(rows: int, columns: int, centre: tuple[int, int], quarters: int) -> tuple[list[int], list[int]]:
    """Flat indices of cells after a turn and of the same cells before it."""
    new, old = [], []
    for r, c in itertools.product(range(rows), range(columns)):
        dr, dc = turned((r - centre[0], c - centre[1]), quarters)
        br, bc = centre[0] + dr, centre[1] + dc
        if 0 <= br < rows and 0 <= bc < columns and (r, c) != centre:
            new.append(r * columns + c)
            old.append(br * columns + bc)
    return new, old


def _with_things(
    boards: Sequence[Numbers],
    acted: Sequence[Sequence[Any]],
    centre: tuple[int, int],
    ahead: tuple[int, int],
    forward: Any,
    turns: Mapping[Any, int],
) -> View:
    front = (centre[0] + ahead[0], centre[1] + ahead[1])
    refused: Counter[int] = Counter()
    entered: Counter[int] = Counter()
    for board, taken in zip(boards, acted, strict=True):
        for t, one in enumerate(taken):
            if t + 1 < len(board) and int(np.ravel(one)[0]) == forward:
                moved = _share([_shifted(board[t], board[t + 1], ahead)])
                stayed = _share([_agreement(board[t], board[t + 1])])
                if moved != stayed:
                    (entered if moved > stayed else refused)[int(board[t][front])] += 1
    everything = np.concatenate([board.reshape(len(board), -1) for board in boards])
    values, counts = np.unique(everything[everything != UNSEEN], return_counts=True)
    shares = dict(zip(map(int, values), counts / counts.sum(), strict=True))
    things = sorted((v for v, share in shares.items() if share < RARE), key=lambda v: shares[v])
    solid = tuple(sorted(v for v, n in refused.items() if n > 1 and n > 3 * entered[v]))
    ways = tuple(sorted(v for v, n in entered.items() if n and v not in solid))
    return View(centre, ahead, forward, turns, solid, ways, tuple(things), tuple(sorted(shares)))


def events(view: View, board: Numbers, acted: Sequence[Any]) -> set[tuple[Any, ...]]:
    """The kinds of things that happened in an episode: what changed ahead or in hand, what was entered or seen."""
    front = (view.centre[0] + view.ahead[0], view.centre[1] + view.ahead[1])
    kinds: set[tuple[Any, ...]] = {("seen", int(value)) for value in np.unique(board)}
    for t, one in enumerate(acted):
        action = int(np.ravel(one)[0])
        if t + 1 >= len(board) or not np.any(board[t] != board[t + 1]):
            continue
        if action == view.forward:
            kinds.add(("entered", int(board[t][front])))
        elif action not in view.turns:
            kinds.add(("ahead", int(board[t][front]), int(board[t + 1][front])))
            kinds.add(("held", int(board[t][view.centre]), int(board[t + 1][view.centre])))
    return kinds
