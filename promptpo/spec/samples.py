"""Observed steps as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from promptpo.spec.render import number

if TYPE_CHECKING:
    from promptpo.spec.observe import Observed, Step

SAMPLED_NUMBERS = 40
"""Observations with more numbers than this are not written out as samples."""


def sample_rows(observed: Observed, count: int) -> tuple[str, ...]:
    """A few steps as text; none where observations are long or no plain numbers."""
    few = (step for step in observed.steps[:count] if len(_flat(step.observation)) <= SAMPLED_NUMBERS)
    return tuple(sample_row(step) for step in few)


def sample_row(step: Step, *, following: bool = False) -> str:
    """One observed step as text, with three or four digits for each number.

    Args:
        step: What was observed.
        following: Whether to show the next observation too.
    """
    row = f"{_short(step.observation)}, {_short(step.action)} -> {number(step.reward)}"
    return f"{row}, {_short(step.next_observation)}" if following else row


def _flat(value: Any) -> Any:
    if isinstance(value, dict | tuple):
        parts = value.values() if isinstance(value, dict) else value
        return [number for part in parts for number in _flat(part)]
    return list(np.ravel(value))


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}": {_short(item)}' for key, item in value.items()) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(_short(item) for item in value) + ")"
    if isinstance(value, str):
        return repr(value)
    if np.ndim(value) == 0:
        return number(float(value))
    return "[" + ", ".join(_short(item) for item in value) + "]"
