"""What a user may ask of ``promptpo refine``."""

from __future__ import annotations

import math

from promptpo.errors import UsageError
from promptpo_baselines.algorithms import CONTINUOUS_ONLY, Algorithm

MANY = 30_000
"""Steps from which on a network that acts alone is mostly better than one that is added; docs/refine.md."""


def check_alone(algorithm: Algorithm, scale: float) -> None:
    """Check that a learner can begin with the program's episodes, for a network that acts alone.

    Raises:
        UsageError: It learns from its own only, or a scale says how much is added.
    """
    if scale != 1.0:
        raise UsageError("--scale is of what a network adds to the program; leave it out with --alone.")
    if algorithm not in CONTINUOUS_ONLY:
        raise UsageError(
            f"--alone begins with episodes of the program, from which {algorithm} learns nothing; it takes sac, tqc or "
            "crossq, and continuous actions."
        )


def checked_scale(scale: float) -> float:
    """A scale above 0.

    Raises:
        UsageError: It is none.
    """
    if not math.isfinite(scale) or not 0 < scale <= 2:  # noqa: PLR2004 - 2 reaches from bound to bound
        raise UsageError(f"--scale must be above 0 and at most 2, not {scale:g}.")
    return scale
