"""What an observation of whole numbers shows: places, targets, modes; found out in `promptpo.search.programs.looking`.

Nothing is taken from names or from an environment's id. A number that some actions raise and others lower is
a coordinate of the policy's own place; what is as long as the coordinate's range, or as large as a board's sides,
may hold targets; what takes few values is a mode.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from promptpo.search.programs.view import View

    Numbers = NDArray[np.int64]

FEW_VALUES = 8
"""A number with so many values or fewer is a mode that rules may ask for."""


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
        hides: Whether the policy's own mark on a board hides what is under it.
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
    hides: bool = False
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
