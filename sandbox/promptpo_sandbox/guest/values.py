"""Values passed to untrusted modules, and numbers returned by them."""

from __future__ import annotations

from typing import Any

import numpy as np

from promptpo_sandbox.guest.actions import sample
from promptpo_sandbox.guest.errors import ContractError

MAX_REWARD = 1e12


def copy_observation(value: Any) -> Any:
    """Return a copy of an observation, which may be written to."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, dict):
        return {key: copy_observation(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return tuple([copy_observation(item) for item in value])
    return value


def number_of(value: Any, who: str, what: str, error: type[ContractError]) -> float:
    """Return a finite number that a module returned.

    Args:
        value: The value that it returned.
        who: The method that returned it.
        what: What the value stands for.
        error: The exception raised if it is no finite number.
    """
    of_numpy = isinstance(value, (np.generic, np.ndarray))
    plain = value.size == 1 and value.dtype.kind in "biuf" if of_numpy else isinstance(value, (int, float))
    if not plain or not abs(number := float(value)) <= MAX_REWARD:
        raise error(f"{who} returned {sample(value)} as {what}; return a finite number")
    return number


def value_at(values: Any, index: int) -> Any:
    """Return one of several values: an int from integer rows, a copy from arrays, an item from lists."""
    value = values[index]
    if isinstance(value, np.integer):
        return int(value)
    return value.copy() if isinstance(value, np.ndarray) else value
