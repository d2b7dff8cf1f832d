"""Observations as rows of numbers with names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

MOST_QUANTITIES = 400
"""Wider observations are pictures, and no numbers with meanings of their own."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number of an observation.

    Attributes:
        name: Its place, such as ``obs[2]``.
        discrete: Whether it is one of a few values, so that being near is no use.
    """

    name: str
    discrete: bool


def quantities(space: spaces.Space[Any]) -> list[Quantity] | None:
    """The numbers of an observation in the order of `rows`; None where it is no array of numbers, or of too many."""
    if isinstance(space, spaces.Discrete):
        return [Quantity("obs", discrete=True)]
    known = isinstance(space, spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary)
    shape = tuple(space.shape or ()) if known else ()
    if not 0 < int(np.prod(shape or (0,))) <= MOST_QUANTITIES:
        return None
    discrete = not np.issubdtype(space.dtype or float, np.floating)
    return [Quantity(f"obs[{', '.join(map(str, place))}]", discrete) for place in np.ndindex(*shape)]


def rows(observations: Any) -> np.ndarray[Any, Any]:
    """Observations as an array of floats, one row each and one column for each of `quantities`."""
    return np.asarray(observations, dtype=float).reshape(len(observations), -1)
