"""An action space as data that a run can record, so that its policy is exported without its environment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

MOST_VALUES = 1_000_000
"""Of a space that is read back."""


def recorded(space: gymnasium.Space[Any]) -> dict[str, Any]:
    """What an exported file needs to know of an action space, as a JSON value."""
    if isinstance(space, spaces.Discrete):
        return {"kind": "discrete", "n": int(space.n), "start": int(space.start)}
    if isinstance(space, spaces.Box):
        bounds = {"low": _bound(space.low), "high": _bound(space.high)}
        return {"kind": "box", "dtype": str(space.dtype), "shape": list(space.shape), **bounds}
    if isinstance(space, spaces.MultiDiscrete):
        nvec, start = np.asarray(space.nvec).tolist(), np.asarray(space.start).tolist()
        return {"kind": "multi_discrete", "dtype": str(space.dtype), "nvec": nvec, "start": start}
    if isinstance(space, spaces.MultiBinary):
        return {"kind": "multi_binary", "shape": list(space.shape)}
    return {"kind": "other"}


def space_of(data: Mapping[str, Any]) -> gymnasium.Space[Any]:
    """The space that `recorded` was given; an empty tuple of spaces for those that exporting does not look into.

    Raises:
        ValueError: It is no record of a space.
    """
    try:
        match data["kind"]:
            case "discrete":
                return spaces.Discrete(int(data["n"]), start=int(data["start"]))
            case "box":
                shape, dtype = _shape(data["shape"]), _dtype(data["dtype"])
                low, high = (
                    np.broadcast_to(np.asarray(data[name], np.float64).astype(dtype), shape).copy()
                    for name in ("low", "high")
                )
                return spaces.Box(low, high, shape, dtype.type)
            case "multi_discrete":
                nvec = np.asarray(data["nvec"], np.int64)
                return spaces.MultiDiscrete(nvec, _dtype(data["dtype"]).type, start=np.asarray(data["start"]))
            case "multi_binary":
                return spaces.MultiBinary(list(_shape(data["shape"])))
            case "other":
                return spaces.Tuple(())
    except (KeyError, TypeError, ValueError, AssertionError, OverflowError) as error:
        raise ValueError("this is no record of an action space") from error
    raise ValueError("this is no record of an action space")


def _shape(data: Any) -> tuple[int, ...]:
    """A shape of a bounded number of values, since a record may say anything.

    Raises:
        ValueError: It is none.
    """
    shape = tuple(map(int, data))
    if math.prod(map(abs, shape)) > MOST_VALUES:
        raise ValueError("too large")
    return shape


def _dtype(data: Any) -> np.dtype[Any]:
    dtype: np.dtype[Any] = np.dtype(data)
    if dtype.kind not in "biuf":
        raise ValueError("no numbers")
    return dtype


def _bound(bound: Any) -> Any:
    """Bounds of a box: one number where they are all the same."""
    values = bound.ravel()
    same = bool(values.size) and bool((values == values[0]).all())
    return values[0].item() if same else bound.tolist()
