"""Name every part of a space, from its documentation or by index."""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.envs.spaces import key_expression, leaves, path_expression, tuple_expression
from promptpo.spec.documentation import names_in
from promptpo.spec.parts import ActionValue, Field, identifier, unique
from promptpo.spec.paths import follow, is_path, limits

if TYPE_CHECKING:
    from promptpo.envs.spaces import AnySpace

MAX_LISTED = 40
"""Number of undocumented numbers up to which each is listed; further arrays are described as a whole."""

NO_BOUND = 1e30
"""Magnitude above which a bound, such as float32's maximum, means unbounded."""


def example_of(space: AnySpace) -> str:
    """Return Python source for the valid action nearest to zero."""
    if isinstance(space, spaces.Dict):
        return (
            "{"
            + ", ".join(f"{key_expression(key)}: {example_of(item)}" for key, item in space.spaces.items())
            + "}"
        )
    if isinstance(space, spaces.Tuple):
        return tuple_expression([example_of(item) for item in space.spaces])
    if isinstance(space, spaces.Text):
        return repr(next(iter(sorted(space.character_set)), "") * space.min_length)
    values = np.clip(0, *limits(space)).astype(space.dtype)
    kind = f"dtype=np.{space.dtype})"
    if isinstance(space, spaces.Discrete):
        return str(values)
    return f"np.array({values.tolist()}, {kind}" if values.any() else f"np.zeros({space.shape}, {kind}"


def fields_of(root: str, space: AnySpace, docs: str, values: Sequence[Any] = ()) -> list[Field]:
    """Return the named parts of a space.

    Args:
        root: The name of the whole value: "obs" or "action".
        space: The space.
        docs: The environment's documentation.
        values: Observed values.
    """
    subject, found = {"obs": "observation"}.get(root, root), list[tuple[str, Field]]()
    for keys, leaf in leaves(space):
        key = "_".join(map(str, keys if isinstance((*keys, "")[0], str) else ("part", *keys)))
        n = leaf.shape[0] if leaf.shape is not None and len(leaf.shape) == 1 else 0
        n = 0 if n in getattr(leaf, "nvec", ()) else n  # the documentation may number a part's values instead
        items = _leaf(
            path_expression(root, keys), key, leaf, names_in(docs, subject, n, key), MAX_LISTED - len(found)
        )
        found += [(identifier(key), item) for item in items]
    often = Counter(item.name for _, item in found)
    names = unique([f"{k}_{item.name}" if k and often[item.name] > 1 else item.name for k, item in found])
    named = (replace(item, name=name) for (_, item), name in zip(found, names, strict=True))
    return [with_range(item, space, values) for item in named]


def _leaf(path: str, key: str, space: AnySpace, names: Mapping[int, str], most: int) -> Iterator[Field]:
    """Yield the fields of a leaf space: one per number for a flat array, else one for the whole value."""
    shape, name = space.shape or (), identifier(key)
    if isinstance(space, spaces.Text):
        yield Field(name or "text", path, form="str")
    elif len(shape) != 1 or shape == (0,):
        form = f"{space.dtype} array of shape {shape}" if shape else ""
        fallback = "image" if form and space.dtype == np.uint8 else "array" if form else "value"
        yield Field(name or fallback, path, form=form)
    else:
        start = len(names)
        yield from (Field(identifier(names[i]) or f"x_{i}", f"{path}[{i}]") for i in range(start))
        if shape[0] - start > max(1, most - start):
            part = f"{path}[{start}:]" if start else path
            yield Field(name or "values", part, form=f"{shape[0] - start} numbers")
            return
        name = name or ("a" if path.startswith("action") else "x")
        for i in range(start, shape[0]):
            yield Field(name if key and shape[0] == 1 else f"{name}_{i}", f"{path}[{i}]")


def choices_of(space: spaces.Discrete, docs: str) -> list[ActionValue]:
    """Return the values of a discrete action with their documented names; empty if there are none."""
    names = names_in(docs, "action", int(space.n))
    if len(names) < space.n or space.start != 0:
        return []
    called = unique([identifier(name).upper() or f"ACTION_{n}" for n, name in names.items()])
    return [ActionValue(name, n) for n, name in zip(names, called, strict=True)]


def with_range(item: Field, space: AnySpace, values: Sequence[Any]) -> Field:
    """Add declared bounds and observed range to a field.

    Args:
        item: The field.
        space: The space of the whole value.
        values: Observed whole values.
    """
    expression = ast.parse(item.path, mode="eval").body
    if not is_path(expression):
        return item
    bounds = [follow(expression, limit) for limit in limits(space)]
    if bounds[0] is None or isinstance(bounds[0], dict | tuple):
        return item
    declared = _range(bounds)
    if declared is not None and not np.isfinite(declared).any():
        declared = None
    return replace(item, declared=declared, seen=_range([follow(expression, value) for value in values]))


def _range(values: Sequence[Any]) -> tuple[float, float] | None:
    """Return the smallest and largest number, infinite beyond `NO_BOUND`; None if there is none, or any is NaN."""
    numbers = np.concatenate([*map(np.ravel, values), ()]).astype(float)
    if not numbers.size or np.isnan(numbers).any():
        return None
    ends = numbers.min(), numbers.max()
    least, most = (math.copysign(math.inf, n) if abs(n) > NO_BOUND else n for n in ends)
    return float(least), float(most)
