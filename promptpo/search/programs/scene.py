"""What an observation of whole numbers shows, found out from rollouts: places, targets, modes.

Nothing is taken from names or from an environment's id. A number that some actions raise and others lower is
a coordinate of the policy's own place; what is as long as the coordinate's range, or as large as a board's sides,
may hold targets; what takes few values is a mode.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.search.programs.leaves import Leaf
from promptpo.search.programs.view import View, find_view

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

FEW_VALUES = 8
"""A number with so many values or fewer is a mode that rules may ask for."""

AGREEING = 0.8
"""Where so much of an action's effect on a number is one and the same change, it is a move."""

MOVING = 0.15
"""It has to have that effect in such a share of the steps; elsewhere walls are in the way."""

COMMON = 0.2
"""What fills such a share of a board is its ground, not a target."""

MOST_TARGETS = 10


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number that an observation shows.

    Attributes:
        name: What programs call it.
        code: The expression that reads it.
        seen: Its values, episode by episode, each of T + 1 steps.
        low: Smallest value.
        high: Largest value.
        home: Leaf and index that it comes from.
    """

    name: str
    code: str
    seen: tuple[Numbers, ...]
    low: int
    high: int
    home: tuple[int, int] = (-1, -1)

    @property
    def values(self) -> tuple[int, ...]:
        """The values that were seen, in order."""
        return tuple(sorted({int(v) for part in self.seen for v in np.unique(part)}))


@dataclass(frozen=True, slots=True)
class Flags:
    """A row of flags.

    Attributes:
        name: What programs call it.
        code: The expression that reads it, a list of numbers.
        seen: Its values, episode by episode, (T + 1, n).
    """

    name: str
    code: str
    seen: tuple[Numbers, ...]

    @property
    def n(self) -> int:
        """How many there are."""
        return int(self.seen[0].shape[1])


@dataclass(frozen=True, slots=True)
class Board:
    """Rows and columns of one kind of whole number, or of several that are read as one.

    Attributes:
        name: What programs call it.
        code: The expression that reads it, an array of rows and columns.
        seen: Its values, episode by episode, (T + 1, rows, columns).
    """

    name: str
    code: str
    seen: tuple[Numbers, ...]

    leaf: int = 0

    def read(self, leaves: Sequence[Leaf], observations: Sequence[Any]) -> Numbers:
        """The same of other observations, (T, rows, columns)."""
        leaf = leaves[self.leaf]
        _, values = _whole(leaf, [np.stack([leaf.read(o) for o in observations])]) or ("", [])
        return next(b.seen[0] for b in _boards(leaf, "", values, self.leaf) if b.name == self.name)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return (int(self.seen[0].shape[1]), int(self.seen[0].shape[2]))


@dataclass(frozen=True, slots=True)
class Target:
    """Places where there may be something to do.

    Attributes:
        name: What programs call it.
        code: An expression for the list of its places, each a tuple of coordinates.
        means: In words.
        doubt: The less, the sooner it is tried.
    """

    name: str
    code: str
    means: str
    doubt: float = 0.0


@dataclass(frozen=True)
class Scene:
    """What is known of a task's observations and actions.

    Attributes:
        actions: All actions.
        numbers: Modes and other numbers, the place's own coordinates left out.
        place: Expression for the own place, a tuple; empty where none was found.
        moves: Action to the change of place.
        sizes: Number of values of each coordinate.
        lows: Smallest value of each coordinate.
        targets: Where to go.
        solid: Expression that is true of a place `p` which cannot be entered, by what was seen; empty for none.
        slips: Whether the same move from the same place sometimes fails.
        rows: Rows of flags, by name.
        view: How the board that is seen moves with the policy; None where none does.
        board: That board.
    """

    actions: tuple[Any, ...]
    numbers: tuple[Number, ...] = ()
    place: str = ""
    moves: Mapping[Any, tuple[int, ...]] = field(default_factory=dict)
    sizes: tuple[int, ...] = ()
    lows: tuple[int, ...] = ()
    targets: tuple[Target, ...] = ()
    solid: str = ""
    slips: bool = False
    rows: tuple[Flags, ...] = ()
    view: View | None = None
    board: Board | None = None

    @property
    def modes(self) -> tuple[Number, ...]:
        """The numbers with few values, of which more than one was seen."""
        spots = " ".join(target.code for target in self.targets)
        return tuple(
            n
            for n in self.numbers
            if 1 < len(n.values) <= (2 if n.code in spots and n.high > 1 else FEW_VALUES)
        )

    @property
    def acts(self) -> tuple[Any, ...]:
        """The actions that do not move."""
        moves = self.view.moves if self.view is not None else self.moves
        return tuple(action for action in self.actions if action not in moves)


@dataclass(frozen=True, slots=True)
class Seen:
    """Rollouts to learn from.

    Attributes:
        observations: Episode by episode, T + 1 each.
        actions: Episode by episode, T each.
    """

    observations: Sequence[Sequence[Any]]
    actions: Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class _Place:
    code: str
    seen: tuple[Numbers, ...]
    moves: Mapping[Any, tuple[int, ...]]
    sizes: tuple[int, ...]
    lows: tuple[int, ...]
    homes: tuple[tuple[int, int], ...] = ()
    board: Board | None = None
    columns: int = 0


def look(
    leaves: Sequence[Leaf], seen: Seen, actions: tuple[Any, ...], known: Scene | None = None
) -> Scene | None:
    """What the observations show; None where they are not of whole numbers.

    Args:
        leaves: The parts of an observation.
        seen: Rollouts.
        actions: All actions.
        known: What fewer rollouts have shown.
    """
    numbers: list[Number] = []
    rows: list[Flags] = []
    boards: list[Board] = []
    for at, leaf in enumerate(leaves):
        parts = [np.stack([leaf.read(o) for o in episode]) for episode in seen.observations]
        whole = _whole(leaf, parts)
        if whole is None:
            return None
        code, values = whole
        if len(leaf.shape) <= 1:
            some, flags = _split(leaf, at, code, values)
            numbers += some
            rows += flags
        else:
            boards += _boards(leaf, code, values, at)
    acted = [list(episode) for episode in seen.actions]
    place = _find_place(numbers, boards, acted, actions)
    for board in boards if place is None else ():
        before = known.view if known is not None and known.board and known.board.name == board.name else None
        view = find_view(board.seen, acted, actions, before)
        if view is not None:
            return _as_view(view, board, numbers, actions)
    if place is None:
        return Scene(actions, tuple(n for n in numbers if len(n.values) > 1), rows=tuple(rows))
    rows, loose = _aligned(rows, place)
    numbers = [n for n in [*numbers, *loose] if n.home not in place.homes or n.home == (-1, -1)]
    targets = _targets(numbers, rows, boards, place)
    return Scene(
        actions,
        tuple(n for n in numbers if len(n.values) > 1),
        place.code,
        place.moves,
        place.sizes,
        place.lows,
        tuple(targets[:MOST_TARGETS]),
        _solid(place, acted),
        _slips(place, acted),
        tuple(rows),
    )


def _as_view(view: View, board: Board, numbers: Sequence[Number], actions: tuple[Any, ...]) -> Scene:
    """A scene that is seen from the own place, on a map of the policy's own."""
    r, c = view.centre
    own = Number("held", f"int(board(obs)[{r}, {c}])", tuple(v[:, r, c] for v in board.seen), 0, 0)
    fr, fc = r + view.ahead[0], c + view.ahead[1]
    front = Number("front", f"int(board(obs)[{fr}, {fc}])", tuple(v[:, fr, fc] for v in board.seen), 0, 0)
    targets = [
        Target(f"thing_{value}", f"self.find(({value},))", f"that show {value}")
        for value in view.things[:MOST_TARGETS]
    ]
    targets.append(Target("new_things", "self.new()", "with things that rollouts had not shown"))
    return Scene(actions, (own, front, *numbers), targets=tuple(targets), view=view, board=board)


