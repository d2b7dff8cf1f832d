"""Values that untrusted modules are handed, and numbers that they return."""

from __future__ import annotations

from typing import Any

import numpy as np

from promptpo_sandbox.guest.actions import sample
from promptpo_sandbox.guest.errors import ContractError

MAX_REWARD = 1e12


def copy_observation(value: Any) -> Any:
    """An observation that may be written to."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, dict):
        return {key: copy_observation(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return tuple([copy_observation(item) for item in value])
    return value


def number_of(value: Any, who: str, what: str, error: type[ContractError]) -> float:
    """A finite number that a module has returned.

    Args:
        value: What it returned.
        who: The method that has returned it.
        what: It is to be.
        error: What is raised where it is none.
    """
    plain = isinstance(value, (bool, int, float, np.number, np.bool_)) or (
        isinstance(value, np.ndarray) and value.size == 1 and value.dtype.kind in "biuf"
    )
    if not plain or not abs(number := float(value)) <= MAX_REWARD:
        raise error(f"{who} returned {sample(value)} as {what}; return a finite number")
    return number


def value_at(values: Any, index: int) -> Any:
    """One of several values: ints from integer rows, copies from arrays, items from lists."""
    value = values[index]
    if isinstance(value, np.integer):
        return int(value)
    return value.copy() if isinstance(value, np.ndarray) else value
