"""Checks of what guests answer: of the promised kinds, shapes and sizes, whatever a guest sends.

Each function raises ValueError, TypeError, LookupError or AttributeError for a malformed answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from promptpo_sandbox.guest.rewards import LONGEST_NAME
from promptpo_sandbox.guest.values import MAX_REWARD
from promptpo_sandbox.text import clean, clean_name

Array = np.ndarray[Any, Any]


def read_text(answer: Any, most: int = 2000) -> str:
    """Return a text, cleaned, of which at most so many characters are taken."""
    if not isinstance(answer, str):
        raise TypeError("no text")
    return clean(answer[:most])


def read_arrays(answer: Any, shapes: Sequence[tuple[int, ...]], *, finite: bool = True) -> tuple[Array, ...]:
    """Return arrays of numbers with these shapes; `finite` ones unless told otherwise."""
    for array, shape in zip(answer, shapes, strict=True):
        if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype.kind not in "biuf":
            raise ValueError("malformed answer")
        if finite and not np.isfinite(array).all():
            raise ValueError("malformed answer")
    return tuple(answer)


def read_facts(answer: Any, initial: tuple[int, ...]) -> dict[str, Any]:
    """Return the facts about a simulator; see `promptpo_sandbox.guest.trials`.

    Args:
        answer: The answer.
        initial: The shape of its initial observations.
    """
    flags = {"random", "mixed", "alone", "dropped", "restarted"} & answer.keys()
    kinds = {"random": bool, "broken": int, "seconds_per_batch": float, "shared": list}
    if any(type(answer[name]) is not kinds.get(name, bool) for name in flags | kinds.keys()):
        raise TypeError("no facts")
    read_arrays((answer["initial"],), [initial], finite=False)
    return {**answer, "shared": [clean_name(name) for name in answer["shared"]]}


def read_rewards(answer: Any, steps: int) -> tuple[list[float], dict[str, float], bool | None]:
    """Return the rewards of so many steps, the sums of their parts by name, and whether the episode succeeded."""
    rewards, parts, success = answer
    good = isinstance(rewards, np.ndarray) and rewards.shape == (steps,) and rewards.dtype == float
    good = good and bool((np.abs(rewards) <= MAX_REWARD).all()) and isinstance(parts, dict)
    good = good and all(
        type(name) is str and len(name) <= LONGEST_NAME and type(part) is float and math.isfinite(part)
        for name, part in parts.items()
    )
    if not good or not (success is None or type(success) is bool):
        raise ValueError("malformed rewards")
    return rewards.tolist(), parts, success