def _whole(leaf: Leaf, parts: list[NDArray[np.float64]]) -> tuple[str, list[Numbers]] | None:
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


def _split(
    leaf: Leaf, at: int, code: str, values: list[Numbers]
) -> tuple[list[Number], list[Flags]]:
    """A vector as numbers, positions of a single flag among others, and rows of flags."""
    if not leaf.shape:
        number = Number(leaf.name, f"int({code})", tuple(values), int(leaf.low[0]), _top(leaf, 0, values), (at, 0))
        return [number], []
    n, row = leaf.shape[0], f"np.ravel({code})"
    everything = np.concatenate(values)
    binary = [bool(np.all((everything[:, i] == 0) | (everything[:, i] == 1))) for i in range(n)]
    binary = [b and leaf.high[i] - leaf.low[i] <= max(1.0, np.median(leaf.high - leaf.low)) for i, b in enumerate(binary)]
    binary = [b and (leaf.high[i] <= 1 or np.ptp(leaf.high) == 0) for i, b in enumerate(binary)]
    numbers: list[Number] = []
    flags: list[Flags] = []
    lengths: set[int] = set()
    i = 0
    while i < n:
        if not binary[i]:
            part = tuple(v[:, i] for v in values)
            name = leaf.name if n == 1 else f"{leaf.name}{i}"
            numbers.append(Number(name, f"int({row}[{i}])", part, int(leaf.low[i]), _top(leaf, i, values), (at, i)))
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


