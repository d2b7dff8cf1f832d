"""Write a trained network as the source of a policy that needs only numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from promptpo_sandbox.simulators import Array

DIGITS = 4
"""Significant digits of a weight."""

MAX_OBSERVATION = 10.0
"""Standard deviations at which normalised observations are clipped."""

_BOX = """        action = ((MIDDLE + HALF * np.clip(x.T, -1.0, 1.0)).T)
        return action.astype(np.{dtype}).reshape({shape} + action.shape[1:])
"""

_DISCRETE = """        return np.argmax(x, axis=0) + {start}
"""

_MODULE = '''"""A network of two layers of {units}, trained in a simulator."""
import numpy as np

{arrays}

class Policy:
    def act(self, obs):
        x = np.clip((({inputs}.T - MEAN) * SCALE).T, -{clip:g}, {clip:g})
        x = np.tanh(((W1 @ x).T + B1).T)
        x = np.tanh(((W2 @ x).T + B2).T)
        x = ((W3 @ x).T + B3).T
{output}'''


def network_policy(
    parameters: Sequence[Array], mean: Array, scale: Array, observation_space: Any, action_space: Any
) -> str:
    """Return the module of a policy that acts by a network, on one observation or on a batch of lanes.

    Args:
        parameters: Weights, of shape (input, output), and biases of three layers.
        mean: Mean of the observations, which is subtracted.
        scale: Factors for centred observations.
        observation_space: The task's observation space.
        action_space: The task's action space.
    """
    named = {"MEAN": mean, "SCALE": scale}
    for i in range(0, len(parameters), 2):
        named[f"W{i // 2 + 1}"], named[f"B{i // 2 + 1}"] = parameters[i].T, parameters[i + 1]
    if isinstance(observation_space, spaces.Discrete):
        inputs = f"np.eye({int(observation_space.n)})[np.asarray(obs) - {int(observation_space.start)}].T"
    else:
        size = int(np.prod(observation_space.shape or (1,)))
        axes = len(observation_space.shape or ())
        inputs = f"np.reshape(obs, ({size},) + np.shape(obs)[{axes}:])"
    if isinstance(action_space, spaces.Discrete):
        output = _DISCRETE.format(start=int(action_space.start))
    else:
        named["MIDDLE"], named["HALF"] = span(action_space)
        output = _BOX.format(dtype=np.dtype(action_space.dtype).name, shape=tuple(action_space.shape))
    arrays = "\n".join(f"{name} = np.array({_text(array)})" for name, array in named.items())
    return _MODULE.format(
        units=parameters[0].shape[1], arrays=arrays, inputs=inputs, clip=MAX_OBSERVATION, output=output
    )


def _text(array: Array) -> str:
    if array.ndim == 1:
        return "[" + ", ".join(f"{value:.{DIGITS}g}" for value in array.tolist()) + "]"
    return "[\n    " + ",\n    ".join(_text(row) for row in array) + "]"


def span(space: Any) -> tuple[Array, Array]:
    """Return the middle and half width of a box as flat arrays; 0 and 1 where it is unbounded."""
    low, high = (np.asarray(getattr(space, name), float).ravel() for name in ("low", "high"))
    bounded = np.isfinite(low) & np.isfinite(high)
    return np.where(bounded, (low + high) / 2, 0.0), np.where(bounded, (high - low) / 2, 1.0)
