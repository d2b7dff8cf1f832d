"""Which spaces a policy can be written for."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any

import gymnasium
from gymnasium import spaces

from promptpo.errors import UnsupportedSpaceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