def _boards(leaf: Leaf, code: str, values: list[Numbers], at: int) -> list[Board]:
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
    tops = [int(np.max(top[i] if first else top[:, :, i])) + 1 for i in range(n)]  # a number means the same later
    factors = [int(np.prod(tops[i + 1 :])) for i in range(n)]
    terms = [plane(i) if f == 1 else f"{f} * {plane(i)}.astype(int)" for i, f in enumerate(factors)]
    read = tuple(sum(f * v[:, i] for i, f in enumerate(factors)) for v in planes)
    return [Board(leaf.name, " + ".join(terms), read, at)]


def _find_place(
    numbers: Sequence[Number], boards: Sequence[Board], acted: Sequence[Sequence[Any]], actions: tuple[Any, ...]
) -> _Place | None:
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
                return _Place(code, at, moves, (rows, columns), (0, 0), board=board)
    steered = []
    for number in numbers:
        moves = _moves(tuple(v[:, None] for v in number.seen), acted, actions)
        if _opposite(moves) and number.high - number.low > 1:  # a flag is no coordinate
            steered.append((number, moves))
    if not steered:
        return None
    steered.sort(key=lambda one: -_mobility(one[0], acted, one[1]))  # what is carried moves too, but not always
    number, moves = steered[0]
    wide = sorted({abs(change[0]) for change in moves.values()})
    if len(wide) == 2 and wide[0] == 1:  # noqa: PLR2004 - one number for rows and columns
        k = wide[1]
        at = tuple(np.stack(divmod(v - number.low, k), axis=1) for v in number.seen)
        again = _moves(at, acted, actions)
        code = f"divmod({number.code} - {number.low}, {k})" if number.low else f"divmod({number.code}, {k})"
        sizes = (-(-(number.high - number.low + 1) // k), k)
        return _Place(code, at, again, sizes, (0, 0), (number.home,), columns=k)
    axes, used = [number], set(moves)
    for other, its in steered[1:]:
        if not used & set(its):
            axes.append(other)
            used |= set(its)
    axes.sort(key=lambda n: n.home)
    at = tuple(np.stack([n.seen[e] for n in axes], axis=1) for e in range(len(acted)))
    code = f"({''.join(f'{n.code}, ' for n in axes).strip()})"
    sizes, lows = tuple(n.high - n.low + 1 for n in axes), tuple(n.low for n in axes)
    return _Place(code, at, _moves(at, acted, actions), sizes, lows, tuple(n.home for n in axes))


def _moves(
    at: Sequence[Numbers], acted: Sequence[Sequence[Any]], actions: tuple[Any, ...]
) -> dict[Any, tuple[int, ...]]:
    """Action to the change of place that it makes, where it makes one."""
    changes: dict[Any, Counter[tuple[int, ...]]] = {action: Counter() for action in actions}
    for places, taken in zip(at, acted, strict=True):
        for t, action in enumerate(taken):
            if t + 1 < len(places):
                change = tuple(int(v) for v in places[t + 1] - places[t])
                changes.setdefault(_plain(action), Counter())[change] += 1
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
        if t + 1 < len(v) and _plain(action) in moves
    ]
    return float(np.mean(changed)) if changed else 0.0


def _plain(action: Any) -> Any:
    return int(np.ravel(action)[0])


def _opposite(moves: Mapping[Any, tuple[int, ...]]) -> bool:
    """Whether there is a way back: two moves that undo each other."""
    found = {change for change in moves.values()}
    return any(tuple(-v for v in change) in found for change in found)


def _aligned(rows: Sequence[Flags], place: _Place) -> tuple[list[Flags], list[Number]]:
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
        for o in sorted(taken):
            code = f"{row.code}[{o}:{o + n}]"
            cut.append(Flags(f"{row.name}_{o}", code, tuple(v[:, o : o + n] for v in row.seen)))
        for i in range(row.n):
            if not any(o <= i < o + n for o in taken):
                seen = tuple(v[:, i] for v in row.seen)
                loose.append(Number(f"{row.name}_{i}", f"int({row.code}[{i}])", seen, 0, 1))
    return cut, loose


def _fit(ends: Counter[tuple[int, int]], offset: int, n: int) -> float:
    """Which share of the flags that went out in a stretch belonged to the own place; 0 for fewer than two."""
    inside = {key: count for key, count in ends.items() if offset <= key[0] < offset + n}
    right = sum(count for (_, o), count in inside.items() if o == offset)
    return right / sum(inside.values()) if right > 1 else 0.0


def _index(at: Numbers, place: _Place) -> Numbers:
    moved = at - np.array(place.lows)
    return moved[:, 0] * place.sizes[1] + moved[:, 1] if len(place.sizes) == 2 else moved[:, 0]  # noqa: PLR2004


def _targets(
    numbers: Sequence[Number], rows: Sequence[Flags], boards: Sequence[Board], place: _Place
) -> list[Target]:
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


def _on_board(board: Board, place: _Place) -> list[Target]:
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


def _pairs(numbers: Sequence[Number], place: _Place) -> list[Target]:
    """Numbers of the same ranges as the place's coordinates, as far from each other in the observation."""
    if len(place.sizes) < 2 or place.columns:  # noqa: PLR2004
        return []
    found = []
    apart = place.homes[1][1] - place.homes[0][1] if place.homes and place.homes[0][0] == place.homes[1][0] else 1
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


def _solid(place: _Place, acted: Sequence[Sequence[Any]]) -> str:
    """What of a board was never entered although it was tried."""
    if place.board is None:
        return ""
    entered: Counter[int] = Counter()
    refused: Counter[int] = Counter()
    rows, columns = place.sizes
    for board, at, taken in zip(place.board.seen, place.seen, acted, strict=True):
        for t, action in enumerate(taken):
            change = place.moves.get(_plain(action))
            if change is None or t + 1 >= len(at):
                continue
            r, c = int(at[t][0]) + change[0], int(at[t][1]) + change[1]
            if 0 <= r < rows and 0 <= c < columns:
                value = int(board[t][r, c])
                (refused if tuple(at[t + 1]) == tuple(at[t]) else entered)[value] += 1
    solid = sorted(value for value, n in refused.items() if n >= 3 and not entered[value])  # noqa: PLR2004
    return f"({place.board.code})[p] in {tuple(solid)}" if solid else ""


def _slips(place: _Place, acted: Sequence[Sequence[Any]]) -> bool:
    """Whether a move that worked at a place later failed there, in the same episode, more than now and then."""
    failed = tried = 0
    for at, taken in zip(place.seen, acted, strict=True):
        worked: set[tuple[Any, ...]] = set()
        for t, action in enumerate(taken):
            change = place.moves.get(_plain(action))
            if change is None or t + 1 >= len(at):
                continue
            key = (*(int(v) for v in at[t]), _plain(action))
            moved = bool(np.any(at[t + 1] != at[t]))
            tried += key in worked
            failed += key in worked and not moved
            if moved:
                worked.add(key)
    return tried > 0 and failed > 0.05 * tried  # noqa: PLR2004
