"""Spaces and their values as Python expressions, for modules that stand by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces


def flat_bounds(space: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The least and the most of each number of a value, in the order of `promptpo.world.numbers.rows`."""
    if isinstance(space, spaces.Box):
        return space.low.ravel().astype(float), space.high.ravel().astype(float)
    if isinstance(space, spaces.Discrete):
        return np.array([float(space.start)]), np.array([float(space.start + space.n - 1)])
    if isinstance(space, spaces.MultiDiscrete):
        start = np.ravel(space.start).astype(float)
        return start, start + np.ravel(space.nvec) - 1.0
    if isinstance(space, spaces.MultiBinary):
        size = int(np.prod(space.shape))
        return np.zeros(size), np.ones(size)
    parts = [flat_bounds(part) for part in _parts(space)]
    return np.concatenate([low for low, _ in parts]), np.concatenate([high for _, high in parts])


def flattened(space: Any, path: str) -> str:
    """An expression for the numbers of a value, one after another, as something to iterate over."""
    if isinstance(space, spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary):
        return path if len(space.shape) == 1 else f"np.ravel({path})"
    return f"[{', '.join(_terms(space, path))}]"


def _terms(space: Any, path: str) -> list[str]:
    if isinstance(space, spaces.Discrete):
        return [path]
    if isinstance(space, spaces.Dict):
        return [term for key, part in space.spaces.items() for term in _terms(part, f"{path}[{key!r}]")]
    if isinstance(space, spaces.Tuple):
        return [term for i, part in enumerate(space.spaces) for term in _terms(part, f"{path}[{i}]")]
    return [f"*{flattened(space, path)}"]


def assembled(space: Any, name: str) -> str:
    """An expression for the value whose numbers are the items of a tuple of a name."""
    if isinstance(space, spaces.Box) and len(space.shape) == 1:
        return _array(space, name)
    return _value(space, name, 0)[0]


def _value(space: Any, name: str, first: int) -> tuple[str, int]:
    """The expression, and where the value's numbers end."""
    if isinstance(space, spaces.Discrete):
        return f"int({name}[{first}])", first + 1
    if isinstance(space, spaces.Dict | spaces.Tuple):
        found = []
        for part in _parts(space):
            text, first = _value(part, name, first)
            found.append(text)
        if isinstance(space, spaces.Tuple):
            return f"({''.join(f'{text}, ' for text in found).strip()})", first
        return (
            "{" + ", ".join(f"{key!r}: {text}" for key, text in zip(space.spaces, found, strict=True)) + "}",
            first,
        )
    last = first + int(np.prod(space.shape))
    shaped = "" if len(space.shape) == 1 else f".reshape({tuple(space.shape)})"
    return f"{_array(space, f'{name}[{first}:{last}]')}{shaped}", last


def _array(space: Any, values: str) -> str:
    return f"np.array({values}, dtype=np.{np.dtype(space.dtype or np.int8).name})"


def restored(space: Any, path: str) -> str:
    """An expression for a value that was kept as plain data, see `plain`."""
    if isinstance(space, spaces.Discrete):
        return f"int({path})"
    if isinstance(space, spaces.Dict):
        items = (f"{key!r}: {restored(part, f'{path}[{key!r}]')}" for key, part in space.spaces.items())
        return "{" + ", ".join(items) + "}"
    if isinstance(space, spaces.Tuple):
        items = (f"{restored(part, f'{path}[{i}]')}, " for i, part in enumerate(space.spaces))
        return f"({''.join(items).strip()})"
    return _array(space, path)


def plain(value: Any) -> Any:
    """An observation as a JSON value; None for texts and the like."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
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
        nvec, start = np.asarray(space.nvec).tolist(), np.asarray(space.start).tolist()
        return (
            f"spaces.MultiDiscrete({nvec}, dtype=np.{np.dtype(space.dtype or np.int64).name}, start={start})"
        )
    if isinstance(space, spaces.MultiBinary):
        return f"spaces.MultiBinary({space.n if isinstance(space.n, int) else list(space.shape)})"
    if isinstance(space, spaces.Dict | spaces.Tuple):
        found = [expression(part) for part in _parts(space)]
        if not all(found):
            return ""
        if isinstance(space, spaces.Tuple):
            return f"spaces.Tuple([{', '.join(found)}])"
        pairs = zip(space.spaces, found, strict=True)
        return "spaces.Dict({" + ", ".join(f"{key!r}: {text}" for key, text in pairs) + "})"
    return ""


def _bound(bound: Any) -> str:
    """Bounds of a box: one number where they are all the same."""
    values = bound.ravel()
    same = bool(values.size) and bool((values == values[0]).all())
    return repr(values[0].item() if same else bound.tolist()).replace("inf", "np.inf")


def _parts(space: Any) -> list[Any]:
    return list(space.spaces.values() if isinstance(space, spaces.Dict) else space.spaces)
