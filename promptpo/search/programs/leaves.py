"""Observations of small whole numbers, taken apart: which entries there are and how a policy reads them."""

from __future__ import annotations

import keyword
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.search.programs.features import subspaces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

MOST_CELLS = 1200
"""Arrays with more entries are pictures, not boards."""

MOST_LEVELS = 256

TAKEN = frozenset(
    [
        "obs",
        "self",
        "here",
        "goals",
        "action",
        "board",
        "place",
        "moved",
        "distance",
        "solid",
        "np",
        "math",
        "any",
        "sorted",
        "int",
        "tuple",
    ]
)
"""Names that programs use for themselves."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One array or number of an observation.

    Attributes:
        name: A word that programs may use for it.
        path: Keys that lead to it.
        shape: Its shape; () for a number.
        low: Smallest value of each entry, flat; of the seen ones where it is not bounded.
        high: Largest value of each entry, flat.
    """

    name: str
    path: tuple[Any, ...]
    shape: tuple[int, ...]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @property
    def code(self) -> str:
        """The expression that reads it."""
        return "obs" + "".join(f"[{key!r}]" for key in self.path)

    def read(self, observation: Any) -> NDArray[np.float64]:
        """Its value in one observation."""
        for key in self.path:
            observation = observation[key]
        return np.asarray(observation, dtype=float)


def leaves_of(space: spaces.Space[Any]) -> list[Leaf] | None:
    """The arrays and numbers of an observation that may be whole numbers all through; text is left out.

    Returns:
        None where an entry is not bounded by whole numbers, where there are too many, or where none is there.
    """
    found: list[Leaf] = []
    for path, part in _parts(space, ()):
        name = "_".join(map(_word, path)) or "seen"
        name = f"{name}_" if keyword.iskeyword(name) or name in TAKEN else name
        if isinstance(part, spaces.Discrete):
            low = np.array([float(part.start)])
            leaf = Leaf(name, path, (), low, low + float(part.n) - 1)
        elif isinstance(part, spaces.MultiDiscrete):
            start = np.ravel(part.start).astype(float)
            leaf = Leaf(name, path, part.nvec.shape, start, start + np.ravel(part.nvec) - 1)
        elif isinstance(part, spaces.MultiBinary):
            shape = tuple(part.shape)
            n = int(np.prod(shape))
            leaf = Leaf(name, path, shape, np.zeros(n), np.ones(n))
        elif isinstance(part, spaces.Box):
            low, high = np.ravel(part.low).astype(float), np.ravel(part.high).astype(float)
            whole = np.all(np.isfinite(low) & np.isfinite(high))
            if not whole or np.any(low != np.round(low)) or np.any(high != np.round(high)):
                return None
            leaf = Leaf(name, path, part.shape, low, high)
        else:
            return None
        if leaf.low.size > MOST_CELLS or np.any(leaf.high - leaf.low >= MOST_LEVELS):
            return None
        found.append(leaf)
    return found or None


def _parts(space: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(space, spaces.Dict | spaces.Tuple):
        keys = space.spaces if isinstance(space, spaces.Dict) else range(len(space.spaces))
        for key, part in zip(keys, subspaces(space), strict=True):
            yield from _parts(part, (*path, key))
    elif not isinstance(space, spaces.Text):
        yield path, space


def _word(key: object) -> str:
    word = "".join(c if c.isascii() and c.isalnum() else "_" for c in str(key).lower()).strip("_")
    return f"part{word}" if not word or word[0].isdigit() else word
