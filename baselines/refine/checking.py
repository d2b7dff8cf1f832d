"""What a user may ask of ``promptpo refine``."""

from __future__ import annotations

import math
from typing import Literal

from baselines.algorithms import ALGORITHMS, Algorithm
from promptpo.errors import UsageError

AUTO: Literal["auto"] = "auto"


def checked_algorithm(name: str) -> Algorithm | Literal["auto"]:
    """One of `ALGORITHMS`, or `AUTO`.

    Raises:
        UsageError: There is no such algorithm.
    """
    for known in (AUTO, *ALGORITHMS):
        if known == name:
            return known
    raise UsageError(f"--algorithm must be one of {', '.join((AUTO, *ALGORITHMS))}, not {name!r}.")


def checked_scale(scale: float) -> float:
    """A scale above 0.

    Raises:
        UsageError: It is none.
    """
    if not math.isfinite(scale) or not 0 < scale <= 2:  # noqa: PLR2004 - 2 reaches from bound to bound
        raise UsageError(f"--scale must be above 0 and at most 2, not {scale:g}.")
    return scale
