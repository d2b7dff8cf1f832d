"""Which spaces a policy can be written for, and an action space as data that a run can record."""

from __future__ import annotations

import math
import string
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces

from promptpo.errors import UnsupportedSpaceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

AnySpace = spaces.Space[Any]

LEAVES = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary, spaces.Text)
TEXT_LENGTH = 256


def leaves(
    space: AnySpace, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], AnySpace]]:
    """Every space inside a nested one that is no container, with the keys and indices that lead to it."""
    if isinstance(space, spaces.Dict):
        for key, inner in space.spaces.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(space, spaces.Tuple):
        for index, inner in enumerate(space.spaces):
            yield from leaves(inner, (*path, index))
    else:
        yield path, space


def at(value: Any, path: Iterable[Any]) -> Any:
    """What is inside a value of a space, at these keys and indices."""
    for key in path:
        value = value[key]
    return value


def form_of(space: AnySpace) -> str:
    """What a value of a space looks like in Python."""
    if isinstance(space, spaces.Box):
        return f"np.ndarray, shape {space.shape}, {space.dtype}"
    if isinstance(space, spaces.Discrete):
        return f"int, {space.start} .. {space.start + space.n - 1}"
    if isinstance(space, spaces.MultiDiscrete):
        return f"np.ndarray of ints, shape {space.shape}"
    if isinstance(space, spaces.MultiBinary):
        return f"np.ndarray of zeros and ones, shape {space.shape}"
    if isinstance(space, spaces.Text):
        return "str"
    if isinstance(space, spaces.Dict) and all(isinstance(item, spaces.Box) for item in space.spaces.values()):
        shapes = ", ".join(f'"{key}" {item.shape}' for key, item in space.spaces.items())
        dtypes = {str(item.dtype) for item in space.spaces.values()}
        return f"dict of np.ndarray: {shapes}, {'/'.join(sorted(dtypes))}"
    if isinstance(space, spaces.Dict):
        return "dict with " + ", ".join(f'"{key}": {form_of(item)}' for key, item in space.spaces.items())
    if isinstance(space, spaces.Tuple):
        return "tuple of (" + "; ".join(form_of(item) for item in space.spaces) + ")"
    return type(space).__name__


def check_spaces(env: gymnasium.Env[Any, Any], name: str) -> None:
    """Refuse spaces that no policy can be written for.

    Raises:
        UnsupportedSpaceError: One sentence that names the space.
    """
    for role, space in (("observation", env.observation_space), ("action", env.action_space)):
        if not isinstance(space, spaces.Space):
            raise UnsupportedSpaceError(f"{name} has no {role} space: it must be one of gymnasium.spaces.")
        for path, leaf in leaves(space):
            if not isinstance(leaf, LEAVES):
                where = "".join(f"[{key!r}]" for key in path)
                raise UnsupportedSpaceError(
                    f"the {role} space of {name}{f' at {where}' if where else ''} is a "
                    f"{type(leaf).__name__}, which is not supported; wrap the environment to give a Box, "
                    "Discrete, MultiDiscrete, MultiBinary, Text, or a Dict or Tuple of them."
                )


def with_standard_spaces(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    """Declare string observations of packages' own space classes as `gymnasium.spaces.Text`."""
    standard = _standard(env.observation_space)
    if standard is env.observation_space:
        return env
    return gymnasium.wrappers.TransformObservation(env, _unchanged, standard)


def _unchanged(observation: Any) -> Any:
    return observation


def _standard(space: AnySpace) -> AnySpace:
    if isinstance(space, spaces.Dict):
        inner = {key: _standard(item) for key, item in space.spaces.items()}
        if all(inner[key] is space.spaces[key] for key in inner):
            return space
        return spaces.Dict(inner)
    if (
        isinstance(space, spaces.Space)
        and not isinstance(space, spaces.Text)
        and space.dtype is not None
        and space.dtype.kind == "U"
    ):
        return spaces.Text(TEXT_LENGTH, min_length=0, charset=string.printable)
    return space


def equal(a: Any, b: Any) -> bool:
    """Whether two observations are the same."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(equal, a, b))
    floats = all(isinstance(one, np.ndarray) and one.dtype.kind == "f" for one in (a, b))
    return bool(np.array_equal(a, b, equal_nan=floats))


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
