"""Handle observation and action spaces: supported kinds, traversal, bounds, and a form for recording."""

from __future__ import annotations

import contextlib
import json
import string
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces

from promptpo.envs.notes import note_once
from promptpo.errors import UnsupportedSpaceError
from promptpo_sandbox.errors import SpaceBorderError
from promptpo_sandbox.spaces import plain_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

AnySpace = spaces.Space[Any]

LEAVES = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary, spaces.Text)
TEXT_LENGTH = 256
LARGE_OBSERVATION_MEGABYTES = 1.0
"""Size of an observation above which the user is warned that everything is slow."""


def leaves(
    space: AnySpace, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], AnySpace]]:
    """Yield the spaces inside nested Dict and Tuple spaces, each with the keys and indices that lead to it.

    Raises:
        UnsupportedSpaceError: A key cannot be passed to a policy.
    """
    if isinstance(space, spaces.Dict):
        for key, inner in space.spaces.items():
            try:
                yield from leaves(inner, (*path, plain_key(key)))
            except SpaceBorderError as error:
                raise UnsupportedSpaceError(f"{error}.") from error
    elif isinstance(space, spaces.Tuple):
        for index, inner in enumerate(space.spaces):
            yield from leaves(inner, (*path, index))
    else:
        yield path, space


def path_expression(root: str, keys: Iterable[str | int]) -> str:
    """Return the Python expression for a part of a value, such as ``obs["goal"][0]``."""
    return root + "".join(f"[{key_expression(key)}]" for key in keys)


def key_expression(key: Any) -> str:
    """Return the Python literal for a key of a dict."""
    plain = plain_key(key)
    return json.dumps(plain) if isinstance(plain, str) else repr(plain)


def tuple_expression(parts: Sequence[str]) -> str:
    """Return the Python source of a tuple of expressions, as ``repr`` writes it."""
    return f"({', '.join(parts)}{',' * (len(parts) == 1)})"


def at(value: Any, path: Iterable[Any]) -> Any:
    """Return the value at a path of keys and indices inside a value of a space."""
    for key in path:
        value = value[key]
    return value


def form_of(space: AnySpace) -> str:
    """Describe the Python form of a space's values."""
    match space:
        case spaces.Box():
            return f"np.ndarray, shape {space.shape}, {space.dtype}"
        case spaces.Discrete():
            return f"int, {space.start} .. {space.start + space.n - 1}"
        case spaces.MultiDiscrete():
            return f"np.ndarray of ints, shape {space.shape}"
        case spaces.MultiBinary():
            return f"np.ndarray of zeros and ones, shape {space.shape}"
        case spaces.Text():
            return "str"
        case spaces.Dict():
            items = (f"{key_expression(key)}: {form_of(item)}" for key, item in space.items())
            return f"dict with {', '.join(items) or 'nothing'}"
        case spaces.Tuple():
            return f"tuple of ({'; '.join(map(form_of, space))})"
    return type(space).__name__


def as_array(value: Any) -> Any:
    """Convert a list of numbers to an array; return anything else unchanged."""
    if isinstance(value, list):
        with contextlib.suppress(ValueError):  # rows of different lengths
            array = np.array(value)
            return array if array.dtype.kind in "biuf" else value
    return value


def check_spaces(env: gymnasium.Env[Any, Any], name: str) -> None:
    """Refuse spaces that policies cannot handle.

    Raises:
        UnsupportedSpaceError: A space is missing or not supported.
    """
    for role, space in (("observation", env.observation_space), ("action", env.action_space)):
        if not isinstance(space, spaces.Space):
            raise UnsupportedSpaceError(f"{name} has no {role} space: it must be one of gymnasium.spaces.")
        for path, leaf in leaves(space):
            if not isinstance(leaf, LEAVES):
                where = path_expression("", path)
                raise UnsupportedSpaceError(
                    f"the {role} space of {name}{f' at {where}' if where else ''} is a "
                    f"{type(leaf).__name__}, which is not supported; wrap the environment to give a Box, "
                    "Discrete, MultiDiscrete, MultiBinary, Text, or a Dict or Tuple of them."
                )
    megabytes = (
        sum(
            np.prod(leaf.shape) * leaf.dtype.itemsize
            for _, leaf in leaves(env.observation_space)
            if isinstance(leaf, spaces.Box)
        )
        / 1e6
    )
    if megabytes > LARGE_OBSERVATION_MEGABYTES:
        note_once(
            f"observations of {name}",
            f"an observation of {name} takes {megabytes:.0f} MB, which makes everything slow; use a wrapper that shrinks it.",
        )


def with_standard_spaces(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    """Declare string observations of packages' own space classes as `gymnasium.spaces.Text`."""
    space = env.observation_space
    if not any(_holds_strings(leaf) for _, leaf in leaves(space)):
        return env
    return gymnasium.wrappers.TransformObservation(env, lambda observation: observation, _standard(space))


def _holds_strings(space: AnySpace) -> bool:
    """Return whether a space is a package's own class of string spaces."""
    return not isinstance(space, spaces.Text) and getattr(getattr(space, "dtype", None), "kind", "") == "U"


def _standard(space: AnySpace) -> AnySpace:
    if isinstance(space, spaces.Dict):
        return spaces.Dict({key: _standard(item) for key, item in space.items()})
    if _holds_strings(space):
        return spaces.Text(TEXT_LENGTH, min_length=0, charset=string.printable)
    return space


def equal(a: Any, b: Any) -> bool:
    """Return whether two observations are equal."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(equal, a, b))
    floats = all(isinstance(value, np.ndarray) and value.dtype.kind == "f" for value in (a, b))
    return bool(np.array_equal(a, b, equal_nan=floats))


def space_as_json(space: AnySpace) -> dict[str, Any]:
    """Return an action space as a JSON value for an exported file; arrays of any kind become a box."""
    if isinstance(space, spaces.Discrete):
        return {"kind": "discrete", "n": int(space.n), "start": int(space.start)}
    low, high = ends(space)
    if low is None:
        return {"kind": "other"}
    return {"kind": "box", "dtype": str(space.dtype), "low": low.tolist(), "high": high.tolist()}


def ends(space: AnySpace) -> tuple[Any, Any]:
    """Return the lower and upper bounds of a numeric leaf space; (None, None) for any other."""
    match space:
        case spaces.Box():
            return space.low, space.high
        case spaces.Discrete():
            return np.array(space.start), np.array(space.start + space.n - 1)
        case spaces.MultiDiscrete():
            return space.start, space.start + space.nvec - 1
        case spaces.MultiBinary():
            return np.zeros(space.shape, int), np.ones(space.shape, int)
    return None, None
