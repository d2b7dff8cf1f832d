"""Convert actions to the form that sampling from their space gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces

from promptpo.envs.spaces import AnySpace

ACTION_SEED_OFFSET = 1_000_000
"""Difference between the seed of an episode and that of its random actions."""


def seed_actions(space: AnySpace, seed: int) -> None:
    """Seed random actions, with an offset so that they are not correlated with the environment's own draws."""
    space.seed(ACTION_SEED_OFFSET + seed)


def converter_to(space: AnySpace) -> Callable[[Any], Any]:
    """Return a function that converts actions to the types and shapes that ``space.sample()`` gives.

    Arrays are copied, so that an environment may change them. Actions that do not fit are returned unchanged, and the
    environment reports them.
    """
    convert = _converter(space)

    def as_sampled(action: Any) -> Any:
        try:
            return convert(action)
        except (TypeError, ValueError, LookupError, OverflowError):
            return action

    return as_sampled


def _converter(space: AnySpace) -> Callable[[Any], Any]:
    if isinstance(space, spaces.Discrete):
        kind = np.dtype(space.dtype).type
        return lambda action: kind(action.item() if isinstance(action, np.ndarray) else action)
    if isinstance(space, spaces.Box) and np.dtype(space.dtype).kind in "iu":
        return lambda action: _as_integers(space, action)
    if isinstance(space, spaces.Box | spaces.MultiDiscrete | spaces.MultiBinary):
        dtype, shape = space.dtype, space.shape
        return lambda action: np.array(action, dtype).reshape(shape)
    if isinstance(space, spaces.Dict):
        parts = {key: _converter(part) for key, part in space.spaces.items()}
        return lambda action: {key: convert(action[key]) for key, convert in parts.items()}
    if isinstance(space, spaces.Tuple):
        items = [_converter(part) for part in space.spaces]
        return lambda action: tuple([convert(part) for convert, part in zip(items, action, strict=True)])
    return lambda action: action


def _as_integers(space: spaces.Box, action: Any) -> Any:
    """Convert an action to integers; floats, as from a network, are rounded and clipped to the bounds."""
    array = np.asarray(action)
    if array.dtype.kind == "f":
        bounds: Any = np.iinfo(str(np.dtype(space.dtype)))
        array = np.clip(np.rint(array), space.low.astype(float), space.high.astype(float))
        top = np.nextafter(float(bounds.max), 0.0) if float(bounds.max) > bounds.max else float(bounds.max)
        array = np.minimum(array, top)
    whole = np.array(array, space.dtype).reshape(space.shape)
    return whole if space.shape else whole[()]
