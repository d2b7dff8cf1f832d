"""Gymnasium's spaces as plain layouts, and the conversion of their values at the border to the guest."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces

from promptpo_sandbox.errors import SpaceBorderError
from promptpo_sandbox.guest.actions import Layout, coerce, integral
from promptpo_sandbox.guest.plain import PlainDataError, decode, encode

if TYPE_CHECKING:
    from collections.abc import Hashable


@lru_cache(typed=True)
def plain_key(key: Hashable) -> Any:
    """Return a dict's key as a policy receives it: a member of ``IntEnum`` as its number, one of ``StrEnum`` as its text.

    Raises:
        SpaceBorderError: It cannot cross the border.
    """
    try:
        return decode(encode(key), trusted=True)
    except PlainDataError as error:
        raise SpaceBorderError(
            f"the key {key!r} of a Dict space is neither text nor a number; "
            "wrap the environment so that its keys are"
        ) from error


def layout_of(space: gymnasium.Space[Any]) -> Layout:
    """Return the layout of a space as plain data; see `promptpo_sandbox.guest.actions`.

    Raises:
        SpaceBorderError: The space is not supported.
    """
    if isinstance(space, spaces.Box):
        return ("box", _dtype_name(space), space.shape, space.low, space.high)
    if isinstance(space, spaces.Discrete):
        return ("discrete", int(space.n), int(space.start))
    if isinstance(space, spaces.MultiDiscrete):
        low = np.asarray(space.start, dtype=space.dtype)
        return ("box", _dtype_name(space), space.nvec.shape, low, low + space.nvec - 1)
    if isinstance(space, spaces.MultiBinary):
        zeros = np.zeros(space.shape, np.int8)
        return ("box", "|i1", space.shape, zeros, zeros + 1)
    if isinstance(space, spaces.Text):
        return ("text", space.min_length, space.max_length, "".join(sorted(space.character_set)))
    if isinstance(space, spaces.Dict):
        return ("dict", {plain_key(key): layout_of(item) for key, item in space.spaces.items()})
    if isinstance(space, spaces.Tuple):
        return ("tuple", [layout_of(item) for item in space.spaces])
    if isinstance(space, spaces.Sequence):
        return ("sequence", layout_of(space.feature_space), bool(space.stack))
    if isinstance(space, spaces.OneOf):
        return ("oneof", [layout_of(item) for item in space.spaces])
    raise SpaceBorderError(
        f"a {type(space).__name__} space cannot cross the sandbox's border; "
        "wrap the environment so that it uses Box, Discrete, Dict and the like"
    )


def _dtype_name(space: gymnasium.Space[Any]) -> str:
    dtype = np.dtype(space.dtype)
    if dtype.kind not in "biuf":
        raise SpaceBorderError(f"a space of dtype {dtype} cannot cross the sandbox's border")
    return dtype.str


def plain_observation(space: gymnasium.Space[Any], value: Any) -> Any:
    """Return a copy of an observation as the policy sees it.

    The value decides, since environments return dtypes and shapes that differ from their space. The space only says
    what kind of thing it is: an array for a box, an int for a discrete number, a dict, a tuple.
    """
    if isinstance(space, spaces.Dict) and isinstance(value, dict):
        inner = space.spaces
        return {
            plain_key(key): plain_observation(inner[key], item) if key in inner else _plain(item)
            for key, item in value.items()
        }
    if (
        isinstance(space, spaces.Tuple)
        and isinstance(value, (tuple, list))
        and len(value) == len(space.spaces)
    ):
        return tuple([plain_observation(part, item) for part, item in zip(space.spaces, value, strict=True)])
    if isinstance(space, spaces.Discrete):
        number = integral(value)
        return _plain(value) if number is None else number
    if isinstance(space, spaces.Sequence):
        if isinstance(value, np.ndarray):
            return value.copy()
        return tuple([plain_observation(space.feature_space, item) for item in value])
    if isinstance(space, spaces.Text):
        return str(value)
    if isinstance(space, spaces.OneOf):
        index = int(value[0])
        return index, plain_observation(space.spaces[index], value[1])
    if isinstance(space, spaces.Graph):
        layout_of(space)
    return np.array(value)


def _plain(value: Any) -> Any:
    """Return a copy of a value that its space does not describe."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {plain_key(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return tuple([_plain(item) for item in value])
    return value


def gym_action(space: gymnasium.Space[Any], layout: Layout, value: Any) -> Any:
    """Convert a decoded action of a space without a fixed layout to the form the environment's ``step`` expects.

    Raises:
        InvalidActionError: It is not an action of the space.
    """
    action = coerce(layout, value)
    return _as_sample(space, action)


def _as_sample(space: gymnasium.Space[Any], action: Any) -> Any:
    """Convert discrete numbers, in containers too, to the numpy integers that ``sample`` returns."""
    if isinstance(space, spaces.Discrete):
        return np.dtype(space.dtype).type(action)
    if isinstance(space, spaces.Dict):
        return {key: _as_sample(item, action[key]) for key, item in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple([_as_sample(item, part) for item, part in zip(space.spaces, action, strict=True)])
    if isinstance(space, spaces.Sequence) and not space.stack:
        return tuple([_as_sample(space.feature_space, part) for part in action])
    return action
