"""Checks of the options of ``promptpo refine``, and its closing sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from promptpo.errors import UsageError
from promptpo_baselines.algorithms import CONTINUOUS_ONLY, Algorithm

STANDALONE_MIN_STEPS = 30_000
"""Steps from which a standalone network is mostly better than a residual one; see docs/refine.md."""


def check_alone(algorithm: Algorithm, scale: float) -> None:
    """Check that an algorithm can train a standalone network, which begins with the program's episodes.

    Raises:
        UsageError: It learns from its own episodes only, or a scale was given.
    """
    if scale != 1.0:
        raise UsageError("--scale applies to --added only; leave it out with --alone.")
    if algorithm not in CONTINUOUS_ONLY:
        raise UsageError(
            f"--alone begins with episodes of the program, from which {algorithm} learns nothing; it takes sac, tqc or "
            "crossq, and continuous actions."
        )


def check_scale(scale: float) -> float:
    """Return a scale, checked to be above 0 and at most 2.

    Raises:
        UsageError: It is not.
    """
    if not 0 < scale <= 2:  # noqa: PLR2004 - 2 reaches from bound to bound
        raise UsageError(f"--scale must be above 0 and at most 2, not {scale:g}.")
    return scale


def describe_gain(content: Mapping[str, Any]) -> str:
    """Say in a sentence what the network gained over the program."""
    alone, best = content["program"]["validation"], content["validation"]
    if alone["outcome"] != "ok":
        text = "the program alone fails on validation episodes"
    else:
        text = f"the program alone returns {alone['mean_return']:.6g} on validation episodes"
    if not content["residual"]["kept"]:
        return f"{text}; no network was better, so the file is the program's"
    if content["residual"].get("alone"):
        return f"{text}, the standalone network {best['mean_return']:.6g}"
    return f"{text}, with the network {best['mean_return']:.6g}"
