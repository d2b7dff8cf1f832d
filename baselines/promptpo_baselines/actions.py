"""Conversion between actions of environments and actions of stable-baselines3's networks."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from promptpo.envs.spaces import AnySpace


def count_from_zero(space: AnySpace) -> AnySpace:
    """Return the space with its choices counted from 0."""
    if isinstance(space, spaces.Discrete) and space.start != 0:
        return spaces.Discrete(int(space.n))
    if isinstance(space, spaces.MultiDiscrete) and np.any(space.start):
        return spaces.MultiDiscrete(space.nvec, dtype=space.dtype)
    return space


def from_zero(space: AnySpace, action: Any) -> Any:
    """Convert an action of `count_from_zero(space)` to one of the space."""
    return action + space.start if isinstance(space, spaces.Discrete | spaces.MultiDiscrete) else action


def to_zero(space: AnySpace, value: Any) -> Any:
    """Convert a value of the space to one of `count_from_zero(space)`."""
    return value if count_from_zero(space) is space else value - space.start  # type: ignore[attr-defined]


def zero_action(space: AnySpace) -> Any:
    """Return the action of a space that is nearest to zero in each of its numbers."""
    if isinstance(space, spaces.Dict):
        return {name: zero_action(part) for name, part in space.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(zero_action(part) for part in space)
    if isinstance(space, spaces.Discrete):
        return np.dtype(space.dtype).type(min(max(0, int(space.start)), int(space.start + space.n) - 1))
    zero = np.zeros(space.shape or (), space.dtype)
    if isinstance(space, spaces.Box):
        return np.clip(zero, space.low, space.high)
    if isinstance(space, spaces.MultiDiscrete):
        return np.clip(zero, space.start, space.start + space.nvec - 1)
    return zero
