"""Spaces and their values as Python expressions, for modules that stand by themselves; of arrays and single numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces


def restored(space: Any, name: str) -> str:
    """An expression for a value that was kept as plain data, see `plain`; empty for one that is not written down."""
    if isinstance(space, spaces.Discrete):
        return f"int({name})"
    kind = getattr(space, "dtype", None)
    return f"np.array({name}, dtype=np.{np.dtype(kind).name})" if kind is not None else ""


def plain(value: Any) -> Any:
    """An observation as a JSON value; None for texts, dictionaries and the like."""
    return np.asarray(value).tolist() if isinstance(value, int | np.integer | np.ndarray) else None


def expression(space: Any) -> str:
    """The expression that makes a space, with ``np`` and ``spaces``; empty for one that is not written down."""
    if isinstance(space, spaces.Discrete):
        return f"spaces.Discrete({int(space.n)}, start={int(space.start)})"
    if isinstance(space, spaces.Box):
        low, high = (f"np.array({_bound(bound)})" for bound in (space.low, space.high))
        kind, shape = f"np.{np.dtype(space.dtype or float).name}", tuple(space.shape)
        both = (f"np.broadcast_to({bound}, {shape}).astype({kind})" for bound in (low, high))
        return f"spaces.Box({', '.join(both)}, dtype={kind})"
    if isinstance(space, spaces.MultiDiscrete):
        kind, start = np.dtype(space.dtype or np.int64).name, np.asarray(space.start).tolist()
        return f"spaces.MultiDiscrete({np.asarray(space.nvec).tolist()}, dtype=np.{kind}, start={start})"
    return ""


def _bound(bound: Any) -> str:
    """Bounds of a box: one number where they are all the same."""
    values = bound.ravel()
    same = bool(values.size) and bool((values == values[0]).all())
    return repr(values[0].item() if same else bound.tolist()).replace("inf", "np.inf")
