"""A codec for any environment with a Discrete action space and a small observation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from promptpo.errors import UnsupportedSpaceError
from promptpo_baselines.icpi.codecs.base import Codec

if TYPE_CHECKING:
    from promptpo_baselines.icpi.values import Obs

MAX_NUMBERS = 12
"""Observations with more numbers make prompts that hold too few examples."""
MAX_ACTIONS = 18


def generic_codec(
    observation_space: spaces.Space[Any], action_space: spaces.Space[Any], *, decimals: int = 2
) -> Codec:
    """Return a codec without hints: ``assert state == [0.02, -0.41]``, ``state, reward = action_1()``.

    Args:
        observation_space: Discrete, MultiDiscrete, MultiBinary, or a Box with one dimension.
        action_space: Discrete.
        decimals: Decimals that floating-point observations keep in the text.

    Raises:
        UnsupportedSpaceError: A space is of another kind, or too large.
    """
    check_spaces(observation_space, action_space)
    whole = np.issubdtype(observation_space.dtype or np.int64, np.integer)
    fields = ["{}" if whole else f"{{:.{decimals}f}}"] * math.prod(observation_space.shape or ())
    actions = [f"state, reward = action_{n}()" for n in range(int(action_space.n))]  # type: ignore[attr-defined] # checked: Discrete
    return Codec(f"state == [{', '.join(fields)}]", actions)


def check_spaces(observation_space: spaces.Space[Any], action_space: spaces.Space[Any]) -> None:
    """Check that `generic_codec` can write these spaces.

    Raises:
        UnsupportedSpaceError: It cannot; the message says which space, and what it needs.
    """
    if not isinstance(action_space, spaces.Discrete) or action_space.n > MAX_ACTIONS:
        raise UnsupportedSpaceError(
            f"ICPI compares all actions one by one, so it needs a Discrete action space with at most "
            f"{MAX_ACTIONS} actions, not {action_space}."
        )
    small = isinstance(observation_space, (spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)) or (
        isinstance(observation_space, spaces.Box) and len(observation_space.shape) == 1
    )
    numbers = math.prod(observation_space.shape or ())
    if not small or numbers > MAX_NUMBERS:
        raise UnsupportedSpaceError(
            f"ICPI writes observations as text, so it needs Discrete, MultiDiscrete or a flat Box of at most "
            f"{MAX_NUMBERS} numbers, not {observation_space}."
        )


def flatten(obs: Any) -> Obs:
    """Return an observation as a flat tuple of Python numbers."""
    return tuple(np.asarray(obs).ravel().tolist())
