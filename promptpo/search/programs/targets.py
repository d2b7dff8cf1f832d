"""Where there may be something to do."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from promptpo.search.programs.scene import FEW_VALUES, Board, Flags, Number, Target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptpo.search.programs.places import Place

COMMON = 0.2
"""What fills such a share of a board is its ground, not a target."""


def targets_in(
    numbers: Sequence[Number], rows: Sequence[Flags], boards: Sequence[Board], place: Place
) -> list[Target]:
    """Set flags in rows as long as there are places, rare things on boards, and what other numbers point at."""
    found: list[Target] = []
    flat = len(place.sizes) == 1
    n = int(np.prod(place.sizes))
    for row in rows:
        if row.n == n:
            spot = f"(i + {place.lows[0]},)" if place.lows[0] else "(i,)"
            spot = spot if flat else f"divmod(i, {place.sizes[1]})"
            code = f"[{spot} for i, on in enumerate({row.code}) if on]"
            found.append(Target(row.name, code, f"where a flag of {row.name} is set"))
    if len(found) > 1:
        names = " + ".join(f"goals_{target.name}(obs)" for target in found)
        found.append(Target("any_flag", names, "where any flag is set"))
    for board in boards:
        if len(place.sizes) == 2 and board.shape == place.sizes:  # noqa: PLR2004
            found += _on_board(board, place)
    if place.columns or (place.board is not None and place.sizes[1:]):
        for number in numbers:
            if number.high - number.low + 1 in {n, n + 1} and len(number.values) > FEW_VALUES // 2:
                code = f"[divmod({number.code} - {number.low}, {place.sizes[1]})]"
                found.append(Target(f"at_{number.name}", code, f"where {number.name} says"))
    elif flat:
        found += [
            Target(f"at_{number.name}", f"[({number.code},)]", f"where {number.name} says")
            for number in numbers
            if number.low == place.lows[0] and abs(number.high - number.low + 1 - n) <= 1
        ]
    found += _pairs(numbers, place)
    return sorted(found, key=lambda target: target.doubt)


def _on_board(board: Board, place: Place) -> list[Target]:
    """One target for each value that is on a board now and then, in few cells."""
    found = []
    everything = np.concatenate(board.seen)
    own = set()
    if place.board is board:
        for v, at in zip(board.seen, place.seen, strict=True):
            own |= {int(x) for x in np.unique(v[np.arange(len(v)), at[:, 0], at[:, 1]])}
    for value in np.unique(everything):
        share = float(np.mean(everything == value))
        if int(value) in own or share > COMMON or share == 0.0:
            continue
        name = f"{board.name}_{int(value)}"
        code = f"[(int(r), int(c)) for r, c in np.argwhere(({board.code}) == {int(value)})]"
        found.append(Target(name, code, f"where {board.name} shows {int(value)}", share))
    return found


def _pairs(numbers: Sequence[Number], place: Place) -> list[Target]:
    """Numbers of the same ranges as the place's coordinates, as far from each other in the observation."""
    if len(place.sizes) < 2 or place.columns:  # noqa: PLR2004
        return []
    found = []
    apart = (
        place.homes[1][1] - place.homes[0][1] if place.homes and place.homes[0][0] == place.homes[1][0] else 1
    )
    for one, other in itertools.permutations(numbers, 2):
        same = one.home[0] == other.home[0] >= 0
        near = same and other.home[1] - one.home[1] == apart
        beside = not same and one.home[1] == other.home[1] == 0 and other.home[0] - one.home[0] == 1
        sizes = (one.high - one.low + 1, other.high - other.low + 1)
        if (near or beside) and sizes == place.sizes and (one.low, other.low) == place.lows:
            name = f"at_{one.name}_{other.name}"
            doubt = (one.home[1] - place.homes[0][1]) % 2 if near else float(beside and near)
            means = f"where {one.name} and {other.name} say"
            found.append(Target(name, f"[({one.code}, {other.code})]", means, doubt))
    return found
