"""Observations as rows of numbers with names, whatever their space."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
        name: Its place, such as ``obs[2]`` or ``obs['goal'][0]``.
        discrete: Whether it is one of a few values, so that being near is no use.
    """

    name: str
    discrete: bool


def quantities(space: spaces.Space[Any]) -> list[Quantity] | None:
    """The numbers of an observation in the order of `rows`; None where it has no fixed number, or too many."""
    try:
        found = list(_quantities(space, "obs"))
    except TypeError:
        return None
    return found if 0 < len(found) <= MOST_QUANTITIES else None


def _quantities(space: Any, path: str) -> Iterator[Quantity]:
    if isinstance(space, spaces.Discrete):
        yield Quantity(path, discrete=True)
    elif isinstance(space, spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary):
        if int(np.prod(space.shape)) > MOST_QUANTITIES:
            raise TypeError
        discrete = not np.issubdtype(space.dtype or float, np.floating)
        for index in np.ndindex(*space.shape):
            yield Quantity(f"{path}[{', '.join(map(str, index))}]" if index else path, discrete)
    elif isinstance(space, spaces.Dict):
        for key, item in space.spaces.items():
            yield from _quantities(item, f"{path}[{key!r}]")
    elif isinstance(space, spaces.Tuple):
        for place, item in enumerate(space.spaces):
            yield from _quantities(item, f"{path}[{place}]")
    else:
        raise TypeError


def rows(space: spaces.Space[Any], observations: Any) -> np.ndarray[Any, Any]:
    """Observations as an array of floats, one row each and one column for each of `quantities`."""
    if isinstance(observations, np.ndarray):
        return observations.reshape(len(observations), -1).astype(float)
    return np.array([list(_numbers(space, value)) for value in observations], dtype=float)


def _numbers(space: Any, value: Any) -> Iterator[float]:
    if isinstance(space, spaces.Dict):
        for key, item in space.spaces.items():
            yield from _numbers(item, value[key])
    elif isinstance(space, spaces.Tuple):
        for item, part in zip(space.spaces, value, strict=True):
            yield from _numbers(item, part)
    else:
        yield from np.ravel(np.asarray(value, float)).tolist()


def joined(parts: Sequence[Any]) -> Any:
    """Observations or actions of several episodes one after another, in their layout."""
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    return [value for part in parts for value in part]
